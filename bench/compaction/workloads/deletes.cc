#include <deque>
#include <vector>

#include "kinds.h"
#include "live_rows.h"

namespace bench {
namespace {

std::vector<uint32_t> FirstOf(const std::vector<uint32_t>& order, uint64_t rows) {
  return {order.begin(), order.begin() + static_cast<std::ptrdiff_t>(rows)};
}

// Deletes an existing row and writes a new one, in turn.
class Deletes final : public Workload {
 public:
  explicit Deletes(const WorkloadOptions& options)
      : rows_(options.rows),
        order_(Permutation(3 * rows_, SeedFor(SeedPurpose::kPreparation, options.seed))),
        live_(FirstOf(order_, rows_)),
        random_(SeedFor(SeedPurpose::kOperations, options.seed)) {}

  std::vector<uint32_t> Preparation() const override { return FirstOf(order_, rows_); }
  uint64_t operations() const override { return 4 * rows_; }
  Operation Next() override {
    if (done_++ % 2 == 0) return {Operation::Kind::kDelete, live_.RemoveRandom(random_)};
    const uint32_t row = order_[rows_ + done_ / 2 - 1];
    live_.Add(row);
    return {Operation::Kind::kWrite, row};
  }
  uint64_t live_rows() const override { return live_.size(); }
  uint64_t DrawLiveRow(Random& random) const override { return live_.Draw(random); }

 private:
  const uint64_t rows_;
  const std::vector<uint32_t> order_;
  LiveRows live_;
  Random random_;
  uint64_t done_ = 0;
};

// The rows are divided into a hundred blocks of adjacent rows. A random block is deleted, a row
// after the other in key order, as a program deletes everything of a tenant or of a day with what a
// writer has: DropRowRange is an administrator's call, and writes no deletions. A deleted block is
// written again, in key order too, when ten more have been deleted. So most files cover ranges with
// nothing but deletions, and a tenth of the rows is missing at any time.
class WideDeletes final : public Workload {
 public:
  explicit WideDeletes(const WorkloadOptions& options)
      : rows_(options.rows),
        seed_(options.seed),
        live_blocks_(Permutation(kBlocks, SeedFor(SeedPurpose::kRanks, options.seed))),
        is_live_(options.rows, true),
        random_(SeedFor(SeedPurpose::kOperations, options.seed)),
        live_(options.rows) {}

  std::vector<uint32_t> Preparation() const override {
    return Permutation(rows_, SeedFor(SeedPurpose::kPreparation, seed_));
  }
  uint64_t operations() const override { return 4 * rows_; }
  Operation Next() override {
    if (next_ == end_) BeginBlock();
    is_live_[next_] = !is_deleting_;
    live_ = is_deleting_ ? live_ - 1 : live_ + 1;
    return {is_deleting_ ? Operation::Kind::kDelete : Operation::Kind::kWrite, next_++};
  }
  uint64_t live_rows() const override { return live_; }
  // Most rows exist, so a few draws suffice.
  uint64_t DrawLiveRow(Random& random) const override {
    for (;;) {
      const uint64_t row = random.Below(rows_);
      if (is_live_[row]) return row;
    }
  }

 private:
  static constexpr uint64_t kBlocks = 100;
  static constexpr uint64_t kMissingBlocks = 10;

  void BeginBlock() {
    is_deleting_ = missing_blocks_.size() <= kMissingBlocks;
    uint32_t block = 0;
    if (is_deleting_) {
      block = live_blocks_.RemoveRandom(random_);
      missing_blocks_.push_back(block);
    } else {
      block = missing_blocks_.front();
      missing_blocks_.pop_front();
      live_blocks_.Add(block);
    }
    next_ = rows_ * block / kBlocks;
    end_ = rows_ * (block + 1) / kBlocks;
  }

  const uint64_t rows_;
  const uint64_t seed_;
  LiveRows live_blocks_;
  std::deque<uint32_t> missing_blocks_;
  std::vector<bool> is_live_;  // each row
  Random random_;
  uint64_t live_;
  // The rest of the block that is being deleted, or written.
  bool is_deleting_ = false;
  uint64_t next_ = 0;
  uint64_t end_ = 0;
};

}  // namespace

std::unique_ptr<Workload> MakeDeletes(const WorkloadOptions& options) {
  return std::make_unique<Deletes>(options);
}

std::unique_ptr<Workload> MakeWideDeletes(const WorkloadOptions& options) {
  return std::make_unique<WideDeletes>(options);
}

}  // namespace bench
