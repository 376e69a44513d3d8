#include <vector>

#include "kinds.h"
#include "zipf.h"

namespace bench {
namespace {

class FixedRows : public Workload {
 public:
  FixedRows(const WorkloadOptions& options, uint64_t operations)
      : rows_(options.rows),
        random_(SeedFor(SeedPurpose::kOperations, options.seed)),
        seed_(options.seed),
        operations_(operations) {}

  std::vector<uint32_t> Preparation() const override {
    return Permutation(rows_, SeedFor(SeedPurpose::kPreparation, seed_));
  }
  uint64_t operations() const override { return operations_; }
  uint64_t live_rows() const override { return rows_; }
  uint64_t DrawLiveRow(Random& random) const override { return random.Below(rows_); }

 protected:
  const uint64_t rows_;
  Random random_;

 private:
  const uint64_t seed_;
  const uint64_t operations_;
};

class Overwrite final : public FixedRows {
 public:
  explicit Overwrite(const WorkloadOptions& options) : FixedRows(options, 3 * options.rows) {}
  Operation Next() override { return {Operation::Kind::kWrite, random_.Below(rows_)}; }
};

// The assignment of rows to ranks is shuffled, so that frequently written rows are not adjacent.
class OverwriteZipf final : public FixedRows {
 public:
  explicit OverwriteZipf(const WorkloadOptions& options)
      : FixedRows(options, 3 * options.rows),
        row_of_rank_(Permutation(options.rows, SeedFor(SeedPurpose::kRanks, options.seed))),
        zipf_(options.rows, options.skew) {}

  Operation Next() override {
    return {Operation::Kind::kWrite, row_of_rank_[zipf_.Draw(random_, rows_)]};
  }

 private:
  const std::vector<uint32_t> row_of_rank_;
  const Zipf zipf_;
};

class ReadMix final : public FixedRows {
 public:
  explicit ReadMix(const WorkloadOptions& options) : FixedRows(options, 2 * options.rows) {}

  Operation Next() override {
    const uint64_t draw = random_.Below(20);
    const Operation::Kind kind = draw < 10   ? Operation::Kind::kWrite
                                 : draw < 19 ? Operation::Kind::kRead
                                             : Operation::Kind::kScan;
    return {kind, random_.Below(rows_)};
  }
};

}  // namespace

std::unique_ptr<Workload> MakeOverwrite(const WorkloadOptions& options) {
  return std::make_unique<Overwrite>(options);
}

std::unique_ptr<Workload> MakeOverwriteZipf(const WorkloadOptions& options) {
  return std::make_unique<OverwriteZipf>(options);
}

std::unique_ptr<Workload> MakeReadMix(const WorkloadOptions& options) {
  return std::make_unique<ReadMix>(options);
}

}  // namespace bench
