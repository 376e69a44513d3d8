// The directory tree of the in-memory file system, and its possible states after a power loss.
//
// A name is bound to a file or a directory, or to nothing. Each name remembers every binding since
// the durable one; the program sees the last. SyncDirectory makes the last binding of every name in
// the directory durable. A power loss picks one of the remembered bindings for each name,
// independently of all others. So changes of directories are undone and reordered freely, except
// for two rules, which every file system follows:
//
//   1. A rename is (a) `to` gets the file, (b) `from` loses it. (b) never happens without (a), so
//   the
//      file is not lost. If only (a) survives a power loss, both names exist, each with a copy.
//      They are not one file with two names, which a program that rewrites TMP would find emptied
//      under both, and which no journaling file system leaves behind.
//   2. A directory is removed only if everything that emptied it is durable too.
//
// Example: {CURRENT: old}; create TMP; rename TMP to CURRENT; power loss. CURRENT is old or new;
// TMP is absent or exists; but if TMP is absent because (b) was picked, CURRENT is new.
//
// Everything is called under the disk's lock (in_memory_disk.h).
#ifndef BIGTABLE_TESTING_IN_MEMORY_NAMES_H_
#define BIGTABLE_TESTING_IN_MEMORY_NAMES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "testing/in_memory_bytes.h"

namespace bigtable {

struct InMemoryDirectory;

struct InMemoryFile {
  std::shared_ptr<InMemoryBytes> bytes;
  // Durable content that was emptied but not synced since: a power loss may restore it.
  std::optional<std::string> emptied;

  // Holders of FileSystem::LockFile.
  int shared_locks = 0;
  bool exclusively_locked = false;

  // Replaces the content without a sync, as opening an existing file for writing does.
  void Replace(std::shared_ptr<InMemoryBytes> new_bytes);
  // Makes `synced` durable, if it is still the content of this file.
  void Sync(const std::shared_ptr<InMemoryBytes>& synced);
  std::string AfterCrash(CrashRandom* random, Unsynced survives) const;
};

// What a name is bound to: a file, a directory, or neither.
struct InMemoryNode {
  std::shared_ptr<InMemoryFile> file;
  std::shared_ptr<InMemoryDirectory> directory;

  bool exists() const { return file != nullptr || directory != nullptr; }
};

struct InMemoryName {
  struct Binding {
    uint64_t id = 0;  // increases with every change anywhere
    InMemoryNode node;
    // Step (b) of a rename: step (a) is binding `renamed_id` of this name.
    std::weak_ptr<InMemoryDirectory> renamed_directory = {};
    std::string renamed_to = {};
    uint64_t renamed_id = 0;
  };
  std::vector<Binding> bindings;  // never empty: the durable one first, the current one last

  const InMemoryNode& now() const { return bindings.back().node; }
};

struct InMemoryDirectory {
  std::map<std::string, InMemoryName, std::less<>> names;

  // The binding of `name` that the program sees; neither file nor directory if there is no such
  // name.
  InMemoryNode Find(std::string_view name) const;
  bool IsEmpty() const;
};

class InMemoryNames {
 public:
  InMemoryNames() : root_(std::make_shared<InMemoryDirectory>()) {}

  const std::shared_ptr<InMemoryDirectory>& root() const { return root_; }

  // Binds the name to `node`, or to nothing, as the program sees it.
  void Bind(InMemoryDirectory* directory, std::string_view name, InMemoryNode node);
  void Rename(InMemoryDirectory* from_directory, std::string_view from,
              const std::shared_ptr<InMemoryDirectory>& to_directory, std::string_view to);
  // Makes the bindings of all names in `directory`, or of one name, durable.
  void Sync(InMemoryDirectory* directory);
  void SyncName(InMemoryDirectory* directory, std::string_view name);

  // A tree that a machine could find after a power loss at this moment; all of it is durable.
  InMemoryNames AfterCrash(CrashRandom* random, Unsynced survives) const;

 private:
  InMemoryName::Binding* AddBinding(InMemoryDirectory* directory, std::string_view name,
                                    InMemoryNode node);

  std::shared_ptr<InMemoryDirectory> root_;
  uint64_t last_id_ = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTING_IN_MEMORY_NAMES_H_
