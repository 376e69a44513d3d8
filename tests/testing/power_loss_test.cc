// What the in-memory file system keeps, may lose and must not invent in a power loss. Outcomes are
// drawn with many seeds: each outcome must be allowed, and each kind of outcome must occur.
#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "bigtable/testing/in_memory_file_system.h"

#include "support/expect_status.h"
#include "support/seeds.h"
#include "support/tally.h"
#include "testing/in_memory_bytes.h"

namespace bigtable {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr uint64_t kSeeds = 300;

class PowerLossTest : public ::testing::Test {
 protected:
  std::unique_ptr<WritableFile> Create(std::string_view path, std::string_view contents) {
    auto file = *fs_.NewWritableFile(path);
    EXPECT_TRUE(file->Append(contents).ok());
    return file;
  }
  // A file whose bytes and name are durable.
  void CreateDurable(std::string_view path, std::string_view contents) {
    EXPECT_TRUE(Create(path, contents)->Sync().ok());
    EXPECT_TRUE(fs_.SyncDirectory(path.substr(0, path.rfind('/') + 1)).ok());
  }
  // The files after a power loss as "path=contents ...".
  static std::string Describe(const InMemoryFileSystem& fs) {
    std::string all;
    for (const std::string& path : fs.AllFiles()) {
      all += (all.empty() ? "" : " ") + path + "=" + fs.Contents(path);
    }
    return all;
  }
  std::set<std::string> Outcomes() const {
    std::set<std::string> outcomes;
    for (uint64_t seed = 0; seed < kSeeds; ++seed) outcomes.insert(Describe(*fs_.CrashClone(seed)));
    return outcomes;
  }
  std::string Least() const { return Describe(*fs_.CrashClone(0, Unsynced::kNothing)); }
  std::string Most() const { return Describe(*fs_.CrashClone(0, Unsynced::kEverything)); }

  InMemoryFileSystem fs_;
};

TEST_F(PowerLossTest, SyncedDataIsNeverLost) {
  CreateDurable("/f", "content");
  EXPECT_THAT(Outcomes(), ElementsAre("/f=content"));
  EXPECT_EQ(Least(), "/f=content");
}

TEST_F(PowerLossTest, SyncFileSyncsTheWritesOfOtherHandles) {
  Create("/f", "content").reset();
  auto log = *fs_.NewLogFile("/log", 7);
  ASSERT_OK(log->Write(0, "records"));
  ASSERT_OK(fs_.SyncDirectory("/"));
  EXPECT_NE(Least(), "/f=content /log=records");
  ASSERT_OK(fs_.SyncFile("/f"));
  ASSERT_OK(fs_.SyncFile("/log"));
  EXPECT_EQ(Least(), "/f=content /log=records");
}

TEST_F(PowerLossTest, ASyncedFileWhoseDirectoryWasNotSyncedMayVanish) {
  ASSERT_OK(Create("/f", "content")->Sync());
  EXPECT_THAT(Outcomes(), UnorderedElementsAre("", "/f=content"));
  EXPECT_EQ(Least(), "");
  EXPECT_EQ(Most(), "/f=content");
}

TEST_F(PowerLossTest, ADurableNameDoesNotMakeTheBytesDurable) {
  auto file = Create("/f", "content");
  ASSERT_OK(fs_.SyncDirectory("/"));
  EXPECT_EQ(Least(), "/f=");
  EXPECT_EQ(Most(), "/f=content");
}

TEST_F(PowerLossTest, APrefixOfUnsyncedBytesRemainsAndItsSectorsMayBeTorn) {
  const std::string synced(700, 's');
  const std::string unsynced(2000, 'u');
  auto file = Create("/f", synced);
  ASSERT_OK(file->Sync());
  ASSERT_OK(fs_.SyncDirectory("/"));
  ASSERT_OK(file->Append(unsynced));
  EXPECT_EQ(Least(), "/f=" + synced);
  EXPECT_EQ(Most(), "/f=" + synced + unsynced);
  int none = 0, all = 0, part = 0, zeros = 0, garbage = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const std::string left = fs_.CrashClone(seed)->Contents("/f");
    ASSERT_GE(left.size(), synced.size());
    ASSERT_LE(left.size(), synced.size() + unsynced.size());
    ASSERT_EQ(left.substr(0, synced.size()), synced);
    const std::string tail = left.substr(synced.size());
    const bool clean = tail.find_first_not_of('u') == tail.npos;
    none += tail.empty();
    all += tail == unsynced;
    part += clean && !tail.empty() && tail.size() < unsynced.size();
    zeros += tail.find(std::string(100, '\0')) != tail.npos;
    garbage += tail.find_first_not_of(std::string("u\0", 2)) != tail.npos;
  }
  EXPECT_GT(none, 10);
  EXPECT_GT(all, 10);
  EXPECT_GT(part, 10);
  EXPECT_GT(zeros, 10);
  EXPECT_GT(garbage, 10);
}

