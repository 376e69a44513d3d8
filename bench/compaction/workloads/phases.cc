#include <vector>

#include "kinds.h"
#include "live_rows.h"

namespace bench {
namespace {

class Phases final : public Workload {
 public:
  explicit Phases(const WorkloadOptions& options)
      : rows_(options.rows),
        to_load_(Permutation(rows_, SeedFor(SeedPurpose::kPreparation, options.seed))),
        random_(SeedFor(SeedPurpose::kOperations, options.seed)) {}

  uint64_t operations() const override { return 3 * rows_ + 2 * deletions(); }
  Operation Next() override {
    const uint64_t done = done_++;
    if (done < rows_) return LoadOne();
    if (done < 2 * rows_) return {Operation::Kind::kWrite, live_.Draw(random_)};
    if (done < 3 * rows_) return {Operation::Kind::kRead, live_.Draw(random_)};
    if (done < 3 * rows_ + deletions()) {
      to_load_.Add(live_.RemoveRandom(random_));
      return {Operation::Kind::kDelete, to_load_.back()};
    }
    return LoadOne();
  }
  uint64_t live_rows() const override { return live_.size(); }
  uint64_t DrawLiveRow(Random& random) const override { return live_.Draw(random); }

 private:
  uint64_t deletions() const { return rows_ / 2; }
  Operation LoadOne() {
    live_.Add(to_load_.RemoveRandom(random_));
    return {Operation::Kind::kWrite, live_.back()};
  }

  const uint64_t rows_;
  LiveRows to_load_;
  LiveRows live_;
  Random random_;
  uint64_t done_ = 0;
};

}  // namespace

std::unique_ptr<Workload> MakePhases(const WorkloadOptions& options) {
  return std::make_unique<Phases>(options);
}

}  // namespace bench
