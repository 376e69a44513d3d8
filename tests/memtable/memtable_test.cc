// The memtable against std::map, with one thread and with readers beside the writer.
#include "memtable/memtable.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "gtest/gtest.h"

#include "support/random.h"
#include "support/seeds.h"

namespace bigtable {
namespace {

using Use = MemoryBudget::Use;
using Model = std::map<std::string, std::string, std::less<>>;

class MemtableTest : public testing::Test {
 protected:
  std::shared_ptr<MemoryBudget> budget_ = std::make_shared<MemoryBudget>(64 << 20);
  Ref<Memtable> memtable_ = MakeRef<Memtable>(budget_);
};

// Short keys, keys that are prefixes of others, and keys that differ only behind their first eight
// bytes, which the memtable keeps as a number.
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

TEST_F(MemtableTest, AnEmptyOneHasNothingAnywhere) {
  Random random(1);
  ExpectSame(*memtable_, {}, random);
  EXPECT_EQ(memtable_->first_sequence(), 0u);
}

TEST_F(MemtableTest, RandomInsertsInAnyOrderAreFoundInOrder) {
  ForEachSeed(30, [](uint64_t seed) {
    Random random(seed);
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
      default:  // runs of ascending keys that begin anywhere, as mutations of rows are
        for (int i = 0; i < 40; ++i) {
          const auto middle = static_cast<ptrdiff_t>(random.Below(keys.size()));
          std::rotate(
              keys.begin(), keys.begin() + middle,
              keys.begin() + middle +
                  static_cast<ptrdiff_t>(random.Below(keys.size() - static_cast<size_t>(middle))));
        }
    }
    const auto memtable = MakeRef<Memtable>(std::make_shared<MemoryBudget>(64 << 20));
    Model inserted;
    for (size_t i = 0; i < keys.size(); ++i) {
      memtable->Add(keys[i], model[keys[i]]);
      inserted[keys[i]] = model[keys[i]];
      if (i == 0 || i == 1 || i == 77) {
        ASSERT_NO_FATAL_FAILURE(ExpectSame(*memtable, inserted, random));
      }
    }
    ASSERT_NO_FATAL_FAILURE(ExpectSame(*memtable, model, random));
  });
}

TEST_F(MemtableTest, KeysThatDifferOnlyBehindTheirEighthByteOrInZerosAreOrdered) {
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

TEST_F(MemtableTest, ACursorSeesWhatIsAddedAhead) {
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

TEST_F(MemtableTest, ItsSequenceNumbersAreTheSmallestAndTheLargestInWhateverOrder) {
  for (const SequenceNumber sequence : {7u, 11u, 5u, 8u}) memtable_->NoteSequence(sequence);
  EXPECT_EQ(memtable_->first_sequence(), 5u);
  EXPECT_EQ(memtable_->last_sequence(), 11u);
}

TEST_F(MemtableTest, TheBudgetIsChargedForAllOfItAndGetsAllBack) {
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
    memtable_->AddPinned(absl::StrFormat("%d/a", i), owner->text().substr(0, 60000), owner);
    memtable_->AddPinned(absl::StrFormat("%d/b", i), owner->text().substr(60000), owner);
  }
  EXPECT_EQ(destroyed, 0);
  MemtableCursor cursor(memtable_.get());
  for (cursor.SeekToFirst(); cursor.valid(); cursor.Next()) {
    EXPECT_EQ(cursor.value(), std::string(cursor.key().ends_with("a") ? 60000 : 40000, 'p'));
  }
  // They count for its size, since they keep the log long; the log charges the budget for them.
  EXPECT_GE(memtable_->bytes(), 300000u);
  EXPECT_LT(budget_->used(Use::kMemtables), 10000u);
  memtable_ = Ref<Memtable>();
  EXPECT_EQ(destroyed, 3);
  EXPECT_EQ(budget_->used(Use::kMemtables), 0u);
}

// --- Readers beside the writer ---

std::string NumberKey(uint64_t n) { return absl::StrFormat("key%016x", n); }

// The writer adds numbers in random order and says how many are there; a reader must find all that
// were there before it began to look, in order, and whole.
TEST(ConcurrentMemtableTest, ReadersFindEverythingThatWasThereWhenTheyBegan) {
  const uint64_t kEntries = kSanitized ? 4000 : 20000;
  const auto budget = std::make_shared<MemoryBudget>(64 << 20);
  const auto memtable = MakeRef<Memtable>(budget);
  std::vector<uint64_t> order;
  Random random(7);
  for (uint64_t i = 0; i < kEntries; ++i) order.push_back(i);
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.Below(i)]);
  // Ascending runs too, which are linked without a search.
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
        // From the one before, the key is ahead, behind what was added meanwhile.
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
  for (const uint64_t n : order) {
    const std::string key = NumberKey(n);
    memtable->Add(key, key);
    added.fetch_add(1, std::memory_order_release);
  }
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(memtable->entries(), kEntries);
}

}  // namespace
}  // namespace bigtable
