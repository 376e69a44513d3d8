// Random mutations, filters and row ranges for the model test and other random tests.
#ifndef BIGTABLE_TESTS_CLIENT_MODEL_MUTATIONS_H_
#define BIGTABLE_TESTS_CLIENT_MODEL_MUTATIONS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <vector>

#include "absl/strings/str_cat.h"

#include "bigtable/bigtable.h"

#include "model/model_names.h"
#include "support/model.h"
#include "support/model_filter.h"
#include "support/random.h"
#include "support/random_filter.h"

namespace bigtable {

inline int64_t RandomTimestamp(Random& random, int64_t now_micros) {
  if (random.OneIn(40)) return Timestamp::Max().micros();
  if (random.OneIn(3)) return std::max<int64_t>(0, now_micros + random.Between(-3, 3));
  // About the range of the families' ages.
  if (random.OneIn(4)) return std::max<int64_t>(0, now_micros - random.Between(0, 8000));
  return random.Between(0, 8);
}

inline std::string RandomValue(Random& random) {
  static const std::vector<std::string> kTiny = {"", "a", "q", "x1", "\n", "f0"};
  if (random.OneIn(4)) return random.Pick(kTiny);
  std::string value = absl::StrCat("v", random.Below(1'000'000));
  const uint64_t kind = random.Below(200);
  if (kind == 0) return value + random.Bytes(100 << 10);
  if (kind < 20) return value + random.Bytes(random.Below(4 << 10));
  if (kind < 60) return value + std::string(random.Below(500), 'p');
  return value;
}

// `size` zero bytes, which take no memory until they are read.
class UntouchedBytes {
 public:
  explicit UntouchedBytes(size_t size) : size_(size) {
    void* const bytes =
        mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (bytes == MAP_FAILED) std::abort();
    bytes_ = static_cast<const char*>(bytes);
  }
  std::string_view view() const { return {bytes_, size_}; }

