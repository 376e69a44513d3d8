// What a case of tests/crossings must return, according to the model.
#ifndef BIGTABLE_TESTS_CROSSINGS_EXPECTED_ANSWER_H_
#define BIGTABLE_TESTS_CROSSINGS_EXPECTED_ANSWER_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bigtable/bigtable.h"

#include "crossings/crossed_content.h"
#include "crossings/crossed_database.h"
#include "crossings/crossing.h"
#include "crossings/crossing_calls.h"
#include "model/model_mutations.h"
#include "support/model.h"
#include "support/model_filter.h"

namespace bigtable {

class ExpectedAnswer {
 public:
  // Both outlive this.
  ExpectedAnswer(const Crossing* crossing, const CrossedContent* content)
      : crossing_(*crossing), model_(content->model()) {
    const bool is_old = crossing->at == At::kOldSnapshot;
    sequence_ = is_old ? content->early_sequence() : content->last_sequence();
    micros_ = is_old ? CrossedContent::kFirstMicros : CrossedContent::kLastMicros;
    for (const ModelMutation& mutation : crossing->own_writes) Add(mutation, &model_);
  }

  std::vector<ModelRow> Get() const {
    switch (crossing_.answer) {
      case Answer::kStream:
        return Stream();
      case Answer::kSingleRows:
      case Answer::kSingleRowsAfter:
        return SingleRows();
      case Answer::kByFamily:
        return ByFamily();
      case Answer::kNewest:
        return Newest();
      case Answer::kMatches:
        return Matches();
      case Answer::kModified:
        return Modified();
      case Answer::kTablets:
        return Tablets();
    }
    return {};
  }

 private:
  // Own writes have larger numbers than all others.
  void Add(const ModelMutation& mutation, ModelTable* model) {
    model->Apply(++sequence_, micros_, mutation);
  }

  std::vector<ModelCell> CellsOf(const std::string& row, const ModelFilter& filter,
                                 const ModelTable& model, uint64_t sequence) const {
    return filter.Apply(row, model.Read(row, sequence, micros_));
  }
  // Of these rows, those that are asked for and have cells.
  std::vector<ModelRow> RowsOf(const std::vector<std::string>& keys,
                               const ModelFilter& filter) const {
    std::vector<ModelRow> rows;
    for (const std::string& key : keys) {
      if (!IsAsked(crossing_, key)) continue;
      ModelRow row{key, CellsOf(key, filter, model_, sequence_)};
      if (!row.cells.empty()) rows.push_back(std::move(row));
    }
    return rows;
  }

  std::vector<ModelRow> Stream() const {
    std::vector<ModelRow> rows = RowsOf(model_.RowKeys(), crossing_.filter);
    if (crossing_.options.reverse) std::reverse(rows.begin(), rows.end());
    LimitRows(crossing_.options, &rows);
    if (crossing_.resumed == Resumed::kWithinRows) {
      for (ModelRow& row : rows) row.cells.resize(1);
    }
    return rows;
  }
  std::vector<ModelRow> SingleRows() const {
    if (crossing_.answer == Answer::kSingleRows) {
      std::vector<ModelRow> rows = RowsOf(CrossedContent::Rows(), crossing_.filter);
      const auto most = static_cast<size_t>(crossing_.options.cell_limit);
      for (ModelRow& row : rows) {
        if (most > 0 && row.cells.size() > most) row.cells.resize(most);
      }
      return rows;
    }
    std::vector<ModelRow> rows;
    for (const std::string& key : CrossedContent::Rows()) {
      if (!IsAsked(crossing_, key)) continue;
      ModelTable model = model_;
      model.Apply(sequence_ + 1, micros_, ObservedIn(key));
      ModelRow row{key, CellsOf(key, crossing_.filter, model, sequence_ + 1)};
      if (!row.cells.empty()) rows.push_back(std::move(row));
    }
    return rows;
  }
  std::vector<ModelRow> ByFamily() const {
    std::vector<RowRange> ranges = crossing_.rows.Normalized();
    if (crossing_.options.reverse) std::reverse(ranges.begin(), ranges.end());
    std::vector<ModelRow> all;
    for (const auto& [family, unused] : model_.schema().families) {
      for (const RowRange& range : ranges) {
        for (ModelRow& row : ScanOf(family, range)) all.push_back(std::move(row));
      }
    }
    return all;
  }
  // What a stream of a scanner returns of one range, to which the limits apply.
  std::vector<ModelRow> ScanOf(const std::string& family, const RowRange& range) const {
    using Kind = ModelFilter::Kind;
    ModelFilter columns = crossing_.stream_columns;
    columns.family = family;
    const ModelFilter chain{
        .kind = Kind::kChain,
        .filters = {{.kind = Kind::kFamily, .family = family}, columns, crossing_.filter}};
    std::vector<ModelRow> rows = RowsOf(model_.RowKeys(), chain);
    std::erase_if(rows, [&range](const ModelRow& row) { return !range.Contains(row.key); });
    if (crossing_.options.reverse) std::reverse(rows.begin(), rows.end());
    LimitRows(crossing_.options, &rows);
    for (ModelRow& row : rows) {
      if (crossing_.next_rows) row.cells.resize(1);
      for (ModelCell& cell : row.cells) cell.labels.clear();
    }
    return rows;
  }
  std::vector<ModelRow> Newest() const {
    std::vector<ModelRow> all;
    for (const ModelRow& row :
         RowsOf(CrossedContent::Rows(), {.kind = ModelFilter::Kind::kLatest, .n = 1})) {
      for (ModelCell cell : row.cells) {
        cell.timestamp = 0;
        all.push_back({row.key, {std::move(cell)}});
      }
    }
    return all;
  }
  std::vector<ModelRow> Matches() const {
    std::vector<ModelRow> rows = RowsOf(CrossedContent::Rows(), crossing_.filter);
    for (ModelRow& row : rows) row.cells.clear();
    return rows;
  }

  std::vector<ModelRow> Modified() const {
    std::vector<ModelRow> all;
    for (const std::string& key : CrossedContent::Rows()) {
      if (!IsAsked(crossing_, key)) continue;
      std::map<std::pair<std::string, std::string>, std::string> columns;
      for (const ModelCell& cell :
           CellsOf(key, {.kind = ModelFilter::Kind::kLatest, .n = 1}, model_, sequence_)) {
        columns[{cell.family, cell.qualifier}] = std::string(cell.value.view());
      }
      std::map<std::pair<std::string, std::string>, std::string> modified;
      for (const ModifyingRule& rule : ModifyingRules()) {
        std::string& value = columns[{rule.family, rule.qualifier}];
        value += rule.appended;
        if (rule.appended.empty()) {
          value = EncodeBigEndian(DecodeBigEndian(value).value_or(0) + rule.amount);
        }
        modified[{rule.family, rule.qualifier}] = value;
      }
      ModelRow row{key, {}};
      for (const auto& [column, value] : modified) {
        row.cells.push_back({column.first, column.second, 0, value});
      }
      all.push_back(std::move(row));
    }
    return all;
  }
  std::vector<ModelRow> Tablets() const {
    std::vector<ModelRow> all;
    for (const std::string& key : CrossedContent::Rows()) {
      if (BeginsTablet(crossing_.place, key)) all.push_back({key, {}});
    }
    all.push_back({"", {}});
    return all;
  }

  const Crossing& crossing_;
  ModelTable model_;
  uint64_t sequence_ = 0;
  int64_t micros_ = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_CROSSINGS_EXPECTED_ANSWER_H_
