// The random parts of ways_database.h: its alphabet, schema, rules and mutations.
#ifndef BIGTABLE_TESTS_CLIENT_WAYS_RANDOM_H_
#define BIGTABLE_TESTS_CLIENT_WAYS_RANDOM_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

#include "bigtable/bigtable.h"

#include "base/strings.h"
#include "model/model_schemas.h"
#include "support/model.h"
#include "support/model_aggregates.h"
#include "support/random.h"

namespace bigtable {

inline LocalityGroup RandomWaysGroup(Random& random) {
  LocalityGroup group = RandomLocalityGroup(random);
  group.block_size = 1 << 10;
  if (group.compression == Compression::kZstdLongWindow) group.compression = Compression::kZstd;
  return group;
}
inline GcRule RandomWaysRule(Random& random) {
  const GcRule versions = GcRule::MaxVersions(random.Between(1, 3));
  // So that the present passes the timestamps of cells one by one.
  const GcRule age = GcRule::MaxAge(absl::Microseconds(random.Between(1000, 1003)));
  const GcRule longer = GcRule::MaxAge(absl::Microseconds(random.Between(1002, 1006)));
  switch (random.Below(9)) {
    case 0:
      return versions;
    case 1:
      return age;
    case 2:
      return GcRule::Union(versions, age);
    case 3:
      return GcRule::Intersection(versions, age);
    case 4:
      return GcRule::Union(GcRule::Intersection(versions, age), longer);
    case 5:
      return GcRule::Union(GcRule::Intersection(versions, age),
                           GcRule::MaxVersions(random.Between(2, 4)));
    default:
      return GcRule();
  }
}
inline TableSchema RandomWaysSchema(Random& random) {
  TableSchema schema;
  schema.split.tablet_size = 0;
  schema.locality_groups["default"] = RandomWaysGroup(random);
  schema.locality_groups["second"] = RandomWaysGroup(random);
  schema.families["a"] = {.gc = RandomWaysRule(random)};
  schema.families["ab"] = {.locality_group = random.OneIn(2) ? "" : "second",
                           .gc = RandomWaysRule(random)};
  for (const char* family : {"a", "ab"}) {
    const bool is_combined = CombinesVersionsWithAge(schema.families[family].gc);
    if (!is_combined && random.OneIn(3)) MakeAggregate(random, &schema.families[family]);
  }
  for (const char* family : {"a", "ab"}) {
    if (!MayHaveFilter(schema.families[family]) || random.OneIn(2)) continue;
    schema.families[family].compaction_filter = ModelCompactionFilter::kName;
  }
  RemoveUnusedGroups(&schema);
  return schema;
}

// The rows and columns of the database.
class WaysWords {
 public:
  explicit WaysWords(Random& random) : is_sparse_(random.OneIn(2)) {
    using namespace std::string_literals;
    rows_ = random.OneIn(3) ? std::vector{"a"s, "a\0"s, "a\0b"s} : std::vector{"a"s, "ab"s, "b"s};
    qualifiers_ = random.OneIn(3) ? std::vector{""s, "q"s, "q\0"s} : std::vector{""s, "q"s, "q1"s};
  }

  const std::vector<std::string>& rows() const { return rows_; }  // in order
  const std::string& Row(Random& random) const { return random.Pick(rows_); }
  ModelMutation Mutation(Random& random, int64_t now) const {
    ModelMutation mutation;
    mutation.row = Row(random);
    for (int64_t i = !is_sparse_ && random.OneIn(3) ? random.Between(1, 4) : 1; i > 0; --i) {
      mutation.operations.push_back(Operation(random, now));
    }
    return mutation;
  }

 private:
  ModelOperation Operation(Random& random, int64_t now) const {
    using Kind = ModelOperation::Kind;
    static const std::vector<Kind> kKinds = {
        Kind::kSet,          Kind::kSet,        Kind::kSet,          Kind::kSet,      Kind::kSet,
        Kind::kDeleteColumn, Kind::kDeleteCell, Kind::kDeleteFamily, Kind::kDeleteRow};
    // A wide deletion precedes all later writes of the row, and forces the slow path.
    static const std::vector<Kind> kSparseKinds = {Kind::kSet, Kind::kSet, Kind::kSet,
                                                   Kind::kDeleteCell, Kind::kDeleteCell};
    ModelOperation op;
    const bool is_narrow = is_sparse_ && !random.OneIn(20);
    op.kind = random.Pick(is_narrow ? kSparseKinds : kKinds);
    if (!is_sparse_ && random.OneIn(2)) op.kind = Kind::kSet;
    if (op.kind == Kind::kDeleteRow) return op;
    op.family = random.OneIn(2) ? "a" : "ab";
    if (op.kind == Kind::kDeleteFamily) return op;
    op.qualifier = qualifiers_[random.Below(is_narrow ? 2 : qualifiers_.size())];
    if (op.kind == Kind::kDeleteColumn && random.OneIn(2)) return op;
    // Always old, or near the age limit of the rules.
    op.timestamp = random.OneIn(2) ? random.Between(1, 3) : now - 1000;
    static const std::vector<std::string> kValues = {"", "a", "q", "x1", "f0", "v3"};
    if (op.kind == Kind::kSet) op.value = random.Pick(kValues);
    if (op.kind == Kind::kDeleteColumn) {
      op.kind = Kind::kDeleteTimeRange;
      op.end = *op.timestamp + random.Between(1, 3);
    }
    return op;
  }

  const bool is_sparse_;  // most rows have one or two cells
  std::vector<std::string> rows_;
  std::vector<std::string> qualifiers_;
};

inline std::string Describe(const ModelMutation& mutation) {
  std::string text = Quoted(mutation.row);
  for (const ModelOperation& op : mutation.operations) {
    static const char* const kNames[] = {"Set",          "DeleteColumn",   "DeleteCell",
                                         "DeleteFamily", "DeleteRow",      "AddToCell",
                                         "MergeToCell",  "DeleteTimeRange"};
    absl::StrAppend(&text, " ", kNames[static_cast<size_t>(op.kind)], "(", op.family, ":",
                    absl::CHexEscape(op.qualifier), "@", op.timestamp.value_or(-1), "=",
                    absl::CHexEscape(ToAbsl(op.value.view())), ")");
  }
  return text;
}

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_CLIENT_WAYS_RANDOM_H_
