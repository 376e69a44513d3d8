// The core workloads of YCSB (Cooper et al., SOCC 2010). As there, keys are not in the order in
// which rows were inserted, frequently used rows are not adjacent, and a scan reads 1 to 100 rows.
#include <vector>

#include "kinds.h"
#include "zipf.h"

namespace bench {
namespace {

class Ycsb final : public Workload {
 public:
  Ycsb(const WorkloadOptions& options, const YcsbMix& mix)
      : mix_(mix),
        prepared_(options.rows),
        // Twice the inserts that are expected of all operations.
        row_of_index_(Permutation(prepared_ + 4 * prepared_ * mix.inserts / 100,
                                  SeedFor(SeedPurpose::kPreparation, options.seed))),
        index_of_rank_(
            Permutation(row_of_index_.size(), SeedFor(SeedPurpose::kRanks, options.seed))),
        zipf_(row_of_index_.size(), options.skew),
        random_(SeedFor(SeedPurpose::kOperations, options.seed)),
        live_(prepared_) {}

  std::vector<uint32_t> Preparation() const override {
    return {row_of_index_.begin(), row_of_index_.begin() + static_cast<std::ptrdiff_t>(prepared_)};
  }
  uint64_t operations() const override { return 2 * prepared_; }
  Operation Next() override {
    uint64_t draw = random_.Below(100);
    const auto is_of = [&draw](uint64_t share) {
      if (draw < share) return true;
      draw -= share;
      return false;
    };
    if (is_of(mix_.inserts) && live_ < row_of_index_.size()) {
      return {Operation::Kind::kWrite, row_of_index_[live_++]};
    }
    const uint64_t row = row_of_index_[DrawIndex()];
    if (is_of(mix_.scans)) {
      constexpr uint64_t kMostScannedRows = 100;
      return {Operation::Kind::kScan, row, 1 + random_.Below(kMostScannedRows)};
    }
    if (is_of(mix_.updates)) return {Operation::Kind::kWrite, row};
    if (is_of(mix_.read_modify_writes)) return {Operation::Kind::kReadModifyWrite, row};
    return {Operation::Kind::kRead, row};
  }
  uint64_t live_rows() const override { return live_; }
  uint64_t DrawLiveRow(Random& random) const override { return row_of_index_[random.Below(live_)]; }

 private:
  // Of a row that exists. Rows have indexes in the order of their insertion.
  uint64_t DrawIndex() {
    if (mix_.distribution == YcsbMix::Distribution::kLatest) {
      return live_ - 1 - zipf_.Draw(random_, live_);
    }
    // A row that is yet to be inserted has its rank, and is drawn once it exists.
    for (;;) {
      const uint64_t index = index_of_rank_[zipf_.Draw(random_, index_of_rank_.size())];
      if (index < live_) return index;
    }
  }

  const YcsbMix mix_;
  const uint64_t prepared_;
  const std::vector<uint32_t> row_of_index_;
  const std::vector<uint32_t> index_of_rank_;
  const Zipf zipf_;
  Random random_;
  uint64_t live_;
};

}  // namespace

std::unique_ptr<Workload> MakeYcsb(const WorkloadOptions& options, const YcsbMix& mix) {
  return std::make_unique<Ycsb>(options, mix);
}

}  // namespace bench
