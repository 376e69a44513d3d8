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

#include "model/model_mutations.h"
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

  // What is left of the rows.
  enum class Left {
    kAny,    // what random mutations leave, which may be no row
    kWhole,  // and in each part, after them, all rows with cells at the ends of the table's ranges
  };

  // `most`: random mutations in each part. Few leave rows that lack what their neighbours have.
  CrossedContent(uint64_t seed, int64_t most, Left left) : model_(MakeSchema()) {
    Random random(seed);
    // A row without the column that the next row has.
    Add(Set("a", "f", "o", 1, "a"), kFirstMicros);
    Add(Set("b", "f", "q", 1, "b"), kFirstMicros);
    AddSome(random, most, kFirstMicros);
    if (left == Left::kWhole) AddWholeRows(kFirstMicros);
    begins_late_ = mutations_.size();
    AddSome(random, most, kLastMicros);
    if (left == Left::kWhole) {
      AddWholeRows(kLastMicros);
      Add(Set("a", "fg", "o", 2, "f0"), kLastMicros);
    }
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
    schema.families["d"] = {.value_type = ValueType::kDoubleSum};
    schema.families["l"] = {.locality_group = "second", .value_type = ValueType::kDoubleMin};
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
  static ModelMutation Set(const std::string& row, const std::string& family,
                           const std::string& qualifier, int64_t millis, const char* value) {
    return {
        row,
        {{.family = family, .qualifier = qualifier, .timestamp = millis * kMilli, .value = value}}};
  }
  static ModelMutation Delete(ModelOperation::Kind kind, const std::string& row,
                              const std::string& family, const std::string& qualifier = "",
                              int64_t millis = 0, int64_t end = 0) {
    return {row,
            {{.kind = kind,
              .family = family,
              .qualifier = qualifier,
              .timestamp = millis * kMilli,
              .end = end * kMilli}}};
  }
  // Three rows, each of which lacks a column that its neighbours have. Each deletion takes
  // something, and leaves something beside it.
  void AddWholeRows(int64_t micros) {
    using Kind = ModelOperation::Kind;
    for (const ModelMutation& mutation : {Set("a", "f", "o", 1, "a"),
                                          Set("a", "f", "o", 2, "f0"),
                                          Set("a", "f", "o", 3, ""),
                                          Delete(Kind::kDeleteCell, "a", "f", "o", 2),
                                          Set("a", "f", "p", 2, "q"),
                                          Set("a", "e", "o", 1004, "f0"),
                                          Delete(Kind::kDeleteFamily, "a", "e"),
                                          Set("a", "fg", "p", 1, "q"),
                                          Delete(Kind::kDeleteColumn, "a", "fg", "p"),
                                          Set("a", "fg", "q", 1, "a"),
                                          Set("ab", "f", "p", 1, "q"),
                                          Set("ab", "f", "p", 2, "f0"),
                                          Set("ab", "f", "p", 3, "a"),
                                          Delete(Kind::kDeleteTimeRange, "ab", "f", "p", 2, 3),
                                          Set("ab", "f", "q", 2, "a"),
                                          Set("ab", "fg", "", 1, "q"),
                                          Set("ab", "i", "o", 1003, ""),
                                          Set("b", "f", "o", 2, "q"),
                                          Set("b", "f", "q", 1, ""),
                                          Set("b", "f", "q", 3, "a"),
                                          Set("b", "f", "", 2, "f0"),
                                          Set("b", "e", "q", 1004, "a")}) {
      Add(mutation, micros);
    }
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
    static const std::vector<std::string> kFamilies = {"f", "f", "fg", "e", "i",
                                                       "m", "n", "d",  "d", "l"};
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
    if (op.family == "d") {  // few cells, so that there are contributions to merge
      op.qualifier = "q";
      op.timestamp = kMilli;
    }
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
