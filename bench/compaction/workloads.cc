#include "workloads.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace bench {
namespace {

// Seeds of random numbers; the preparation has a seed of its own.
constexpr uint64_t kPreparationSeed = 2;
constexpr uint64_t kOperationSeed = 3;
constexpr uint64_t kRankSeed = 4;

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

// The set of rows does not change.
class FixedRows : public Workload {
 public:
  FixedRows(uint64_t rows, uint64_t operations) : rows_(rows), operations_(operations) {}

  std::vector<uint32_t> Preparation() const override {
    return Permutation(rows_, kPreparationSeed);
  }
  uint64_t operations() const override { return operations_; }
  uint64_t live_rows() const override { return rows_; }
  uint64_t DrawLiveRow(Random& random) const override { return random.Below(rows_); }

 protected:
  const uint64_t rows_;
  Random random_{kOperationSeed};

 private:
  const uint64_t operations_;
};

class Overwrite final : public FixedRows {
 public:
  explicit Overwrite(uint64_t rows) : FixedRows(rows, 3 * rows) {}
  Operation Next() override { return {Operation::Kind::kWrite, random_.Below(rows_)}; }
};

// The assignment of rows to ranks is shuffled, so that frequently written rows are not adjacent.
class OverwriteZipf final : public FixedRows {
 public:
  explicit OverwriteZipf(uint64_t rows)
      : FixedRows(rows, 3 * rows), row_of_rank_(Permutation(rows, kRankSeed)) {
    double sum = 0;
    for (uint64_t rank = 1; rank <= rows; ++rank) {
      sum += std::pow(static_cast<double>(rank), -kSkew);
      up_to_rank_.push_back(sum);
    }
  }

  Operation Next() override {
    constexpr uint64_t kParts = uint64_t{1} << 32;
    const double draw = static_cast<double>(random_.Below(kParts)) / kParts * up_to_rank_.back();
    const auto rank = std::upper_bound(up_to_rank_.begin(), up_to_rank_.end(), draw);
    return {Operation::Kind::kWrite, row_of_rank_[static_cast<size_t>(rank - up_to_rank_.begin())]};
  }

 private:
  static constexpr double kSkew = 0.99;
  const std::vector<uint32_t> row_of_rank_;
  std::vector<double> up_to_rank_;  // the sum of the weights up to each rank
};

class ReadMix final : public FixedRows {
 public:
  explicit ReadMix(uint64_t rows) : FixedRows(rows, 2 * rows) {}

  Operation Next() override {
    const uint64_t draw = random_.Below(20);
    const Operation::Kind kind = draw < 10   ? Operation::Kind::kWrite
                                 : draw < 19 ? Operation::Kind::kRead
                                             : Operation::Kind::kScan;
    return {kind, random_.Below(rows_)};
  }
};

// Deletes an existing row and writes a new one, in turn.
class Deletes final : public Workload {
 public:
  explicit Deletes(uint64_t rows) : rows_(rows), order_(Permutation(3 * rows, kPreparationSeed)) {
    live_.assign(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(rows));
  }

  std::vector<uint32_t> Preparation() const override {
    return {order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(rows_)};
  }
  uint64_t operations() const override { return 4 * rows_; }
  Operation Next() override {
    if (done_++ % 2 == 0) {
      std::swap(live_[random_.Below(live_.size())], live_.back());
      const uint32_t row = live_.back();
      live_.pop_back();
      return {Operation::Kind::kDelete, row};
    }
    live_.push_back(order_[rows_ + done_ / 2 - 1]);
    return {Operation::Kind::kWrite, live_.back()};
  }
  uint64_t live_rows() const override { return live_.size(); }
  uint64_t DrawLiveRow(Random& random) const override { return live_[random.Below(live_.size())]; }

 private:
  const uint64_t rows_;
  const std::vector<uint32_t> order_;
  std::vector<uint32_t> live_;
  Random random_{kOperationSeed};
  uint64_t done_ = 0;
};

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

struct WorkloadKind {
  std::string_view name;
  std::unique_ptr<Workload> (*make)(uint64_t rows);
};

std::vector<uint32_t> KeyOrder(uint64_t rows) {
  std::vector<uint32_t> order(rows);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

constexpr uint64_t kSources = 100;
constexpr WorkloadKind kKinds[] = {
    {"load_random",
     [](uint64_t rows) -> std::unique_ptr<Workload> {
       return std::make_unique<Load>(Permutation(rows, kPreparationSeed));
     }},
    {"load_sequential",
     [](uint64_t rows) -> std::unique_ptr<Workload> {
       return std::make_unique<Load>(KeyOrder(rows));
     }},
    {"overwrite",
     [](uint64_t rows) -> std::unique_ptr<Workload> { return std::make_unique<Overwrite>(rows); }},
    {"overwrite_zipf",
     [](uint64_t rows) -> std::unique_ptr<Workload> {
       return std::make_unique<OverwriteZipf>(rows);
     }},
    {"read_mix",
     [](uint64_t rows) -> std::unique_ptr<Workload> { return std::make_unique<ReadMix>(rows); }},
    {"deletes",
     [](uint64_t rows) -> std::unique_ptr<Workload> { return std::make_unique<Deletes>(rows); }},
    {"time_series",
     [](uint64_t rows) -> std::unique_ptr<Workload> {
       return std::make_unique<TimeSeries>(rows, 1);
     }},
    {"sensors",
     [](uint64_t rows) -> std::unique_ptr<Workload> {
       return std::make_unique<TimeSeries>(rows, kSources);
     }},
};

}  // namespace

std::vector<std::string> WorkloadNames() {
  std::vector<std::string> names;
  for (const WorkloadKind& kind : kKinds) names.emplace_back(kind.name);
  return names;
}

std::unique_ptr<Workload> MakeWorkload(std::string_view name, uint64_t rows) {
  for (const WorkloadKind& kind : kKinds) {
    if (kind.name == name) return kind.make(rows);
  }
  return nullptr;
}

}  // namespace bench