TEST_F(PowerLossTest, ATruncationMayBeUndoneUntilTheFileIsSynced) {
  CreateDurable("/f", "old");
  auto file = *fs_.NewWritableFile("/f");
  EXPECT_THAT(Outcomes(), UnorderedElementsAre("/f=old", "/f="));
  EXPECT_EQ(Least(), "/f=old");
  EXPECT_EQ(Most(), "/f=");
  ASSERT_OK(file->Append("new"));
  ASSERT_OK(file->Sync());  // no new name: no sync of the directory is needed
  EXPECT_THAT(Outcomes(), ElementsAre("/f=new"));
}

TEST_F(PowerLossTest, EachUnsyncedSectorOfALogFileIsOldOrNew) {
  constexpr size_t kSize = 20 * kSectorBytes;
  auto log = *fs_.NewLogFile("/log", kSize);
  ASSERT_OK(fs_.SyncDirectory("/"));
  std::fill_n(log->mapping(), kSize, 'a');
  ASSERT_OK(log->Sync());
  const std::string before(kSize, 'a');
  std::string after = before;
  std::fill_n(log->mapping() + 1000, 5000, 'b');
  after.replace(1000, 5000, std::string(5000, 'b'));
  ASSERT_OK(log->Write(8000, "c"));
  after[8000] = 'c';

  EXPECT_TRUE(fs_.CrashClone(0, Unsynced::kNothing)->Contents("/log") == before);
  EXPECT_TRUE(fs_.CrashClone(0, Unsynced::kEverything)->Contents("/log") == after);
  int old_then_new = 0, new_then_old = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const std::string left = fs_.CrashClone(seed)->Contents("/log");
    ASSERT_EQ(left.size(), kSize);
    for (size_t at = 0; at < kSize; at += kSectorBytes) {
      const std::string sector = left.substr(at, kSectorBytes);
      ASSERT_TRUE(sector == before.substr(at, kSectorBytes) ||
                  sector == after.substr(at, kSectorBytes))
          << "sector at " << at << ", seed " << seed;
    }
    old_then_new += left[2000] == 'a' && left[5000] == 'b';
    new_then_old += left[2000] == 'b' && left[5000] == 'a';
  }
  EXPECT_GT(old_then_new, 10);
  EXPECT_GT(new_then_old, 10);

  ASSERT_OK(log->Sync());
  EXPECT_TRUE(fs_.CrashClone(0, Unsynced::kNothing)->Contents("/log") == after);
}

TEST_F(PowerLossTest, ALogFileThatWasNeverSyncedMayBeEmptyOrZero) {
  auto log = *fs_.NewLogFile("/log", 600);
  ASSERT_OK(fs_.SyncDirectory("/"));
  std::fill_n(log->mapping(), 600, 'x');
  EXPECT_EQ(Least(), "/log=");
  const std::string old_sector(512, '\0'), old_rest(88, '\0');
  const std::string sector(512, 'x'), rest(88, 'x');
  EXPECT_THAT(Outcomes(), UnorderedElementsAre(
                              "/log=", "/log=" + old_sector + old_rest, "/log=" + old_sector + rest,
                              "/log=" + sector + old_rest, "/log=" + sector + rest));
}

TEST_F(PowerLossTest, StoresBeforeASyncAreDurableDespiteOtherStores) {
  auto log = *fs_.NewLogFile("/log", 8192);
  ASSERT_OK(fs_.SyncDirectory("/"));
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (int i = 0; !done.load(); ++i) log->mapping()[4096 + i % 4096] = static_cast<char>(i);
  });
  for (int i = 0; i < 200; ++i) {
    log->mapping()[i] = 'x';  // no other thread writes this byte
    ASSERT_OK(log->Sync());
    const std::string left = fs_.CrashClone(static_cast<uint64_t>(i))->Contents("/log");
    ASSERT_EQ(left.substr(0, static_cast<size_t>(i) + 1),
              std::string(static_cast<size_t>(i) + 1, 'x'));
  }
  done.store(true);
  writer.join();
}

TEST_F(PowerLossTest, ARenameThatWasNotSyncedIsDoneUndoneOrHalfDone) {
  CreateDurable("/CURRENT", "old");
  CreateDurable("/TMP", "new");
  ASSERT_OK(fs_.RenameFile("/TMP", "/CURRENT"));
  EXPECT_THAT(Outcomes(), UnorderedElementsAre("/CURRENT=old /TMP=new", "/CURRENT=new /TMP=new",
                                               "/CURRENT=new"));
  EXPECT_EQ(Least(), "/CURRENT=old /TMP=new");
  ASSERT_OK(fs_.SyncDirectory("/"));
  EXPECT_THAT(Outcomes(), ElementsAre("/CURRENT=new"));
}

