// Observers for tests: with functions that a test sets, and an index.
#ifndef BIGTABLE_TESTS_SUPPORT_TEST_OBSERVERS_H_
#define BIGTABLE_TESTS_SUPPORT_TEST_OBSERVERS_H_

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "base/status.h"
#include "base/strings.h"

namespace bigtable {

// Calls functions that a test sets while nothing writes. Registered as "test-hook-0" to
// "test-hook-2"; the first calls After too.
class HookObserver final : public MutationObserver {
 public:
  using BeforeFunction =
      std::function<absl::Status(const ObservedMutation& mutation, ObserverContext* context)>;
  using AfterFunction = std::function<void(const ObservedMutation& mutation, uint64_t sequence)>;

  static HookObserver* Get(int i) {
    static HookObserver* const hooks[] = {Register(0), Register(1), Register(2)};
    return hooks[i];
  }
  static std::string NameOf(int i) { return Cat("test-hook-", i); }
  static void ClearAll() {
    for (int i = 0; i < 3; ++i) {
      Get(i)->before = nullptr;
      Get(i)->after = nullptr;
    }
  }

  absl::Status Before(const ObservedMutation& mutation, ObserverContext* context) override {
    return before ? before(mutation, context) : absl::OkStatus();
  }
  void After(const ObservedMutation& mutation, uint64_t sequence) override {
    if (after) after(mutation, sequence);
  }
  bool ObservesCommits() const override { return number_ == 0; }

  BeforeFunction before;
  AfterFunction after;

 private:
  explicit HookObserver(int number) : number_(number) {}
  static HookObserver* Register(int i) {
    std::unique_ptr<HookObserver> observer(new HookObserver(i));
    HookObserver* const registered = observer.get();
    EXPECT_TRUE(RegisterMutationObserver(NameOf(i), std::move(observer)).ok());
    return registered;
  }

  const int number_;
};

// "test-index": for each row whose newest value of f:q is V, table "index" has the row "V/ROW". A
// value that begins with "bad" is refused.
class IndexObserver final : public MutationObserver {
 public:
  static constexpr const char* kName = "test-index";
  static void Register() {
    static const absl::Status registered =
        RegisterMutationObserver(kName, std::make_unique<IndexObserver>());
    EXPECT_TRUE(registered.ok());
  }

  absl::Status Before(const ObservedMutation& mutation, ObserverContext* context) override {
    const Filter newest = Filter::Chain(Filter::Column("f", "q"), Filter::Latest(1));
    BT_ASSIGN_OR_RETURN(const Row before, context->ReadBefore(newest));
    BT_ASSIGN_OR_RETURN(const Row after, context->ReadAfter(newest));
    const std::string old_key = KeyOf(before, mutation.row());
    const std::string new_key = KeyOf(after, mutation.row());
    if (new_key.starts_with("bad")) return absl::InvalidArgumentError("a bad value");
    if (old_key == new_key) return absl::OkStatus();
    BT_ASSIGN_OR_RETURN(Table* const index, context->OpenTable("index"));
    if (!old_key.empty()) {
      BT_RETURN_IF_ERROR(context->Apply(index, RowMutation(old_key).DeleteRow()));
    }
    if (new_key.empty()) return absl::OkStatus();
    return context->Apply(index, RowMutation(new_key).Set("f:q", Timestamp(1), ""));
  }
  bool ObservesCommits() const override { return false; }

  // The rows that the index should have, and those that it has, at a snapshot.
  static std::set<std::string> Expected(Table* table,
                                        const std::shared_ptr<const Snapshot>& snapshot) {
    std::set<std::string> keys;
    RowReader reader = table->ReadRows(RowSet(RowRange::All()),
                                       Filter::Chain(Filter::Column("f", "q"), Filter::Latest(1)),
                                       {.snapshot = snapshot});
    for (const Row& row : reader) keys.insert(KeyOf(row, row.key()));
    EXPECT_TRUE(reader.status().ok()) << reader.status();
    return keys;
  }
  static std::set<std::string> Actual(Table* index,
                                      const std::shared_ptr<const Snapshot>& snapshot) {
    std::set<std::string> keys;
    RowReader reader = index->ReadRows(RowSet(RowRange::All()), {.snapshot = snapshot});
    for (const Row& row : reader) keys.insert(std::string(row.key()));
    EXPECT_TRUE(reader.status().ok()) << reader.status();
    return keys;
  }

 private:
  static std::string KeyOf(const Row& row, std::string_view key) {
    return row.empty() ? "" : Cat(row.cells().front().value, "/", key);
  }
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_TEST_OBSERVERS_H_
