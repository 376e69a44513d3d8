#include <algorithm>

#include "kinds.h"

namespace bench {
namespace {

class TimeSeries final : public Workload {
 public:
  TimeSeries(uint64_t rows, uint64_t sources) : rows_(rows), sources_(sources) {}

  std::optional<uint64_t> lifetime() const override { return rows_; }
  uint64_t operations() const override { return 3 * rows_; }
  Operation Next() override { return {Operation::Kind::kWrite, RowOf(written_++)}; }
  uint64_t live_rows() const override { return std::min(written_, rows_); }
  uint64_t DrawLiveRow(Random& random) const override {
    return RowOf(written_ - 1 - random.Below(live_rows()));
  }

 private:
  uint64_t RowOf(uint64_t time) const {
    constexpr uint64_t kTimes = 1'000'000'000;  // of one source
    return time % sources_ * kTimes + time / sources_;
  }

  const uint64_t rows_;
  const uint64_t sources_;
  uint64_t written_ = 0;
};

}  // namespace

std::unique_ptr<Workload> MakeTimeSeries(const WorkloadOptions& options, uint64_t sources) {
  return std::make_unique<TimeSeries>(options.rows, sources);
}

}  // namespace bench
