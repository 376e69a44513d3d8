// What the databases of tests/crossings hold: mutations over so few rows, columns and timestamps
// that neighbours collide all the time, and their model. Timestamps are whole milliseconds, as they
// are through a server. Plain value.
#ifndef BIGTABLE_TESTS_CROSSINGS_CROSSED_CONTENT_H_
#define BIGTABLE_TESTS_CROSSINGS_CROSSED_CONTENT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"

#include "bigtable/bigtable.h"

#include "client/model_mutations.h"
#include "support/model.h"
#include "support/random.h"

namespace bigtable {

class CrossedContent {
 public:
  static constexpr int64_t kMilli = 1000;
  static constexpr int64_t kFirstMicros = 2000 * kMilli;
  static constexpr int64_t kLastMicros = 2003 * kMilli;

  static const std::vector<std::string>& Rows() {  // in order
    static const std::vector<std::string> rows = {"a", "ab", "b"};
    return rows;
  }
  static const std::vector<std::string>& Qualifiers() {
    static const std::vector<std::string> qualifiers = {"", "o", "p", "q"};
    return qualifiers;
  }

  // `most`: random mutations in each part. Few leave rows that lack what their neighbours have.
  CrossedContent(uint64_t seed, int64_t most) : model_(MakeSchema()) {
    Random random(seed);
    // A row without the column that the next row has.
    Add({"a", {{.family = "f", .qualifier = "o", .timestamp = kMilli, .value = "a"}}},
        kFirstMicros);
    Add({"b", {{.family = "f", .qualifier = "q", .timestamp = kMilli, .value = "b"}}},
        kFirstMicros);
    AddSome(random, most, kFirstMicros);
    begins_late_ = mutations_.size();
    AddSome(random, most, kLastMicros);
  }

  static TableSchema MakeSchema() {
    TableSchema schema;
    schema.split.tablet_size = 0;
    schema.locality_groups["default"] = {};
    schema.locality_groups["second"] = {};
    schema.families["f"] = {};
    schema.families["fg"] = {.locality_group = "second", .gc = GcRule::MaxVersions(2)};
    // What is at 1000 to 1002 milliseconds expires between the two parts.
    schema.families["e"] = {.gc = GcRule::MaxAge(absl::Seconds(1))};
    // The newest version stays, and the others expire.
    schema.families["i"] = {
        .locality_group = "second",
        .gc = GcRule::Intersection(GcRule::MaxVersions(1), GcRule::MaxAge(absl::Seconds(1)))};
    schema.families["m"] = {.locality_group = "second", .value_type = ValueType::kInt64Max};
    schema.families["n"] = {.value_type = ValueType::kInt64Sum};
    return schema;
  }

  // The two parts, in order; a snapshot is taken between them.
  const std::vector<ModelMutation>& mutations() const { return mutations_; }
  size_t begins_late() const { return begins_late_; }
  uint64_t early_sequence() const { return begins_late_; }
  uint64_t last_sequence() const { return mutations_.size(); }
  const ModelTable& model() const { return model_; }

 private:
  void Add(const ModelMutation& mutation, int64_t micros) {
    mutations_.push_back(mutation);
    model_.Apply(mutations_.size(), micros, mutation);
  }
  void AddSome(Random& random, int64_t most, int64_t micros) {
    for (int64_t i = random.Between(most / 2, most); i > 0; --i) {
      ModelMutation mutation;
      mutation.row = random.Pick(Rows());
      for (int64_t n = random.Between(1, 3); n > 0; --n) {
        mutation.operations.push_back(Operation(random, micros));
      }
      Add(mutation, micros);
    }
  }
  ModelOperation Operation(Random& random, int64_t micros) const {
    using Kind = ModelOperation::Kind;
    static const std::vector<std::string> kFamilies = {"f", "f", "fg", "e", "i", "m", "n"};
    static const std::vector<std::string> kValues = {"", "a", "q", "f0"};
    static const std::vector<Kind> kDeletions = {Kind::kDeleteCell,   Kind::kDeleteCell,
                                                 Kind::kDeleteColumn, Kind::kDeleteTimeRange,
                                                 Kind::kDeleteFamily, Kind::kDeleteRow};
    ModelOperation op;
    op.kind = random.OneIn(5) ? random.Pick(kDeletions) : Kind::kSet;
    if (op.kind == Kind::kDeleteRow) return op;
    op.family = random.Pick(kFamilies);
    if (op.kind == Kind::kDeleteFamily) return op;
    op.qualifier = random.Pick(Qualifiers());
    if (op.kind == Kind::kDeleteColumn) return op;
    const bool is_recent = op.family == "e" || (op.family == "i" && random.OneIn(2));
    op.timestamp = kMilli * (is_recent ? random.Between(1000, 1005) : random.Between(1, 3));
    if (op.kind == Kind::kDeleteTimeRange) {
      op.end = random.OneIn(3) ? Timestamp::Max().micros()
                               : *op.timestamp + random.Between(1, 2) * kMilli;
    }
    if (op.kind != Kind::kSet) return op;
    op.value = random.Pick(kValues);
    FitToFamily(random, model_, micros, &op);
    return op;
  }

  ModelTable model_;
  std::vector<ModelMutation> mutations_;  // their sequence numbers in the model are 1, 2, ...
  size_t begins_late_ = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_CROSSINGS_CROSSED_CONTENT_H_
