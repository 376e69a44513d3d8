#include <numeric>
#include <utility>
#include <vector>

#include "kinds.h"

namespace bench {
namespace {

class Load final : public Workload {
 public:
  explicit Load(std::vector<uint32_t> order) : order_(std::move(order)) {}

  uint64_t operations() const override { return order_.size(); }
  Operation Next() override { return {Operation::Kind::kWrite, order_[written_++]}; }
  uint64_t live_rows() const override { return written_; }
  uint64_t DrawLiveRow(Random& random) const override { return order_[random.Below(written_)]; }

 private:
  const std::vector<uint32_t> order_;
  uint64_t written_ = 0;
};

}  // namespace

std::unique_ptr<Workload> MakeLoadRandom(const WorkloadOptions& options) {
  return std::make_unique<Load>(
      Permutation(options.rows, SeedFor(SeedPurpose::kPreparation, options.seed)));
}

std::unique_ptr<Workload> MakeLoadSequential(const WorkloadOptions& options) {
  std::vector<uint32_t> order(options.rows);
  std::iota(order.begin(), order.end(), 0);
  return std::make_unique<Load>(std::move(order));
}

}  // namespace bench