TEST_F(PowerLossTest, TheTargetOfARenameIsNeverMissing) {
  CreateDurable("/CURRENT", "old");
  ASSERT_OK(Create("/TMP", "new")->Sync());
  ASSERT_OK(fs_.RenameFile("/TMP", "/CURRENT"));
  for (const std::string& outcome : Outcomes()) {
    EXPECT_TRUE(outcome.starts_with("/CURRENT=old") || outcome.starts_with("/CURRENT=new"))
        << outcome;
  }
}

TEST_F(PowerLossTest, AFileMovedBetweenDirectoriesIsNeverLost) {
  ASSERT_OK(fs_.CreateDirectory("/from"));
  ASSERT_OK(fs_.CreateDirectory("/to"));
  ASSERT_OK(fs_.SyncDirectory("/"));
  CreateDurable("/from/f", "x");
  ASSERT_OK(fs_.RenameFile("/from/f", "/to/g"));
  EXPECT_THAT(Outcomes(), UnorderedElementsAre("/from/f=x", "/from/f=x /to/g=x", "/to/g=x"));
  ASSERT_OK(fs_.SyncDirectory("/from"));  // also makes the other half of the rename durable
  EXPECT_THAT(Outcomes(), ElementsAre("/to/g=x"));
}

TEST_F(PowerLossTest, AFileMovedOutOfADirectoryThatIsThenRemovedIsNeverLost) {
  ASSERT_OK(fs_.CreateDirectory("/from"));
  ASSERT_OK(fs_.CreateDirectory("/to"));
  ASSERT_OK(fs_.SyncDirectory("/"));
  CreateDurable("/from/f", "x");
  ASSERT_OK(fs_.RenameFile("/from/f", "/to/g"));
  ASSERT_OK(fs_.RemoveDirectory("/from"));
  EXPECT_THAT(Outcomes(), UnorderedElementsAre("/from/f=x", "/from/f=x /to/g=x", "/to/g=x"));
  ASSERT_OK(fs_.SyncDirectory("/"));
  EXPECT_THAT(Outcomes(), ElementsAre("/to/g=x"));
}

TEST_F(PowerLossTest, ChangesOfADirectoryAreReordered) {
  CreateDurable("/a", "1");
  ASSERT_OK(Create("/b", "2")->Sync());
  ASSERT_OK(fs_.RemoveFile("/a"));
  ASSERT_OK(Create("/c", "3")->Sync());
  EXPECT_EQ(Outcomes().size(), 8u);  // each of the three changes is independent
  EXPECT_EQ(Most(), "/b=2 /c=3");
  EXPECT_EQ(Least(), "/a=1");
}

TEST_F(PowerLossTest, TheContentsOfADirectoryThatWasNotSyncedAreLostWithIt) {
  ASSERT_OK(fs_.CreateDirectory("/d"));
  CreateDurable("/d/f", "x");
  EXPECT_THAT(Outcomes(), UnorderedElementsAre("", "/d/f=x"));
  EXPECT_FALSE(fs_.CrashClone(0, Unsynced::kNothing)->FileExists("/d"));
  ASSERT_OK(fs_.SyncDirectory("/"));
  EXPECT_THAT(Outcomes(), ElementsAre("/d/f=x"));
}

TEST_F(PowerLossTest, SyncOfOneDirectoryIsNotSyncOfAnother) {
  ASSERT_OK(fs_.CreateDirectory("/d"));
  ASSERT_OK(fs_.SyncDirectory("/"));
  ASSERT_OK(Create("/d/f", "x")->Sync());
  ASSERT_OK(fs_.SyncDirectory("/"));
  EXPECT_EQ(Least(), "");
}

TEST_F(PowerLossTest, AFileRemovedWhileOpenReappearsWithTheBytesSyncedThroughItsHandle) {
  CreateDurable("/f", "old");
  auto file = *fs_.NewWritableFile("/f");
  ASSERT_OK(file->Append("new"));
  ASSERT_OK(fs_.RemoveFile("/f"));
  ASSERT_OK(file->Sync());
  EXPECT_EQ(Least(), "/f=new");
  EXPECT_EQ(Most(), "");
}

TEST_F(PowerLossTest, TheCloneIsDurableAndIndependent) {
  ASSERT_OK(Create("/f", "x")->Sync());
  auto clone = fs_.CrashClone(0, Unsynced::kEverything);
  ASSERT_OK(fs_.RemoveFile("/f"));
  EXPECT_EQ(Describe(*clone->CrashClone(0, Unsynced::kNothing)), "/f=x");
}

