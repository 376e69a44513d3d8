// Cells, rows and mutations of the model of a database (support/model.h). Plain values.
#ifndef BIGTABLE_TESTS_SUPPORT_MODEL_CELLS_H_
#define BIGTABLE_TESTS_SUPPORT_MODEL_CELLS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "bigtable/options.h"
#include "bigtable/row_mutation.h"

#include "support/model_rules.h"

namespace bigtable {

// The bytes of a cell. Copies share them, since some are large.
class ModelValue {
 public:
  ModelValue() = default;
  // Implicit, like the constructors of std::string.
  ModelValue(std::string bytes) : bytes_(std::make_shared<const std::string>(std::move(bytes))) {}
  ModelValue(const char* bytes) : ModelValue(std::string(bytes)) {}

  std::string_view view() const { return bytes_ == nullptr ? std::string_view() : *bytes_; }
  operator std::string_view() const { return view(); }
  size_t size() const { return view().size(); }

  friend bool operator==(const ModelValue& a, const ModelValue& b) {
    return a.bytes_ == b.bytes_ || a.view() == b.view();
  }
  friend void PrintTo(const ModelValue& value, std::ostream* out) { *out << value.view(); }

 private:
  std::shared_ptr<const std::string> bytes_;
};

struct ModelOperation {
  enum class Kind {
    kSet,
    kDeleteColumn,
    kDeleteCell,
    kDeleteFamily,
    kDeleteRow,
    kAddToCell,
    kMergeToCell,
    kDeleteTimeRange,  // [timestamp, end)
  };

  bool is_contribution() const { return kind == Kind::kAddToCell || kind == Kind::kMergeToCell; }

  Kind kind = Kind::kSet;
  std::string family;
  std::string qualifier;
  std::optional<int64_t> timestamp;  // a Set without one takes the server time
  ModelValue value;
  int64_t end = 0;  // of a time range
};

// Whether [begin, end) has the timestamp; an end of Timestamp::Max() is no end.
inline bool IsInTimeRange(int64_t timestamp, int64_t begin, int64_t end) {
  return begin <= timestamp && (timestamp < end || end == Timestamp::Max().micros());
}

struct ModelMutation {
  std::string row;
  std::vector<ModelOperation> operations;

  RowMutation Make() const {
    RowMutation mutation(row);
    for (const ModelOperation& op : operations) {
      const std::string column = op.family + ":" + op.qualifier;
      switch (op.kind) {
        case ModelOperation::Kind::kSet:
          if (op.timestamp) {
            mutation.Set(column, Timestamp(*op.timestamp), op.value);
          } else {
            mutation.Set(column, op.value);
          }
          break;
        case ModelOperation::Kind::kDeleteColumn:
          mutation.Delete(column);
          break;
        case ModelOperation::Kind::kDeleteCell:
          mutation.DeleteCell(column, Timestamp(*op.timestamp));
          break;
        case ModelOperation::Kind::kDeleteFamily:
          mutation.DeleteFamily(op.family);
          break;
        case ModelOperation::Kind::kDeleteRow:
          mutation.DeleteRow();
          break;
        case ModelOperation::Kind::kAddToCell:
          mutation.AddToCell(column, Timestamp(*op.timestamp), op.value.view());
          break;
        case ModelOperation::Kind::kMergeToCell:
          mutation.MergeToCell(column, Timestamp(*op.timestamp), op.value.view());
          break;
        case ModelOperation::Kind::kDeleteTimeRange:
          mutation.DeleteTimeRange(column, Timestamp(*op.timestamp), Timestamp(op.end));
          break;
      }
    }
    return mutation;
  }
};

struct ModelCell {
  std::string family;
  std::string qualifier;
  int64_t timestamp = 0;
  ModelValue value;
  std::vector<std::string> labels = {};
  ModelVersion version = {};  // of its write, in the model; not compared

  friend bool operator==(const ModelCell& a, const ModelCell& b) {
    return std::tie(a.family, a.qualifier, a.timestamp, a.value, a.labels) ==
           std::tie(b.family, b.qualifier, b.timestamp, b.value, b.labels);
  }
};

struct ModelRow {
  std::string key;
  std::vector<ModelCell> cells;

  friend bool operator==(const ModelRow&, const ModelRow&) = default;
};

// What the limits of a stream leave of its rows.
inline void LimitRows(const ReadOptions& options, std::vector<ModelRow>* rows) {
  const auto row_limit = static_cast<size_t>(options.row_limit);
  if (row_limit > 0 && rows->size() > row_limit) rows->resize(row_limit);
  auto left = static_cast<size_t>(options.cell_limit);
  if (left == 0) return;
  for (size_t i = 0; i < rows->size(); ++i) {
    std::vector<ModelCell>& cells = (*rows)[i].cells;
    if (cells.size() < left) {
      left -= cells.size();
      continue;
    }
    cells.resize(left);
    return rows->resize(i + 1);
  }
}

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_MODEL_CELLS_H_
