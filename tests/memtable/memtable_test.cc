// The memtable compared with std::map, on one thread and with readers concurrent to the writer.
#include "memtable/memtable.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "gtest/gtest.h"

#include "base/strings.h"
#include "memtable/group_search.h"
#include "memtable/memtable_cursor.h"
#include "support/random.h"
#include "support/scoped_group_search.h"
#include "support/scoped_lesson.h"
#include "support/seeds.h"
#include "support/tally.h"

namespace bigtable {
namespace {

using Use = MemoryBudget::Use;
using Model = std::map<std::string, std::string, std::less<>>;

class MemtableTest : public testing::Test {
 protected:
  std::shared_ptr<MemoryBudget> budget_ = std::make_shared<MemoryBudget>(64 << 20);
  Ref<Memtable> memtable_ = MakeRef<Memtable>(budget_);
};

// Short keys, keys that are prefixes of others, and keys that differ only after the eight bytes
// that the memtable keeps as a number.
std::string RandomKey(Random& random) {
  static const std::string kBytes(
      "\x00\x01\x7f\x80\xff"
      "a",
      6);
  std::string key = random.OneIn(2) ? "12345678" : "";
  for (uint64_t n = random.Below(10); n > 0; --n) key.push_back(random.Pick(kBytes));
  return key;
}

void ExpectAt(const EntryCursor& cursor, const Model& model, Model::const_iterator at) {
  ASSERT_EQ(cursor.valid(), at != model.end());
  if (at == model.end()) return;
  ASSERT_EQ(cursor.key(), at->first);
  ASSERT_EQ(cursor.value(), at->second);
  ASSERT_EQ(cursor.value_owner(), nullptr);
}

void ExpectSame(const Memtable& memtable, const Model& model, Random& random) {
  MemtableCursor cursor(&memtable);
  cursor.SeekToFirst();
  for (auto at = model.begin(); at != model.end(); ++at) {
    ASSERT_NO_FATAL_FAILURE(ExpectAt(cursor, model, at));
    cursor.Next();
  }
  ASSERT_FALSE(cursor.valid());
  ASSERT_EQ(memtable.entries(), model.size());
  ASSERT_EQ(memtable.empty(), model.empty());

  cursor.SeekToLast();
  ASSERT_NO_FATAL_FAILURE(
      ExpectAt(cursor, model, model.empty() ? model.end() : std::prev(model.end())));
  for (int i = 0; i < 300; ++i) {
    std::string target = RandomKey(random);
    if (!model.empty() && random.OneIn(2)) {
      target = std::next(model.begin(), static_cast<ptrdiff_t>(random.Below(model.size())))->first;
    }
    const auto at = model.lower_bound(target);
    cursor.Seek(target);
    ASSERT_NO_FATAL_FAILURE(ExpectAt(cursor, model, at));
    cursor.SeekBefore(target);
    ASSERT_NO_FATAL_FAILURE(
        ExpectAt(cursor, model, at == model.begin() ? model.end() : std::prev(at)));
  }
}

TEST_F(MemtableTest, AnEmptyMemtableHasNoEntries) {
  Random random(1);
  ExpectSame(*memtable_, {}, random);
  EXPECT_EQ(memtable_->first_sequence(), 0u);
}

TEST_F(MemtableTest, RandomInsertsInAnyOrderAreFoundInOrder) {
  ForEachSeed(30, [](uint64_t seed) {
    Random random(seed);
    const ScopedLesson lesson(1 + seed % 20);
    Model model;
    while (model.size() < 500) model[RandomKey(random)] = random.Bytes(random.Below(40));
    std::vector<std::string> keys;
    for (const auto& [key, value] : model) keys.push_back(key);
    switch (seed % 4) {
      case 0:  // ascending
        break;
      case 1:
        std::reverse(keys.begin(), keys.end());
        break;
      case 2:
        for (size_t i = keys.size(); i > 1; --i) std::swap(keys[i - 1], keys[random.Below(i)]);
        break;
      default:  // runs of ascending keys that begin anywhere, like mutations of rows
        for (int i = 0; i < 40; ++i) {
          const auto middle = static_cast<ptrdiff_t>(random.Below(keys.size()));
          std::rotate(
              keys.begin(), keys.begin() + middle,
              keys.begin() + middle +
                  static_cast<ptrdiff_t>(random.Below(keys.size() - static_cast<size_t>(middle))));
        }
    }
    // The common prefix, a shorter one, a longer one, a wrong one, and none.
    static constexpr std::array<std::string_view, 5> kExpected = {"12345678", "123456", "12345678a",
                                                                  "z", ""};
    const auto memtable = MakeRef<Memtable>(std::make_shared<MemoryBudget>(64 << 20),
                                            std::string(random.Pick(kExpected)));
    Model inserted;
    for (size_t i = 0; i < keys.size(); ++i) {
      memtable->Add(keys[i], model[keys[i]]);
      inserted[keys[i]] = model[keys[i]];
      if (i == 0 || i == 1 || i == 77) {
        ASSERT_NO_FATAL_FAILURE(ExpectSame(*memtable, inserted, random));
      }
    }
    ASSERT_NO_FATAL_FAILURE(ExpectSame(*memtable, model, random));
    Tally("cases");
  });
}

// Half of the entries were added before better numbers were learned.
TEST_F(MemtableTest, EntriesOfKeysWithOneBeginningAreFoundBeforeAndAfterTheyAreLearned) {
  for (const uint64_t entries : {4, 16, 64}) {
    const ScopedLesson lesson(entries);
    memtable_ = MakeRef<Memtable>(budget_);
    Random random(entries);
    Model model;
    for (uint64_t i = 0; i < 20 * entries; ++i) {
      const std::string key =
          absl::StrFormat("tenant-%d/%010d", random.Below(3), random.Below(100 * entries));
      if (!model.emplace(key, key).second) continue;
      memtable_->Add(key, key);
      if (i % entries == 0) {
        ASSERT_NO_FATAL_FAILURE(ExpectSame(*memtable_, model, random));
      }
    }
    ASSERT_NO_FATAL_FAILURE(ExpectSame(*memtable_, model, random));
    EXPECT_EQ(budget_->used(Use::kMemtables), memtable_->bytes());
  }
}

// A cursor is at each entry in turn, also at the last, while numbers are learned.
TEST_F(MemtableTest, ACursorSeesEntriesAddedAheadAfterNumbersWereLearned) {
  const ScopedLesson lesson(32);
  constexpr int kBefore = 63;
  const auto key_at = [](int i) { return absl::StrFormat("a/long/beginning/%08d", i); };
  for (int at = 1; at < kBefore; ++at) {
    memtable_ = MakeRef<Memtable>(budget_);
    for (int i = 0; i < kBefore; ++i) memtable_->Add(key_at(10 * i), "");
    MemtableCursor cursor(memtable_.get());
    cursor.Seek(key_at(10 * at));
    memtable_->Add(key_at(1), "");  // far from most positions; numbers are learned
    memtable_->Add(key_at(10 * at + 9), "");
    for (const int next : {10 * at + 9, 10 * at + 10}) {
      cursor.Next();
      ASSERT_EQ(cursor.valid(), next < 10 * kBefore) << at;
      if (cursor.valid()) {
        EXPECT_EQ(cursor.key(), key_at(next));
      }
    }
  }
}

TEST_F(MemtableTest, KeysThatDifferOnlyAfterTheEighthByteOrInZerosAreOrdered) {
  const Model model = {{std::string("a"), "1"},
                       {std::string("a\0", 2), "2"},
                       {std::string("a\0\0\0\0\0\0\0", 8), "3"},
                       {std::string("a\0\0\0\0\0\0\0\0", 9), "4"},
                       {"b2345678", "5"},
                       {"b23456780", "6"},
                       {"b23456781", "7"}};
  for (auto at = model.rbegin(); at != model.rend(); ++at) memtable_->Add(at->first, at->second);
  Random random(1);
  ExpectSame(*memtable_, model, random);
}

TEST_F(MemtableTest, KeysReturnsTheSmallestAndTheLargestKey) {
  EXPECT_FALSE(memtable_->Keys().has_value());
  Random random(5);
  std::string smallest = "5", largest = "5";
  memtable_->Add("5", "");
  for (int i = 0; i < 100; ++i) {
    const std::string key = Cat(random.Below(10), "/", i);
    memtable_->Add(key, "");
    smallest = std::min(smallest, key);
    largest = std::max(largest, key);
    ASSERT_EQ(memtable_->Keys()->smallest, smallest);
    ASSERT_EQ(memtable_->Keys()->largest, largest);
  }
}

TEST_F(MemtableTest, SamplesAreEachEntryOrPartsOfAboutTheSameSize) {
  EXPECT_TRUE(memtable_->SampleKeys(100).empty());
  constexpr int kEntries = 20'000;
  const auto key_at = [](int i) { return absl::StrFormat("key%06d", i); };
  for (int i = 0; i < kEntries; ++i) {
    memtable_->Add(key_at(i * 7919 % kEntries), std::string(100, 'v'));
    if (i != 99) continue;
    const std::vector<Memtable::Sample> each = memtable_->SampleKeys(100);
    ASSERT_EQ(each.size(), 100);
    EXPECT_EQ(each[0].key, key_at(0));
    for (const Memtable::Sample& sample : each) EXPECT_EQ(sample.bytes, 109);
    EXPECT_LT(memtable_->SampleKeys(99).size(), 30);  // nodes with several entries each
  }
  for (const size_t n : {1, 50, 1000}) {
    const std::vector<Memtable::Sample> samples = memtable_->SampleKeys(n);
    EXPECT_GE(samples.size(), n);
    EXPECT_LE(samples.size(), 4 * n + 20);
    EXPECT_EQ(samples[0].key, key_at(0));
    uint64_t bytes = 0, before_middle = 0;
    for (size_t i = 0; i < samples.size(); ++i) {
      EXPECT_TRUE(i == 0 || samples[i - 1].key < samples[i].key);
      bytes += samples[i].bytes;
      if (samples[i].key < key_at(kEntries / 2)) before_middle += samples[i].bytes;
    }
    EXPECT_NEAR(static_cast<double>(bytes), static_cast<double>(memtable_->bytes()), 2000);
    if (n == 1000) {
      EXPECT_NEAR(static_cast<double>(before_middle), static_cast<double>(bytes) / 2,
                  0.1 * static_cast<double>(bytes));
    }
  }
}

TEST_F(MemtableTest, SamplesAscendAfterNumbersWereLearned) {
  const ScopedLesson lesson(16);
  memtable_ = MakeRef<Memtable>(budget_);
  for (int i = 0; i < 100; ++i)
    memtable_->Add(absl::StrFormat("long/beginning/%03d", i * 37 % 101), "");
  const std::vector<Memtable::Sample> samples = memtable_->SampleKeys(8);
  ASSERT_GE(samples.size(), 8);
  EXPECT_EQ(samples[0].key, memtable_->Keys()->smallest);
  for (size_t i = 1; i < samples.size(); ++i) EXPECT_LT(samples[i - 1].key, samples[i].key);
}

// The expected prefix is shortened to what it shares with the first key. Keys before and after
// those with the prefix are still ordered.
TEST_F(MemtableTest, KeysNeedNotHaveTheExpectedPrefix) {
  Random random(3);
  for (const std::string first : {"row/07", "row/", "ro", "x", ""}) {
    memtable_ = MakeRef<Memtable>(budget_, "row/0");
    Model model;
    const auto add = [&](const std::string& key) {
      if (model.emplace(key, key).second) memtable_->Add(key, key);
    };
    add(first);
    for (int i = 0; i < 200; ++i) {
      static constexpr std::array<std::string_view, 6> kBeginnings = {"row/0", "row/1", "row.",
                                                                      "row",   "r",     "\xff"};
      add(std::string(random.Pick(kBeginnings)) + random.Bytes(random.Below(3)));
    }
    ASSERT_NO_FATAL_FAILURE(ExpectSame(*memtable_, model, random));
  }
}

// Entries that come in order leave full nodes, and take little more memory than their own; in any
// other order nodes are at least half full.
TEST_F(MemtableTest, NodesAreWellFilled) {
  constexpr uint64_t kEntries = 50'021;  // a prime
  const auto bytes_of = [&](const std::function<std::string(uint64_t)>& key_of) {
    const auto memtable = MakeRef<Memtable>(budget_);
    for (uint64_t i = 0; i < kEntries; ++i) memtable->Add(key_of(i), "");
    return memtable->bytes() / kEntries;
  };
  EXPECT_LE(bytes_of([](uint64_t i) { return absl::StrFormat("%08d", i); }), 48u);
  EXPECT_LE(bytes_of([](uint64_t i) { return absl::StrFormat("%08d", kEntries - i); }), 72u);
  EXPECT_LE(bytes_of([](uint64_t i) { return absl::StrFormat("%08d", i * 10'007 % kEntries); }),
            60u);
  // Entries in order, and then versions of one cell, each of which sorts before the one added
  // before.
  for (uint64_t cell = 45; cell < 75; ++cell) {
    const auto key_of = [cell](uint64_t i) {
      return i < kEntries / 2 ? absl::StrFormat("%08d", 2 * i)
                              : absl::StrFormat("%08d%08d", cell, kEntries - i);
    };
    EXPECT_LE(bytes_of(key_of), 72u) << cell;
  }
}

TEST_F(MemtableTest, ACursorAtAnyPositionSeesEntriesAddedAhead) {
  Random random(11);
  Model model;
  MemtableCursor cursor(memtable_.get());
  const auto add = [&](uint64_t n) {
    const std::string key = absl::StrFormat("%06d", n);
    if (model.emplace(key, key).second) memtable_->Add(key, key);
  };
  for (int i = 0; i < 20; ++i) add(random.Below(1'000'000));
  cursor.SeekToFirst();
  for (auto at = model.begin(); at != model.end(); ++at) {
    ASSERT_NO_FATAL_FAILURE(ExpectAt(cursor, model, at));
    // Entries are added before and after the cursor, so that its node is split.
    if (model.size() < 3000) {
      for (int i = 0; i < 4; ++i) add(random.Below(1'000'000));
    }
    cursor.Next();
  }
  EXPECT_FALSE(cursor.valid());
}

TEST_F(MemtableTest, ACursorSeesAnEntryAddedAhead) {
  memtable_->Add("a", "1");
  memtable_->Add("c", "3");
  MemtableCursor cursor(memtable_.get());
  cursor.SeekToFirst();
  memtable_->Add("b", "2");
  cursor.Next();
  ASSERT_TRUE(cursor.valid());
  EXPECT_EQ(cursor.key(), "b");
}

TEST_F(MemtableTest, ValuesAreCopied) {
  std::string value = "value", key = "key";
  memtable_->Add(key, value);
  value.assign(5, 'x');
  key.assign(3, 'x');
  MemtableCursor cursor(memtable_.get());
  cursor.SeekToFirst();
  EXPECT_EQ(cursor.key(), "key");
  EXPECT_EQ(cursor.value(), "value");
}

TEST_F(MemtableTest, ItsSequenceNumbersAreTheSmallestAndTheLargestInAnyOrder) {
  EXPECT_EQ(memtable_->last_together(), 0u);
  for (const SequenceNumber sequence : {7u, 11u, 5u, 8u}) memtable_->RecordSequence(sequence);
  EXPECT_EQ(memtable_->last_together(), 11u);
  memtable_->RecordBatchEnd(13);
  memtable_->RecordBatchEnd(12);
  EXPECT_EQ(memtable_->last_together(), 13u);
  EXPECT_EQ(memtable_->last_sequence(), 11u);
  EXPECT_EQ(memtable_->first_sequence(), 5u);
  EXPECT_EQ(memtable_->last_sequence(), 11u);
}

TEST_F(MemtableTest, TheBudgetIsChargedForAllMemoryAndItIsReleased) {
  for (int i = 0; i < 1000; ++i) memtable_->Add(absl::StrFormat("%05d", i), std::string(1000, 'v'));
  memtable_->Add("large", std::string(1 << 20, 'v'));
  EXPECT_GE(memtable_->bytes(), (1u << 20) + 1000u * 1000);
  EXPECT_EQ(budget_->used(Use::kMemtables), memtable_->bytes());
  const auto other = MakeRef<Memtable>(budget_);
  other->Add("k", "v");
  EXPECT_EQ(budget_->used(Use::kMemtables), memtable_->bytes() + other->bytes());
  memtable_ = Ref<Memtable>();
  EXPECT_EQ(budget_->used(Use::kMemtables), other->bytes());
}

class Owner final : public RefCounted {
 public:
  Owner(std::string text, std::atomic<int>* destroyed)
      : text_(std::move(text)), destroyed_(destroyed) {}
  std::string_view text() const { return text_; }

 private:
  ~Owner() override { destroyed_->fetch_add(1); }
  const std::string text_;
  std::atomic<int>* const destroyed_;
};

TEST_F(MemtableTest, PinnedValuesKeepTheirOwnersAndAreNotCopied) {
  std::atomic<int> destroyed{0};
  const std::string large(100000, 'p');
  for (int i = 0; i < 3; ++i) {
    const Ref<Owner> owner = MakeRef<Owner>(large, &destroyed);
    memtable_->AddPinned(absl::StrFormat("%d/a", i), owner->text().substr(0, 60000), owner.get());
    memtable_->AddPinned(absl::StrFormat("%d/b", i), owner->text().substr(60000), owner.get());
  }
  EXPECT_EQ(destroyed, 0);
  MemtableCursor cursor(memtable_.get());
  for (cursor.SeekToFirst(); cursor.valid(); cursor.Next()) {
    EXPECT_EQ(cursor.value(), std::string(cursor.key().ends_with("a") ? 60000 : 40000, 'p'));
  }
  // They count for its size, since they pin the log; the log charges the budget for them.
  EXPECT_GE(memtable_->bytes(), 300000u);
  EXPECT_LT(budget_->used(Use::kMemtables), 10000u);
  memtable_ = Ref<Memtable>();
  EXPECT_EQ(destroyed, 3);
  EXPECT_EQ(budget_->used(Use::kMemtables), 0u);
}

// --- Readers concurrent to the writer ---

std::string NumberKey(uint64_t n) { return absl::StrFormat("key%016x", n); }

// The writer adds numbers in random order and counts them in `added`. A reader must find all
// numbers that were added before it began to read, in order and complete.
void ReadWhileWriting(const std::string& expected_prefix, size_t group = 1) {
  const uint64_t kEntries = kSlow ? 4000 : 20000;
  const auto budget = std::make_shared<MemoryBudget>(64 << 20);
  const auto memtable = MakeRef<Memtable>(budget, expected_prefix);
  std::vector<uint64_t> order;
  Random random(7);
  for (uint64_t i = 0; i < kEntries; ++i) order.push_back(i);
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.Below(i)]);
  // Also ascending runs, which are linked without a search.
  for (size_t i = 0; i + 64 <= order.size(); i += 128) {
    std::sort(order.begin() + static_cast<ptrdiff_t>(i),
              order.begin() + static_cast<ptrdiff_t>(i + 64));
  }

  std::atomic<uint64_t> added{0};
  std::atomic<int> wrong{0};
  const auto check = [&wrong](bool right) {
    if (!right) wrong.fetch_add(1);
  };
  const auto read = [&](uint64_t seed) {
    Random own(seed);
    while (added < kEntries) {
      const uint64_t there = added.load(std::memory_order_acquire);
      MemtableCursor cursor(memtable.get());
      for (int i = 0; i < 50 && there > 0; ++i) {
        const std::string key = NumberKey(order[own.Below(there)]);
        cursor.Seek(key);
        check(cursor.valid() && cursor.key() == key && cursor.value() == key);
        cursor.SeekBefore(key);
        check(!cursor.valid() || cursor.key() < key);
        if (!cursor.valid()) continue;
        // From the entry before it, the key is ahead, possibly after entries that were added in
        // between.
        while (cursor.valid() && cursor.key() < key) cursor.Next();
        check(cursor.valid() && cursor.key() == key);
      }
      cursor.SeekToLast();
      check(cursor.valid() || there == 0);
      uint64_t count = 0;
      std::string last;
      for (cursor.SeekToFirst(); cursor.valid(); cursor.Next(), ++count) {
        check(cursor.key() > last && cursor.value() == cursor.key());
        last.assign(cursor.key());
      }
      check(count >= there && memtable->entries() >= there);
    }
  };
  std::vector<std::thread> readers;
  for (uint64_t i = 1; i <= 3; ++i) readers.emplace_back(read, i);
  GroupSearch search;
  for (size_t i = 0; i < order.size(); ++i) {
    if (group > 1 && i % group == 0) {
      search.Clear();
      for (size_t k = i; k < std::min(i + group, order.size()); ++k) {
        search.Add(memtable.get(), NumberKey(order[k]));
      }
      search.Run();
    }
    if (group > 1) search.Use(i % group);
    const std::string key = NumberKey(order[i]);
    memtable->Add(key, key);
    added.fetch_add(1, std::memory_order_release);
  }
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(memtable->entries(), kEntries);
}

TEST(ConcurrentMemtableTest, ReadersFindAllEntriesAddedBeforeTheyBegan) {
  ReadWhileWriting(NumberKey(0).substr(0, 13));
}

// All keys have the same first eight bytes.
TEST(ConcurrentMemtableTest, ReadersFindAllEntriesAddedBeforeTheyBeganWhileNumbersAreLearned) {
  ReadWhileWriting("");
}

TEST(ConcurrentMemtableTest, ReadersFindAllEntriesOfGroupsThatWereSearchedTogether) {
  const ScopedGroupSearch together(1);
  ReadWhileWriting(NumberKey(0).substr(0, 13), GroupSearch::kMost);
  ReadWhileWriting("", GroupSearch::kMost);
}

// Memtables of a few nodes, one after another, so that readers are in a node while it is split.
// With the lessons of 8 and 64 entries, some learn numbers at the sixteenth.
TEST(ConcurrentMemtableTest, ReadersFindAllEntriesInANodeThatIsSplit) {
  const ScopedLesson lesson(8);
  constexpr uint64_t kEntries = 48;
  const uint64_t kMemtables = kSlow ? 300 : 6000;
  const auto budget = std::make_shared<MemoryBudget>(64 << 20);
  std::vector<Ref<Memtable>> memtables;
  // Comparisons are decided by the numbers; by the keys; and half of the keys are after those with
  // the expected prefix.
  const std::array<std::string, 3> expected = {NumberKey(0).substr(0, 13), "", NumberKey(0x10)};
  for (uint64_t i = 0; i < kMemtables; ++i) {
    memtables.push_back(MakeRef<Memtable>(budget, expected[i % 3]));
  }
  std::vector<std::string> order;
  for (uint64_t i = 0; i < kEntries; ++i) order.push_back(NumberKey(i * 29 % kEntries));

  std::atomic<uint64_t> added{0};  // to all memtables
  std::atomic<int> wrong{0};
  const auto check = [&wrong](bool right) {
    if (!right) wrong.fetch_add(1);
  };
  const auto read = [&](uint64_t seed) {
    Random own(seed);
    for (uint64_t there; (there = added.load(std::memory_order_acquire)) < kMemtables * kEntries;) {
      const uint64_t here = there % kEntries;
      if (here == 0) continue;
      const Memtable& memtable = *memtables[there / kEntries];
      MemtableCursor cursor(&memtable);
      const std::string& key = order[own.Below(here)];
      cursor.Seek(key);
      check(cursor.valid() && cursor.key() == key && cursor.value() == key);
      // The largest earlier key that was added before, or a larger one that was added since.
      cursor.SeekBefore(key);
      std::string_view before, largest;
      for (uint64_t i = 0; i < here; ++i) {
        if (order[i] < key) before = std::max<std::string_view>(before, order[i]);
        largest = std::max<std::string_view>(largest, order[i]);
      }
      check(cursor.valid() ? cursor.key() >= before && cursor.key() < key : before.empty());
      cursor.SeekToLast();
      check(cursor.valid() && cursor.key() >= largest);
      uint64_t count = 0;
      std::string last;
      for (cursor.SeekToFirst(); cursor.valid(); cursor.Next(), ++count) {
        check(cursor.key() > last && cursor.value() == cursor.key());
        last.assign(cursor.key());
      }
      check(count >= here && count <= kEntries);
    }
  };
  std::vector<std::thread> readers;
  for (uint64_t i = 1; i <= 2; ++i) readers.emplace_back(read, i);
  for (const Ref<Memtable>& memtable : memtables) {
    for (const std::string& key : order) {
      memtable->Add(key, key);
      added.fetch_add(1, std::memory_order_release);
    }
  }
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace bigtable