 private:
  const char* bytes_;  // never unmapped
  const size_t size_;
};

// Each part of the value contains its own offset. Half of the values compress.
inline std::string LargeValue(Random& random, size_t size) {
  const std::string piece =
      random.OneIn(2) ? random.Bytes(64 << 10) : std::string(64 << 10, static_cast<char>('A'));
  std::string value;
  value.reserve(size);
  while (value.size() < size) {
    absl::StrAppend(&value, "[", value.size(), "]");
    value.append(piece, 0, std::min(piece.size(), size - std::min(size, value.size())));
  }
  value.resize(size);
  return value;
}

// Makes a Set in an aggregate family a contribution.
inline void FitToFamily(Random& random, const ModelTable& table, int64_t now_micros,
                        ModelOperation* op) {
  using Kind = ModelOperation::Kind;
  const auto family = table.schema().families.find(op->family);
  if (op->kind != Kind::kSet || family == table.schema().families.end() ||
      !HoldsAggregates(family->second)) {
    return;
  }
  const bool is_input = !random.OneIn(4);
  op->kind = is_input ? Kind::kAddToCell : Kind::kMergeToCell;
  if (!op->timestamp) op->timestamp = RandomTimestamp(random, now_micros);
  op->value = RandomContribution(random, family->second, is_input);
}

inline ModelOperation RandomOperation(Random& random, const ModelTable& table, int64_t now_micros) {
  using Kind = ModelOperation::Kind;
  static const std::vector<Kind> kKinds = {
      Kind::kSet,          Kind::kSet,        Kind::kSet,        Kind::kSet,
      Kind::kSet,          Kind::kSet,        Kind::kSet,        Kind::kSet,
      Kind::kSet,          Kind::kSet,        Kind::kSet,        Kind::kSet,
      Kind::kDeleteColumn, Kind::kDeleteCell, Kind::kDeleteCell, Kind::kDeleteFamily,
      Kind::kDeleteRow};
  ModelOperation op;
  op.kind = random.Pick(kKinds);
  if (op.kind == Kind::kDeleteRow) return op;
  op.family = random.OneIn(400) ? "unknown" : ExistingFamily(random, table);
  if (op.kind == Kind::kDeleteFamily) return op;
  op.qualifier = RandomQualifier(random);
  if (op.kind == Kind::kDeleteColumn && random.OneIn(2)) return op;
  if (op.kind == Kind::kDeleteColumn) {
    op.kind = Kind::kDeleteTimeRange;
    op.timestamp = RandomTimestamp(random, now_micros);
    op.end = RandomTimestamp(random, now_micros);
    if (op.end <= *op.timestamp) {
      op.end = *op.timestamp == Timestamp::Max().micros() ? *op.timestamp : *op.timestamp + 1;
    }
    return op;
  }
  if (op.kind == Kind::kDeleteCell || !table.KnowsServerTimes() || !random.OneIn(3)) {
    op.timestamp = RandomTimestamp(random, now_micros);
  }
  if (op.kind == Kind::kSet) op.value = RandomValue(random);
  FitToFamily(random, table, now_micros, &op);
  return op;
}

inline ModelMutation RandomMutation(Random& random, const ModelTable& table, int64_t now_micros) {
  ModelMutation mutation;
  mutation.row = RandomRow(random);
  const int64_t operations = random.OneIn(3) ? random.Between(1, 20) : random.Between(1, 3);
  for (int64_t i = 0; i < operations; ++i) {
    mutation.operations.push_back(RandomOperation(random, table, now_micros));
  }
  return mutation;
}

// Has one value of up to 64 MiB.
inline ModelMutation RandomLargeMutation(Random& random, const ModelTable& table,
                                         int64_t now_micros) {
  ModelMutation mutation = RandomMutation(random, table, now_micros);
  ModelOperation& op = mutation.operations[random.Below(mutation.operations.size())];
  op = {};
  op.family = BytesFamily(random, table);
  op.qualifier = RandomQualifier(random);
  op.timestamp = RandomTimestamp(random, now_micros);
  op.value = LargeValue(random, LogUniform(random, 64 << 10, 64 << 20));
  return mutation;
}

// Makes the mutation invalid, by adding something invalid or by replacing it.
inline void MakeInvalid(Random& random, const ModelTable& table, RowMutation* mutation) {
  const std::string column = ExistingFamily(random, table) + ":q";
  switch (random.Below(9)) {
    case 0:
      *mutation = RowMutation("");
      mutation->Set(column, Timestamp(1), "v");
      return;
    case 1:
      *mutation = RowMutation(std::string(RowMutation::kMaxRowSize + 1, 'r'));
      mutation->Set(column, Timestamp(1), "v");
      return;
    case 2:
      *mutation = RowMutation(mutation->row());
      return;
    case 3:
      mutation->Set(column + std::string(RowMutation::kMaxQualifierSize, 'q'), Timestamp(1), "v");
      return;
    case 4:
      mutation->Set(random.OneIn(2) ? "a" : ":a", Timestamp(1), "v");
      return;
    case 5:
      mutation->DeleteCell(column, Timestamp(-1));
      return;
    case 6:
      mutation->DeleteFamily("");
      return;
    case 7:
      // One operation too many takes as long as a million operations, so it is rare.
      if (!random.OneIn(8)) {
        mutation->Set(column, Timestamp(-1), "v");
        return;
      }
      for (uint32_t i = 0; i <= RowMutation::kMaxOperations; ++i) mutation->DeleteRow();
      return;
    default:
      // The engine must not read the value, which would take a quarter of a gigabyte.
      static const UntouchedBytes kTooMany(RowMutation::kMaxValueSize + 1);
      mutation->Set(column, Timestamp(1), kTooMany.view());
      return;
  }
}

inline ModelFilter RandomFilter(Random& random, const ModelTable& table) {
  RandomFilters filters(&random, {[&] { return ExistingFamily(random, table); },
                                  [&] { return RandomQualifier(random); }, 6});
  ModelFilter filter = filters.Next();
  if (random.OneIn(4)) filter.kind = ModelFilter::Kind::kPassAll;
  return filter;
}

inline RowRange RandomRowRange(Random& random) {
  const std::string a = RandomRow(random);
  const std::string b = RandomRow(random);
  switch (random.Below(8)) {
    case 0:
      return RowRange::Single(a);
    case 1:
      return RowRange::Prefix(a);
    case 2:
      return RowRange::StartingAt(a);
    case 3:
      return RowRange::EndingAt(a);
    case 4:
      return RowRange::RightOpen(a, b);
    case 5:
      return RowRange::Open(a, b);
    case 6:
      return RowRange::LeftOpen(a, b);
    default:
      return RowRange::Closed(a, b);
  }
}
inline RowSet RandomRowSet(Random& random) {
  if (random.OneIn(3)) return RowRange::All();
  RowSet rows;
  for (int64_t i = random.Between(0, 4); i > 0; --i) {
    if (random.OneIn(2)) {
      rows.Append(RandomRow(random));
    } else {
      rows.Append(RandomRowRange(random));
    }
  }
  return rows;
}

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_CLIENT_MODEL_MUTATIONS_H_
