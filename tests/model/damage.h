// Damage to one or two files of a database, as a faulty disk or a bad copy causes it.
#ifndef BIGTABLE_TESTS_CLIENT_DAMAGE_H_
#define BIGTABLE_TESTS_CLIENT_DAMAGE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bigtable/testing/in_memory_file_system.h"

#include "base/strings.h"
#include "support/random.h"
#include "support/tally.h"

namespace bigtable {

// The damage that was done, and its files.
struct Damage {
  std::string text;
  std::vector<std::string> paths;  // empty: nothing was damaged
  size_t flipped = 0;              // the number of flipped bytes; 0: another kind of damage

  bool Touches(std::string_view part) const {
    return std::any_of(paths.begin(), paths.end(),
                       [part](const std::string& path) { return path.find(part) != path.npos; });
  }
};

inline std::string FolderOf(const std::string& path) { return path.substr(0, path.rfind('/')); }

// A random file. Each folder is equally likely, however many files it has, except that SSTables are
// more likely.
inline std::string PickFile(Random& random, const InMemoryFileSystem& disk) {
  std::map<std::string, std::vector<std::string>> folders;
  for (const std::string& path : disk.AllFiles()) folders[FolderOf(path)].push_back(path);
  auto folder = folders.begin();
  std::advance(folder, static_cast<ptrdiff_t>(random.Below(folders.size())));
  if (random.OneIn(3) && folders.contains("/db/sst")) folder = folders.find("/db/sst");
  return random.Pick(folder->second);
}
inline Damage HurtSomeFile(Random& random, InMemoryFileSystem* disk) {
  const std::string path = PickFile(random, *disk);
  std::string bytes = disk->Contents(path);
  // Mostly within the used part: the rest of a log is zeros.
  const size_t used = bytes.find_last_not_of('\0') + 1;
  const size_t size = random.OneIn(8) || used == 0 ? bytes.size() : used;
  switch (random.Below(8)) {
    case 0: {
      if (bytes.empty()) return {};
      const size_t left = random.Below(size);
      disk->SetContents(path, std::string_view(bytes).substr(0, left));
      return {Cat(path, " is cut to ", left, " of ", bytes.size()), {path}};
    }
    case 1:
      if (!disk->RemoveFile(path).ok()) return {};
      return {Cat(path, " is removed"), {path}};
    case 2: {
      std::vector<std::string> others;
      for (const std::string& other : disk->AllFiles()) {
        if (other != path && FolderOf(other) == FolderOf(path)) others.push_back(other);
      }
      if (others.empty()) return {};
      const std::string other = random.Pick(others);
      const std::string others_bytes = disk->Contents(other);
      disk->SetContents(other, bytes);
      disk->SetContents(path, others_bytes);
      return {Cat(path, " and ", other, " are swapped"), {path, other}};
    }
    default:
      if (bytes.empty()) return {};
      Damage damage = {path, {path}};
      for (int64_t i = random.OneIn(4) ? 2 : 1; i > 0; --i) {
        const size_t at = random.Below(size);
        const auto flip =
            static_cast<char>(random.OneIn(2) ? 1 << random.Below(8) : random.Between(1, 255));
        bytes[at] = static_cast<char>(bytes[at] ^ flip);
        damage.text += Cat(", byte ", at, " of ", bytes.size());
        ++damage.flipped;
      }
      disk->SetContents(path, bytes);
      Tally("flipped bytes", damage.flipped);
      return damage;
  }
}

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_CLIENT_DAMAGE_H_
