#include "testing/in_memory_names.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace bigtable {
namespace {

// The binding of each name that is to become durable, as an index, which only increases. Names that
// are not in it keep their durable binding.
class Picks {
 public:
  size_t at(const InMemoryName* name) const {
    const auto found = picks_.find(name);
    return found == picks_.end() ? 0 : found->second;
  }

  // Picks binding `index` of `name` or a later one, and every other binding that the rules in the
  // header then require.
  void Raise(const InMemoryName* name, size_t index) {
    size_t& pick = picks_[name];  // its address is stable; recursive calls may increase it
    while (pick < index) {
      ++pick;
      const InMemoryName::Binding& binding = name->bindings[pick];
      if (const auto directory = binding.renamed_directory.lock()) {
        RaiseToId(*directory, binding.renamed_to, binding.renamed_id);
      }
      const auto& replaced = name->bindings[pick - 1].node.directory;
      if (replaced != nullptr) RaiseAll(*replaced);
    }
  }

  void RaiseAll(const InMemoryDirectory& directory) {
    for (const auto& [_, name] : directory.names) Raise(&name, name.bindings.size() - 1);
  }

  const std::map<const InMemoryName*, size_t>& all() const { return picks_; }

 private:
  void RaiseToId(const InMemoryDirectory& directory, const std::string& key, uint64_t id) {
    const auto found = directory.names.find(key);
    if (found == directory.names.end()) return;  // removed since, durably
    const auto& bindings = found->second.bindings;
    for (size_t i = 0; i < bindings.size(); ++i) {
      if (bindings[i].id >= id) return Raise(&found->second, i);
    }
  }

  std::map<const InMemoryName*, size_t> picks_;
};

// Removes all bindings before the picked ones.
void MakeDurable(const Picks& picks) {
  std::vector<InMemoryName::Binding> forgotten;  // may own directories whose names are picked too
  for (const auto& [name, pick] : picks.all()) {
    auto& bindings = const_cast<InMemoryName*>(name)->bindings;
    const auto end = bindings.begin() + static_cast<ptrdiff_t>(pick);
    forgotten.insert(forgotten.end(), std::make_move_iterator(bindings.begin()),
                     std::make_move_iterator(end));
    bindings.erase(bindings.begin(), end);
  }
}

void PickAtRandom(const InMemoryDirectory& directory, CrashRandom* random, Picks* picks) {
  for (const auto& [_, name] : directory.names) {
    picks->Raise(&name, random->Below(name.bindings.size()));
    for (const auto& binding : name.bindings) {
      if (binding.node.directory) PickAtRandom(*binding.node.directory, random, picks);
    }
  }
}

void PickLast(const InMemoryDirectory& directory, Picks* picks) {
  picks->RaiseAll(directory);
  for (const auto& [_, name] : directory.names) {
    if (name.now().directory) PickLast(*name.now().directory, picks);
  }
}

// Builds the tree that the picks describe.
class Survivors {
 public:
  Survivors(const Picks& picks, CrashRandom* random, Unsynced survives)
      : picks_(picks), random_(random), survives_(survives) {}

  void Copy(const InMemoryDirectory& from, InMemoryDirectory* to) {
    for (const auto& [key, name] : from.names) {
      const InMemoryNode& node = name.bindings[picks_.at(&name)].node;
      InMemoryNode copy;
      if (node.file) copy.file = CopyFile(node.file.get());
      if (node.directory) {
        copy.directory = std::make_shared<InMemoryDirectory>();
        Copy(*node.directory, copy.directory.get());
      }
      if (copy.exists()) to->names[key].bindings.push_back({.node = std::move(copy)});
    }
  }

 private:
  // A file that an incomplete rename left under two names has the same bytes under both.
  std::shared_ptr<InMemoryFile> CopyFile(const InMemoryFile* file) {
    auto left = left_.find(file);
    if (left == left_.end()) {
      left = left_.emplace(file, file->AfterCrash(random_, survives_)).first;
    }
    auto copy = std::make_shared<InMemoryFile>();
    copy->bytes = std::make_shared<AppendedBytes>(left->second);
    return copy;
  }

  const Picks& picks_;
  CrashRandom* const random_;
  const Unsynced survives_;
  std::map<const InMemoryFile*, std::string> left_;
};

}  // namespace

void InMemoryFile::Replace(std::shared_ptr<InMemoryBytes> new_bytes) {
  if (!emptied.has_value()) {
    CrashRandom unused(0);
    emptied = bytes->AfterCrash(&unused, Unsynced::kNothing);
  }
  bytes = std::move(new_bytes);
}

void InMemoryFile::Sync(const std::shared_ptr<InMemoryBytes>& synced) {
  synced->Sync();
  if (synced == bytes) emptied.reset();
}

std::string InMemoryFile::AfterCrash(CrashRandom* random, Unsynced survives) const {
  const bool undone =
      emptied.has_value() &&
      (survives == Unsynced::kNothing || (survives == Unsynced::kRandomPart && random->OneIn(2)));
  return undone ? *emptied : bytes->AfterCrash(random, survives);
}

InMemoryNode InMemoryDirectory::Find(std::string_view name) const {
  const auto found = names.find(name);
  return found == names.end() ? InMemoryNode() : found->second.now();
}

bool InMemoryDirectory::IsEmpty() const {
  return std::none_of(names.begin(), names.end(),
                      [](const auto& entry) { return entry.second.now().exists(); });
}

InMemoryName::Binding* InMemoryNames::AddBinding(InMemoryDirectory* directory,
                                                 std::string_view name, InMemoryNode node) {
  auto& bindings = directory->names[std::string(name)].bindings;
  if (bindings.empty()) bindings.emplace_back();  // the name is durably absent
  bindings.push_back({.id = ++last_id_, .node = std::move(node)});
  return &bindings.back();
}

void InMemoryNames::Bind(InMemoryDirectory* directory, std::string_view name, InMemoryNode node) {
  AddBinding(directory, name, std::move(node));
}

void InMemoryNames::Rename(InMemoryDirectory* from_directory, std::string_view from,
                           const std::shared_ptr<InMemoryDirectory>& to_directory,
                           std::string_view to) {
  const uint64_t id = AddBinding(to_directory.get(), to, from_directory->Find(from))->id;
  InMemoryName::Binding* const removed = AddBinding(from_directory, from, {});
  removed->renamed_directory = to_directory;
  removed->renamed_to = to;
  removed->renamed_id = id;
}

void InMemoryNames::Sync(InMemoryDirectory* directory) {
  Picks picks;
  picks.RaiseAll(*directory);
  MakeDurable(picks);
  // Names that are durably absent are removed here; names in other directories when those are
  // synced.
  std::erase_if(directory->names, [](const auto& entry) {
    return entry.second.bindings.size() == 1 && !entry.second.now().exists();
  });
}

void InMemoryNames::SyncName(InMemoryDirectory* directory, std::string_view name) {
  const auto found = directory->names.find(name);
  if (found == directory->names.end()) return;
  Picks picks;
  picks.Raise(&found->second, found->second.bindings.size() - 1);
  MakeDurable(picks);
}

InMemoryNames InMemoryNames::AfterCrash(CrashRandom* random, Unsynced survives) const {
  Picks picks;
  if (survives == Unsynced::kRandomPart) PickAtRandom(*root_, random, &picks);
  if (survives == Unsynced::kEverything) PickLast(*root_, &picks);
  InMemoryNames tree;
  Survivors(picks, random, survives).Copy(*root_, tree.root_.get());
  return tree;
}

}  // namespace bigtable
