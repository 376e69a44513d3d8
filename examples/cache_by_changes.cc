// A cache in front of a table, which a change stream keeps right: a thread reads the stream and
// forgets each row that was written, whoever wrote it. Writers know nothing of the cache.
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "absl/time/clock.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/in_memory_file_system.h"

namespace {

void Check(const absl::Status& status) {
  if (!status.ok()) std::cerr << status << std::endl, std::exit(EXIT_FAILURE);
}
template <typename T>
T Value(absl::StatusOr<T> result) {
  Check(result.status());
  return *std::move(result);
}
// Thread-safe.
class PriceCache {
 public:
  // Keeps no position: a new cache is empty, so it needs only what changes from here on.
  explicit PriceCache(bigtable::Table* table)
      : table_(table), stream_(table->ReadChanges()), reader_([this] { Forget(); }) {}
  ~PriceCache() {
    ends_ = true;
    reader_.join();
  }

  std::string Get(const std::string& article) {
    std::unique_lock lock(mutex_);
    if (const auto found = prices_.find(article); found != prices_.end()) return found->second;
    const uint64_t changes = changes_;
    lock.unlock();
    const std::string price = Value(table_->Get(article, "price:"));
    lock.lock();
    // A change that came while the table was read may be one of this row.
    if (changes == changes_) prices_[article] = price;
    return price;
  }
  // Waits until the cache knows all changes that were committed before this time.
  void AwaitChangesBefore(absl::Time time) {
    while (absl::FromUnixMicros(complete_through_) < time) absl::SleepFor(absl::Milliseconds(1));
  }

 private:
  void Forget() {
    while (!ends_) {
      if (stream_.Next(absl::Milliseconds(10))) {
        std::lock_guard lock(mutex_);
        ++changes_;
        if (stream_.change().kind == bigtable::TableChange::Kind::kMutation) {
          prices_.erase(std::string(stream_.change().mutation.row()));
        } else {
          prices_.clear();  // rows were dropped, or families have changed
        }
      }
      Check(stream_.status());
      complete_through_ = absl::ToUnixMicros(stream_.CompleteThrough());
    }
  }

  bigtable::Table* const table_;
  bigtable::ChangeStream stream_;  // of reader_
  std::mutex mutex_;
  std::map<std::string, std::string> prices_;
  uint64_t changes_ = 0;
  std::atomic<int64_t> complete_through_ = 0;
  std::atomic<bool> ends_ = false;
  std::thread reader_;
};

}  // namespace

int main() {
  bigtable::InMemoryFileSystem disk;  // in place of the machine's
  auto database = Value(bigtable::Database::Open("/shop", {.file_system = &disk}));
  auto* articles = Value(database->OpenOrCreateTable(
      "articles", {.families = {{"price", {}}}, .changes = {.retention = absl::Minutes(10)}}));
  PriceCache cache(articles);

  bool is_right = true;
  for (int i = 1; i <= 100; ++i) {
    const std::string price = std::to_string(i);
    Check(articles->Apply(bigtable::RowMutation("shoe").Set("price:", price)));
    cache.AwaitChangesBefore(absl::Now());
    is_right = is_right && cache.Get("shoe") == price && cache.Get("shoe") == price;
  }
  std::cout << (is_right ? "every price was right" : "a price was old") << std::endl;
  return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
