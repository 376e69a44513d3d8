// Observers of the random tests, as functions of what they see (ObserveByRule). The engine calls
// them through model/model_engine_observers.h, with what its reads return, and the model of a
// database calls them through support/model_write.h, with what its own reads return. So a wrong
// read of the engine becomes a wrong addition.
//
// Observed tables have the families "s", of bytes, and "n", of sums. The table "ix" has the family
// "i" too.
#ifndef BIGTABLE_TESTS_SUPPORT_MODEL_OBSERVER_RULES_H_
#define BIGTABLE_TESTS_SUPPORT_MODEL_OBSERVER_RULES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/read_modify_write.h"

#include "base/status.h"
#include "base/strings.h"
#include "support/model_cells.h"

namespace bigtable {

// Adds to the row what its operations are and how many mutations there were, and rewrites some
// values. Reads nothing.
inline constexpr const char* kModelStamp = "model.stamp";
// Refuses some mutations by their first operation. Reads nothing.
inline constexpr const char* kModelRefuse = "model.refuse";
// Refuses mutations that make a row too wide, with what observers before it have added.
inline constexpr const char* kModelLimit = "model.limit";
// Keeps an index of the first cells of the rows in table "ix".
inline constexpr const char* kModelIndex = "model.index";
// Counts mutations in table "ix". Reads nothing.
inline constexpr const char* kModelCount = "model.count";
// Its calls of After are recorded.
inline constexpr const char* kModelRecord = "model.record";

inline constexpr const char* kModelIndexTable = "ix";

// Whether an observer reads the observed row with the mutation. The times that a server gives to
// its cells are not known then.
inline bool ReadTheMutation(const std::vector<std::string>& observers) {
  return std::any_of(observers.begin(), observers.end(), [](const std::string& name) {
    return name == kModelLimit || name == kModelIndex;
  });
}

// What an observer may read.
class ModelObserverReads {
 public:
  using Cells = absl::StatusOr<std::vector<ModelCell>>;

  virtual ~ModelObserverReads() = default;
  // Of the observed row. `newest`: only the newest cell of each column.
  virtual Cells Before(bool newest) = 0;
  virtual Cells After(bool newest) = 0;
  virtual Cells ReadRow(const std::string& table, const std::string& row) = 0;
  virtual absl::StatusOr<size_t> CountRows(const std::string& table, const std::string& prefix) = 0;
};

struct ModelAddition {
  std::string table;
  ModelMutation mutation;
};

namespace model_observer_rules {

using Kind = ModelOperation::Kind;

inline ModelOperation SetOf(std::string family, std::string qualifier, int64_t timestamp,
                            std::string value) {
  ModelOperation op;
  op.family = std::move(family);
  op.qualifier = std::move(qualifier);
  op.timestamp = timestamp;
  op.value = std::move(value);
  return op;
}
inline ModelOperation OneMore() {
  ModelOperation op = SetOf("n", "writes", 1, EncodeBigEndian(1));
  op.kind = Kind::kAddToCell;
  return op;
}

inline ModelMutation Stamp(const ModelMutation& mutation) {
  ModelMutation stamp{mutation.row, {}};
  std::string kinds;
  for (const ModelOperation& op : mutation.operations) {
    kinds += static_cast<char>('0' + static_cast<int>(op.kind));
    if (op.kind == Kind::kSet && op.timestamp && op.value.view().starts_with("f0")) {
      stamp.operations.push_back(SetOf(op.family, op.qualifier, *op.timestamp, "rewritten"));
    }
  }
  const auto count = static_cast<int64_t>(kinds.size());
  stamp.operations.push_back(SetOf("s", "kinds", count, std::move(kinds)));
  stamp.operations.push_back(OneMore());
  return stamp;
}

// The row of the index for a row with these cells; empty if there are none.
inline std::string IndexKey(const std::string& row, const std::vector<ModelCell>& cells) {
  if (cells.empty()) return "";
  return Cat(cells[0].value.view().substr(0, 1), "/", row.substr(0, 1));
}
inline absl::Status Index(const ModelMutation& mutation, ModelObserverReads* reads,
                          std::vector<ModelAddition>* additions) {
  BT_ASSIGN_OR_RETURN(const std::vector<ModelCell> before, reads->Before(true));
  BT_ASSIGN_OR_RETURN(const std::vector<ModelCell> after, reads->After(true));
  const std::string old_key = IndexKey(mutation.row, before);
  const std::string new_key = IndexKey(mutation.row, after);
  if (old_key == new_key) return absl::OkStatus();
  const std::string qualifier = mutation.row.substr(0, 50);
  if (!old_key.empty()) {
    ModelOperation op;
    op.kind = Kind::kDeleteColumn;
    op.family = "i";
    op.qualifier = qualifier;
    additions->push_back({kModelIndexTable, {old_key, {op}}});
  }
  if (new_key.empty()) return absl::OkStatus();
  BT_ASSIGN_OR_RETURN(const std::vector<ModelCell> there,
                      reads->ReadRow(kModelIndexTable, new_key));
  BT_ASSIGN_OR_RETURN(const size_t rows, reads->CountRows(kModelIndexTable, new_key.substr(0, 2)));
  additions->push_back(
      {kModelIndexTable,
       {new_key, {SetOf("i", qualifier, 2, Cat(there.size(), " cells, ", rows, " rows"))}}});
  return absl::OkStatus();
}

inline absl::Status Limit(ModelObserverReads* reads) {
  BT_ASSIGN_OR_RETURN(const std::vector<ModelCell> after, reads->After(false));
  if (after.size() <= 20) return absl::OkStatus();
  BT_ASSIGN_OR_RETURN(const std::vector<ModelCell> before, reads->Before(false));
  if (after.size() <= before.size() + 4) return absl::OkStatus();
  return absl::OutOfRangeError(Cat("refused: ", before.size(), " to ", after.size(), " cells"));
}

}  // namespace model_observer_rules

// Calls the observer of this name for a mutation of the table. An error refuses the mutation.
inline absl::Status ObserveByRule(std::string_view observer, const std::string& table,
                                  const ModelMutation& mutation, ModelObserverReads* reads,
                                  std::vector<ModelAddition>* additions) {
  namespace rules = model_observer_rules;
  if (observer == kModelStamp) {
    additions->push_back({table, rules::Stamp(mutation)});
  } else if (observer == kModelRefuse) {
    const ModelOperation& first = mutation.operations.front();
    const std::string_view value = first.value.view();
    // The last are numbers that increments of a cell come to.
    if (first.kind == ModelOperation::Kind::kSet &&
        (value == "q" || value == "a" || (value.size() == 8 && value.back() == 2))) {
      return absl::OutOfRangeError("refused: the value");
    }
    // Additions to the index.
    if (first.family == "i" && (mutation.row.starts_with("f/") || mutation.row.starts_with("a/"))) {
      return absl::OutOfRangeError("refused: an entry of the index");
    }
  } else if (observer == kModelLimit) {
    return rules::Limit(reads);
  } else if (observer == kModelIndex) {
    return rules::Index(mutation, reads, additions);
  } else if (observer == kModelCount) {
    additions->push_back({kModelIndexTable, {"count", {rules::OneMore()}}});
  }
  return absl::OkStatus();
}

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_MODEL_OBSERVER_RULES_H_