TEST_F(PowerLossTest, HalfARenameLeavesTwoFilesWithTheSameBytes) {
  auto file = Create("/TMP", "synced");
  ASSERT_OK(file->Sync());
  ASSERT_OK(file->Append(std::string(1000, 'u')));
  ASSERT_OK(fs_.SyncDirectory("/"));
  ASSERT_OK(fs_.RenameFile("/TMP", "/CURRENT"));
  int halves = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    auto clone = fs_.CrashClone(seed);
    if (!clone->FileExists("/TMP") || !clone->FileExists("/CURRENT")) continue;
    ++halves;
    const std::string left = clone->Contents("/CURRENT");
    ASSERT_TRUE(clone->Contents("/TMP") == left);
    ASSERT_OK(clone->NewWritableFile("/TMP"));
    ASSERT_TRUE(clone->Contents("/CURRENT") == left);
  }
  EXPECT_GT(halves, 10);
}

TEST_F(PowerLossTest, TheSameSeedHasTheSameOutcome) {
  auto file = Create("/f", std::string(5000, 'x'));
  ASSERT_OK(Create("/g", "y")->Sync());
  for (uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_TRUE(Describe(*fs_.CrashClone(seed)) == Describe(*fs_.CrashClone(seed)));
  }
}

TEST_F(PowerLossTest, SetContentsIsDurable) {
  fs_.SetContents("/d/f", "x");
  auto file = Create("/g", "unsynced");
  fs_.SetContents("/g", "set");
  EXPECT_EQ(Least(), "/d/f=x /g=set");
}

TEST_F(PowerLossTest, LocksDoNotSurviveAPowerLoss) {
  auto lock = fs_.LockFile("/LOCK", FileSystem::LockMode::kExclusive);
  ASSERT_OK(lock);
  ASSERT_OK(fs_.SyncDirectory("/"));
  EXPECT_TRUE(fs_.CrashClone(0)->LockFile("/LOCK", FileSystem::LockMode::kExclusive).ok());
}

// Random changes of names with random syncs. After a power loss, a name must have a state that it
// had since the last sync of its directory, and a durable file that was never removed must exist.
TEST_F(PowerLossTest, RandomHistoriesLeaveOnlyAllowedStates) {
  ForEachSeed(200, [](uint64_t history) {
    InMemoryFileSystem fs;
    CrashRandom random(history);
    fs.SetContents("/a/keep", "");
    fs.SetContents("/b/keep", "");
    fs.SetContents("/a/0", "treasure");  // renamed only, never removed or replaced
    std::string treasure = "/a/0";
    std::map<std::string, std::set<std::string>> allowed;  // by path; "-" for absence
    const auto now = [&](const std::string& path) {
      return fs.FileExists(path) ? fs.Contents(path) : "-";
    };
    const auto note = [&] {
      for (const std::string d : {"/a/", "/b/"}) {
        for (const std::string n : {"0", "1", "2"}) allowed[d + n].insert(now(d + n));
      }
    };
    note();
    for (int step = 0; step < 12; ++step) {
      const std::string directory = random.OneIn(2) ? "/a" : "/b";
      const std::string path = directory + "/" + std::to_string(random.Below(3));
      const std::string other = (random.OneIn(2) ? "/a/" : "/b/") + std::to_string(random.Below(3));
      switch (random.Below(4)) {
        case 0:
          if (fs.FileExists(path)) break;
          ASSERT_OK((*fs.NewWritableFile(path))->Sync());
          break;
        case 1:
          if (path == treasure || !fs.FileExists(path)) break;
          ASSERT_OK(fs.RemoveFile(path));
          break;
        case 2:
          if (!fs.FileExists(path) || other == treasure) break;
          if (path == treasure) treasure = other;
          ASSERT_OK(fs.RenameFile(path, other));
          break;
        default:
          ASSERT_OK(fs.SyncDirectory(directory));
          for (auto& [name, values] : allowed) {
            if (name.starts_with(directory)) values.clear();
          }
      }
      note();
      for (uint64_t seed = 0; seed < 8; ++seed) {
        const auto clone = fs.CrashClone(seed);
        bool found = false;
        for (const auto& [name, values] : allowed) {
          const std::string left = clone->FileExists(name) ? clone->Contents(name) : "-";
          ASSERT_TRUE(values.contains(left)) << name << " is " << left << ", history " << history;
          found = found || left == "treasure";
        }
        ASSERT_TRUE(found) << "history " << history << ", step " << step << ", seed " << seed;
        Tally("power losses");
      }
    }
  });
}

}  // namespace
}  // namespace bigtable
