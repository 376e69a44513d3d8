// Insertions whose places were searched together are where insertions one by one would be. How much
// faster they are is measured in bench/micro.
#include "memtable/group_search.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"

#include "memtable/memtable_cursor.h"
#include "support/random.h"
#include "support/scoped_group_search.h"
#include "support/scoped_lesson.h"
#include "support/seeds.h"
#include "support/tally.h"

namespace bigtable {
namespace {

using Entries = std::map<std::string, std::string>;

// Two memtables, as of two tablets, and what they should have.
class TwoMemtables {
 public:
  TwoMemtables(Random* random, std::string_view expected_prefix) : random_(random) {
    for (Ref<Memtable>& memtable : memtables_) {
      memtable = MakeRef<Memtable>(budget_, std::string(expected_prefix));
    }
  }

  void AddGroup() {
    struct Row {
      size_t memtable;
      std::string key;
    };
    std::vector<Row> rows;
    search_.Clear();
    for (uint64_t n = random_->Between(1, GroupSearch::kMost); n > 0; --n) {
      rows.push_back({random_->Below(2), Key()});
      search_.Add(memtables_[rows.back().memtable].get(), rows.back().key);
    }
    search_.Run();
    for (size_t i = 0; i < rows.size(); ++i) {
      search_.Use(i);
      // Seldom a row that was not announced.
      const auto& [memtable, row] = random_->OneIn(8) ? Row{random_->Below(2), Key()} : rows[i];
      for (uint64_t cells = random_->Between(0, 3); cells > 0; --cells) {
        Add(memtable, row + static_cast<char>(random_->Below(4)));
      }
    }
    if (random_->OneIn(3)) Add(random_->Below(2), Key());
  }

  void ExpectEntries() const {
    for (size_t i = 0; i < memtables_.size(); ++i) {
      MemtableCursor cursor(memtables_[i].get());
      cursor.SeekToFirst();
      for (const auto& [key, value] : expected_[i]) {
        ASSERT_TRUE(cursor.valid());
        ASSERT_EQ(cursor.key(), key);
        ASSERT_EQ(cursor.value(), value);
        cursor.Next();
      }
      ASSERT_FALSE(cursor.valid());
      for (const auto& [key, value] : expected_[i]) {
        cursor.Seek(key);
        ASSERT_TRUE(cursor.valid());
        ASSERT_EQ(cursor.key(), key);
      }
    }
  }

 private:
  // So short that keys are equal, prefixes of others, and within eight bytes of each other.
  std::string Key() {
    static const std::string kBytes("\x00\x01\x80\xff", 4);
    std::string key = random_->OneIn(3) ? "" : "12345678";
    for (uint64_t n = random_->Below(7); n > 0; --n) key.push_back(random_->Pick(kBytes));
    return key;
  }

  // Keys of a memtable are new.
  void Add(size_t memtable, const std::string& key) {
    const std::string value = std::to_string(expected_[memtable].size());
    if (expected_[memtable].emplace(key, value).second) memtables_[memtable]->Add(key, value);
  }

  Random* const random_;
  const std::shared_ptr<MemoryBudget> budget_ = std::make_shared<MemoryBudget>(64 << 20);
  std::array<Ref<Memtable>, 2> memtables_;
  std::array<Entries, 2> expected_;
  GroupSearch search_;
};

TEST(GroupSearchTest, GroupsInAnyOrderAreFoundInOrder) {
  ForEachSeed(200, [](uint64_t seed) {
    Random random(seed);
    // Numbers are learned, and lists replaced, between the insertions of a group, or not at all.
    const ScopedLesson lesson(seed % 3 == 0 ? Memtable::kFirstLesson : 1 + seed % 60);
    const ScopedGroupSearch together(1 + seed % 5 * 20);
    static constexpr std::array<std::string_view, 4> kExpected = {"12345678", "1234", "z", ""};
    TwoMemtables memtables(&random, random.Pick(kExpected));
    for (int i = 0; i < 40; ++i) {
      memtables.AddGroup();
      if (i % 13 == 0) {
        ASSERT_NO_FATAL_FAILURE(memtables.ExpectEntries());
      }
    }
    ASSERT_NO_FATAL_FAILURE(memtables.ExpectEntries());
    Tally("cases");
  });
}

}  // namespace
}  // namespace bigtable
