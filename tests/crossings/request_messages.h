// The filters, row sets and mutations of the model as messages of Google's Bigtable API, by none of
// the code of bigtable::remote, and rows of responses as rows of the model.
#ifndef BIGTABLE_TESTS_CROSSINGS_REQUEST_MESSAGES_H_
#define BIGTABLE_TESTS_CROSSINGS_REQUEST_MESSAGES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/bigtable/v2/bigtable.pb.h"
#include "google/bigtable/v2/data.pb.h"

#include "bigtable/bigtable.h"

#include "base/status.h"
#include "base/strings.h"
#include "crossings/crossed_content.h"
#include "support/model.h"
#include "support/model_filter.h"

namespace bigtable::requests {

namespace v2 = google::bigtable::v2;

// --- Ends of ranges ---

// An end of a range, and whether the range has it. [begin, end) has texts that end with a zero byte
// where it is the next text after one: `is_shortest` makes these the text itself, open at the begin
// and closed at the end.
struct RangeEnd {
  std::string text;
  bool is_shortened = false;
};
inline RangeEnd EndOf(std::string text, bool is_shortest) {
  const bool is_next = is_shortest && !text.empty() && text.back() == '\0';
  if (is_next) text.pop_back();
  return {std::move(text), is_next};
}

inline void SetRange(const RowRange& range, bool is_shortest, v2::RowRange* message) {
  const RangeEnd begin = EndOf(range.begin(), is_shortest);
  if (begin.is_shortened) {
    message->set_start_key_open(begin.text);
  } else if (!begin.text.empty()) {
    message->set_start_key_closed(begin.text);
  }
  if (!range.end().has_value()) return;
  const RangeEnd end = EndOf(*range.end(), is_shortest);
  if (end.is_shortened) {
    message->set_end_key_closed(end.text);
  } else {
    message->set_end_key_open(end.text);
  }
}
inline void SetRange(const ModelFilter& filter, bool is_shortest, v2::ColumnRange* message) {
  message->set_family_name(filter.family);
  const RangeEnd begin = EndOf(filter.begin, is_shortest);
  if (begin.is_shortened) {
    message->set_start_qualifier_open(begin.text);
  } else {
    message->set_start_qualifier_closed(begin.text);
  }
  if (filter.end.empty()) return;
  const RangeEnd end = EndOf(filter.end, is_shortest);
  if (end.is_shortened) {
    message->set_end_qualifier_closed(end.text);
  } else {
    message->set_end_qualifier_open(end.text);
  }
}
inline void SetRange(const ModelFilter& filter, bool is_shortest, v2::ValueRange* message) {
  const RangeEnd begin = EndOf(filter.begin, is_shortest);
  if (begin.is_shortened) {
    message->set_start_value_open(begin.text);
  } else {
    message->set_start_value_closed(begin.text);
  }
  if (filter.end.empty()) return;
  const RangeEnd end = EndOf(filter.end, is_shortest);
  if (end.is_shortened) {
    message->set_end_value_closed(end.text);
  } else {
    message->set_end_value_open(end.text);
  }
}

// Single rows are keys, unless ends are shortest.
inline v2::RowSet RowSetOf(const RowSet& rows, bool is_shortest) {
  v2::RowSet message;
  for (const RowRange& range : rows.ranges()) {
    if (range == RowRange::Single(range.begin()) && !is_shortest) {
      message.add_row_keys(range.begin());
    } else {
      SetRange(range, is_shortest, message.add_row_ranges());
    }
  }
  return message;
}

// --- Filters ---

inline v2::RowFilter FilterOf(const ModelFilter& filter, bool is_shortest);

// A column, or those of a prefix.
inline void SetColumns(const ModelFilter& filter, v2::ColumnRange* message) {
  message->set_family_name(filter.family);
  message->set_start_qualifier_closed(filter.begin);
  if (filter.kind == ModelFilter::Kind::kColumn) {
    message->set_end_qualifier_closed(filter.begin);
  } else if (!filter.begin.empty()) {
    std::string end = filter.begin;
    ++end.back();  // the prefixes of the table do not end with the last byte
    message->set_end_qualifier_open(end);
  }
}
inline void SetTimes(const ModelFilter& filter, v2::TimestampRange* message) {
  message->set_start_timestamp_micros(filter.from_micros);
  if (filter.to_micros == Timestamp::Max().micros()) return;
  message->set_end_timestamp_micros(filter.to_micros);
}
// A filter of filters.
inline void SetParts(const ModelFilter& filter, bool is_shortest, v2::RowFilter* message) {
  if (filter.kind == ModelFilter::Kind::kCondition) {
    auto* const condition = message->mutable_condition();
    *condition->mutable_predicate_filter() = FilterOf(filter.filters[0], is_shortest);
    *condition->mutable_true_filter() = FilterOf(filter.filters[1], is_shortest);
    *condition->mutable_false_filter() = FilterOf(filter.filters[2], is_shortest);
    return;
  }
  for (const ModelFilter& part : filter.filters) {
    *(filter.kind == ModelFilter::Kind::kChain ? message->mutable_chain()->add_filters()
                                               : message->mutable_interleave()->add_filters()) =
        FilterOf(part, is_shortest);
  }
}

inline v2::RowFilter FilterOf(const ModelFilter& filter, bool is_shortest) {
  using Kind = ModelFilter::Kind;
  const std::string regex = ModelRegexes()[filter.regex].text;
  const auto n = static_cast<int32_t>(filter.n);
  v2::RowFilter message;
  switch (filter.kind) {
    case Kind::kPassAll:
      message.set_pass_all_filter(true);
      break;
    case Kind::kBlockAll:
      message.set_block_all_filter(true);
      break;
    case Kind::kLatest:
      message.set_cells_per_column_limit_filter(n);
      break;
    case Kind::kFamily:
      message.set_family_name_regex_filter(filter.family);
      break;
    case Kind::kFamilyRegex:
      message.set_family_name_regex_filter(regex);
      break;
    case Kind::kColumn:
    case Kind::kColumnPrefix:
      SetColumns(filter, message.mutable_column_range_filter());
      break;
    case Kind::kColumnRange:
      SetRange(filter, is_shortest, message.mutable_column_range_filter());
      break;
    case Kind::kColumnRegex:
      message.set_column_qualifier_regex_filter(regex);
      break;
    case Kind::kTimestampRange:
      SetTimes(filter, message.mutable_timestamp_range_filter());
      break;
    case Kind::kRowKeysRegex:
      message.set_row_key_regex_filter(regex);
      break;
    case Kind::kValueRegex:
      message.set_value_regex_filter(regex);
      break;
    case Kind::kCellsRowLimit:
      message.set_cells_per_row_limit_filter(n);
      break;
    case Kind::kCellsRowOffset:
      message.set_cells_per_row_offset_filter(n);
      break;
    case Kind::kStripValue:
      message.set_strip_value_transformer(true);
      break;
    case Kind::kValueRange:
      SetRange(filter, is_shortest, message.mutable_value_range_filter());
      break;
    case Kind::kRowSample:
      message.set_row_sample_filter(filter.probability);
      break;
    case Kind::kApplyLabel:
      message.set_apply_label_transformer(filter.begin);
      break;
    case Kind::kSink:
      message.set_sink(true);
      break;
    case Kind::kChain:
    case Kind::kInterleave:
    case Kind::kCondition:
      SetParts(filter, is_shortest, &message);
      break;
  }
  return message;
}

// --- Mutations ---

template <typename Change>
void SetContribution(const ModelOperation& op, Change* change) {
  change->set_family_name(op.family);
  change->mutable_column_qualifier()->set_raw_value(op.qualifier);
  change->mutable_timestamp()->set_raw_timestamp_micros(*op.timestamp);
}
inline v2::Mutation::DeleteFromColumn DeletionOf(const ModelOperation& op) {
  v2::Mutation::DeleteFromColumn deletion;
  deletion.set_family_name(op.family);
  deletion.set_column_qualifier(op.qualifier);
  return deletion;
}
inline v2::Mutation MutationOf(const ModelOperation& op) {
  using Kind = ModelOperation::Kind;
  v2::Mutation message;
  switch (op.kind) {
    case Kind::kSet: {
      auto* const set = message.mutable_set_cell();
      set->set_family_name(op.family);
      set->set_column_qualifier(op.qualifier);
      set->set_timestamp_micros(*op.timestamp);
      set->set_value(std::string(op.value.view()));
      break;
    }
    case Kind::kDeleteColumn:
      *message.mutable_delete_from_column() = DeletionOf(op);
      break;
    case Kind::kDeleteCell:
    case Kind::kDeleteTimeRange: {
      auto* const deletion = message.mutable_delete_from_column();
      *deletion = DeletionOf(op);
      const bool is_cell = op.kind == Kind::kDeleteCell;
      SetTimes({.from_micros = *op.timestamp,
                .to_micros = is_cell ? *op.timestamp + CrossedContent::kMilli : op.end},
               deletion->mutable_time_range());
      break;
    }
    case Kind::kDeleteFamily:
      message.mutable_delete_from_family()->set_family_name(op.family);
      break;
    case Kind::kDeleteRow:
      message.mutable_delete_from_row();
      break;
    case Kind::kAddToCell:
      SetContribution(op, message.mutable_add_to_cell());
      message.mutable_add_to_cell()->mutable_input()->set_int_value(
          DecodeBigEndian(op.value.view()).value());
      break;
    case Kind::kMergeToCell:
      SetContribution(op, message.mutable_merge_to_cell());
      message.mutable_merge_to_cell()->mutable_input()->set_raw_value(std::string(op.value.view()));
      break;
  }
  return message;
}

// --- Responses ---

// Rows of the chunks of a ReadRows call, as the API defines them. The values of the content fit
// into one chunk each. One thread at a time.
class ChunkReader {
 public:
  absl::Status Add(const v2::ReadRowsResponse::CellChunk& chunk) {
    if (chunk.reset_row() || chunk.value_size() != 0) return Bad("a row in pieces");
    if (is_within_row_ == !chunk.row_key().empty()) return Bad("a key that a chunk must not have");
    if (!is_within_row_) rows_.push_back({chunk.row_key(), {}});
    std::vector<ModelCell>& cells = rows_.back().cells;
    if (cells.empty() && !chunk.has_family_name()) return Bad("a row without a family");
    if (chunk.has_family_name() && !chunk.has_qualifier()) return Bad("a family without a column");
    ModelCell cell;
    if (!cells.empty()) {
      cell.family = cells.back().family;
      cell.qualifier = cells.back().qualifier;
    }
    if (chunk.has_family_name()) cell.family = chunk.family_name().value();
    if (chunk.has_qualifier()) cell.qualifier = chunk.qualifier().value();
    cell.timestamp = chunk.timestamp_micros();
    cell.value = chunk.value();
    cell.labels = {chunk.labels().begin(), chunk.labels().end()};
    cells.push_back(std::move(cell));
    is_within_row_ = !chunk.commit_row();
    return absl::OkStatus();
  }
  // All of them, at the end.
  absl::StatusOr<std::vector<ModelRow>> Take() {
    if (is_within_row_) return Bad("a row without an end");
    return std::move(rows_);
  }

 private:
  static absl::Status Bad(std::string_view what) {
    return absl::InternalError(Cat("a ReadRows response has ", what));
  }

  bool is_within_row_ = false;
  std::vector<ModelRow> rows_;
};

inline ModelRow RowOf(const v2::Row& message) {
  ModelRow row{message.key(), {}};
  for (const v2::Family& family : message.families()) {
    for (const v2::Column& column : family.columns()) {
      for (const v2::Cell& cell : column.cells()) {
        row.cells.push_back({family.name(),
                             column.qualifier(),
                             cell.timestamp_micros(),
                             cell.value(),
                             {cell.labels().begin(), cell.labels().end()}});
      }
    }
  }
  return row;
}

}  // namespace bigtable::requests

#endif  // BIGTABLE_TESTS_CROSSINGS_REQUEST_MESSAGES_H_
