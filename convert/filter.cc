#include "convert/filter.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "convert/invalid.h"
#include "convert/keys.h"
#include "convert/limits.h"
#include "convert/regex.h"
#include "convert/time_range.h"
#include "read/filter_expressions.h"

namespace bigtable::convert {
namespace {

using google::bigtable::v2::ColumnRange;
using google::bigtable::v2::RowFilter;
using google::bigtable::v2::ValueRange;

// The instructions that the regular expressions of a filter may still have: a filter that is too
// large is refused before it is in memory as a whole.
class FilterInstructions {
 public:
  absl::Status Take(const Filter& filter, std::string_view regex) {
    taken_ += filter.program_size();
    if (taken_ <= kMostFilterInstructions) return absl::OkStatus();
    return Invalid("the regular expressions of a filter must have at most ",
                   kMostFilterInstructions, " instructions together, and with ", Quoted(regex),
                   " they have ", taken_);
  }

 private:
  int64_t taken_ = 0;
};

// Where a filter is in the tree.
struct FilterPlace {
  int depth;  // how many filters it is nested in
  FilterInstructions* instructions;

  FilterPlace Below() const { return {depth + 1, instructions}; }
};

absl::StatusOr<Filter> ConvertFilter(const RowFilter& filter, FilterPlace place);

absl::StatusOr<Filter> Checked(Filter filter) {
  if (!filter.status().ok()) return filter.status();
  return filter;
}

// A regular expression, of which `make` makes the filter. The error has the expression as it was
// given.
absl::StatusOr<Filter> ConvertRegex(Filter (*make)(std::string_view), std::string_view regex,
                                    FilterPlace place) {
  Filter filter = make(regex);
  const std::string engines = EngineRegex(regex);
  if (filter.status().ok() && engines != regex) filter = make(engines);
  BT_RETURN_IF_ERROR(filter.status());
  BT_RETURN_IF_ERROR(place.instructions->Take(filter, regex));
  return filter;
}

// The one text that the expression matches. Null if it has an operator.
std::optional<std::string> LiteralOf(std::string_view regex) {
  constexpr std::string_view kOperators = ".*+?()[]{}|^$";
  constexpr std::string_view kPunctuation = "!\"#%&',-/:;<=>@`~\\.*+?()[]{}|^$";
  std::string text;
  for (size_t i = 0; i < regex.size(); ++i) {
    if (kOperators.find(regex[i]) != std::string_view::npos) return std::nullopt;
    if (regex[i] == '\\') {
      if (++i == regex.size() || kPunctuation.find(regex[i]) == std::string_view::npos) {
        return std::nullopt;
      }
    }
    text += regex[i];
  }
  return text;
}

absl::StatusOr<Filter> ConvertFamily(std::string_view regex, FilterPlace place) {
  if (regex.find(':') != std::string_view::npos) {
    return Invalid("a regular expression of families must not contain a colon, and is ",
                   Quoted(regex));
  }
  const std::optional<std::string> name = LiteralOf(regex);
  // Else it matches no family, whatever the table has.
  if (name.has_value() && CheckFamilyName(*name).ok()) return Filter::Family(*name);
  return ConvertRegex(&Filter::FamilyRegex, regex, place);
}

absl::StatusOr<Filter> ConvertRowKey(std::string_view regex, FilterPlace place) {
  // As Cloud Bigtable: no row has an empty key.
  if (regex.empty()) return Invalid("a regular expression of row keys must not be empty");
  return ConvertRegex(&Filter::RowKeysRegex, regex, place);
}

// [begin, end), where a null end is no end.
struct HalfOpen {
  std::string begin;
  std::optional<std::string> end;
};

std::string After(std::string_view text) { return std::string(text).append(1, '\0'); }

// `what`: "a column range". An empty range is refused.
absl::Status CheckNotEmpty(std::string_view what, const HalfOpen& range) {
  if (!range.end.has_value() || range.begin < *range.end) return absl::OkStatus();
  return Invalid(what, " must end after it begins, and has nothing between its start ",
                 Quoted(range.begin), " and its end ", Quoted(*range.end));
}

HalfOpen ConvertEnds(const ColumnRange& range) {
  HalfOpen ends;
  if (range.has_start_qualifier_closed()) ends.begin = range.start_qualifier_closed();
  if (range.has_start_qualifier_open()) ends.begin = After(range.start_qualifier_open());
  if (range.has_end_qualifier_closed()) ends.end = After(range.end_qualifier_closed());
  if (range.has_end_qualifier_open()) ends.end = range.end_qualifier_open();
  return ends;
}

HalfOpen ConvertEnds(const ValueRange& range) {
  HalfOpen ends;
  if (range.has_start_value_closed()) ends.begin = range.start_value_closed();
  if (range.has_start_value_open()) ends.begin = After(range.start_value_open());
  if (range.has_end_value_closed()) ends.end = After(range.end_value_closed());
  if (range.has_end_value_open()) ends.end = range.end_value_open();
  return ends;
}

absl::StatusOr<Filter> ConvertColumnRange(const ColumnRange& range) {
  BT_RETURN_IF_ERROR(CheckFamilyName(range.family_name()));
  const HalfOpen ends = ConvertEnds(range);
  BT_RETURN_IF_ERROR(CheckNotEmpty("a column range", ends));
  return Checked(Filter::ColumnRange(range.family_name(), ends.begin, ends.end.value_or("")));
}

absl::StatusOr<Filter> ConvertValueRange(const ValueRange& range) {
  const HalfOpen ends = ConvertEnds(range);
  BT_RETURN_IF_ERROR(CheckNotEmpty("a value range", ends));
  return Checked(Filter::ValueRange(ends.begin, ends.end.value_or("")));
}

absl::StatusOr<Filter> ConvertTimestampRange(const google::bigtable::v2::TimestampRange& range) {
  BT_ASSIGN_OR_RETURN(const TimeRange times, ToTimeRange(range));
  return Checked(Filter::TimestampRange(Timestamp(times.begin), Timestamp(times.end)));
}

// `filter` for a field that must not be false.
absl::StatusOr<Filter> ConvertTrue(bool value, Filter filter) {
  if (value) return filter;
  return Invalid("it must be true if it is set, and is false");
}

// `what`: "a chain".
template <typename Parts>
absl::StatusOr<Filter> ConvertParts(std::string_view what, Filter (*make)(std::vector<Filter>),
                                    const Parts& parts, FilterPlace place) {
  if (parts.filters_size() < 2) {
    return Invalid(what, " must have at least two filters, and has ", parts.filters_size());
  }
  std::vector<Filter> filters;
  filters.reserve(parts.filters_size());
  for (const RowFilter& part : parts.filters()) {
    absl::StatusOr<Filter> filter = ConvertFilter(part, place);
    if (!filter.ok()) return Annotate(filter.status(), Cat("filters[", filters.size(), "]"));
    filters.push_back(*std::move(filter));
  }
  return Checked(make(std::move(filters)));
}

absl::StatusOr<Filter> ConvertBranch(const char* name, bool is_set, const RowFilter& branch,
                                     FilterPlace place) {
  if (!is_set) return Filter::BlockAll();
  absl::StatusOr<Filter> filter = ConvertFilter(branch, place);
  if (!filter.ok()) return Annotate(filter.status(), name);
  return filter;
}

absl::StatusOr<Filter> ConvertCondition(const RowFilter::Condition& condition, FilterPlace place) {
  if (!condition.has_predicate_filter()) {
    return Invalid("a condition must have a predicate_filter");
  }
  BT_ASSIGN_OR_RETURN(Filter predicate,
                      ConvertBranch("predicate_filter", true, condition.predicate_filter(), place));
  BT_ASSIGN_OR_RETURN(Filter if_true, ConvertBranch("true_filter", condition.has_true_filter(),
                                                    condition.true_filter(), place));
  BT_ASSIGN_OR_RETURN(Filter if_false, ConvertBranch("false_filter", condition.has_false_filter(),
                                                     condition.false_filter(), place));
  return Checked(Filter::Condition(std::move(predicate), std::move(if_true), std::move(if_false)));
}

absl::StatusOr<Filter> ConvertTree(const RowFilter& filter, FilterPlace place) {
  if (place.depth >= kMaxFilterDepth) {
    return Invalid("filters must be nested at most ", kMaxFilterDepth, " deep");
  }
  switch (filter.filter_case()) {
    case RowFilter::kChain:
      return ConvertParts("a chain", &Filter::Chain, filter.chain(), place.Below());
    case RowFilter::kInterleave:
      return ConvertParts("an interleave", &Filter::Interleave, filter.interleave(), place.Below());
    default:
      return ConvertCondition(filter.condition(), place.Below());
  }
}

absl::StatusOr<Filter> ConvertFilterKind(const RowFilter& filter, FilterPlace place) {
  switch (filter.filter_case()) {
    case RowFilter::FILTER_NOT_SET:
      return Filter::PassAll();
    case RowFilter::kChain:
    case RowFilter::kInterleave:
    case RowFilter::kCondition:
      return ConvertTree(filter, place);
    case RowFilter::kSink:
      return ConvertTrue(filter.sink(), Filter::Sink());
    case RowFilter::kPassAllFilter:
      return ConvertTrue(filter.pass_all_filter(), Filter::PassAll());
    case RowFilter::kBlockAllFilter:
      return ConvertTrue(filter.block_all_filter(), Filter::BlockAll());
    case RowFilter::kStripValueTransformer:
      return ConvertTrue(filter.strip_value_transformer(), Filter::StripValueTransformer());
    case RowFilter::kRowKeyRegexFilter:
      return ConvertRowKey(filter.row_key_regex_filter(), place);
    case RowFilter::kRowSampleFilter:
      return Checked(Filter::RowSample(filter.row_sample_filter()));
    case RowFilter::kFamilyNameRegexFilter:
      return ConvertFamily(filter.family_name_regex_filter(), place);
    case RowFilter::kColumnQualifierRegexFilter:
      return ConvertRegex(&Filter::ColumnRegex, filter.column_qualifier_regex_filter(), place);
    case RowFilter::kColumnRangeFilter:
      return ConvertColumnRange(filter.column_range_filter());
    case RowFilter::kTimestampRangeFilter:
      return ConvertTimestampRange(filter.timestamp_range_filter());
    case RowFilter::kValueRegexFilter:
      return ConvertRegex(&Filter::ValueRegex, filter.value_regex_filter(), place);
    case RowFilter::kValueRangeFilter:
      return ConvertValueRange(filter.value_range_filter());
    case RowFilter::kCellsPerRowOffsetFilter:
      return Checked(Filter::CellsRowOffset(filter.cells_per_row_offset_filter()));
    case RowFilter::kCellsPerRowLimitFilter:
      return Checked(Filter::CellsRowLimit(filter.cells_per_row_limit_filter()));
    case RowFilter::kCellsPerColumnLimitFilter:
      return Checked(Filter::Latest(filter.cells_per_column_limit_filter()));
    case RowFilter::kApplyLabelTransformer:
      return Checked(Filter::ApplyLabel(filter.apply_label_transformer()));
  }
  return Invalid("there is no such filter");
}

// An error gets the name of the field, as it is in the request.
absl::StatusOr<Filter> ConvertFilter(const RowFilter& filter, FilterPlace place) {
  absl::StatusOr<Filter> converted = ConvertFilterKind(filter, place);
  if (converted.ok()) return converted;
  const auto* field = RowFilter::descriptor()->FindFieldByNumber(filter.filter_case());
  return Annotate(converted.status(), field == nullptr ? "filter" : field->name());
}

}  // namespace

absl::StatusOr<Filter> ToFilter(const RowFilter& filter) {
  const size_t size = filter.ByteSizeLong();
  if (size > kMaxFilterSize) {
    return Invalid("a filter must have at most ", kMaxFilterSize, " bytes, and this one has ",
                   size);
  }
  FilterInstructions instructions;
  return ConvertFilter(filter, {.depth = 0, .instructions = &instructions});
}

}  // namespace bigtable::convert
