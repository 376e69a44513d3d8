#include <utility>
#include <vector>

#include "bigtable/timestamp.h"

#include "c/arguments.h"
#include "c/handles.h"

using bigtable::Filter;
using bigtable::Timestamp;
using bigtable::View;

namespace {

std::vector<Filter> Copy(const bigtable_filter* const* filters, size_t count) {
  std::vector<Filter> copies;
  copies.reserve(count);
  for (size_t i = 0; i < count; ++i) copies.push_back(filters[i]->filter);
  return copies;
}

}  // namespace

bigtable_filter* bigtable_filter_pass_all_new() { return new bigtable_filter{Filter::PassAll()}; }
bigtable_filter* bigtable_filter_block_all_new() { return new bigtable_filter{Filter::BlockAll()}; }
bigtable_filter* bigtable_filter_latest_new(int64_t versions) {
  return new bigtable_filter{Filter::Latest(versions)};
}
bigtable_filter* bigtable_filter_family_new(const char* family, size_t family_size) {
  return new bigtable_filter{Filter::Family(View(family, family_size))};
}
bigtable_filter* bigtable_filter_family_regex_new(const char* regex, size_t regex_size) {
  return new bigtable_filter{Filter::FamilyRegex(View(regex, regex_size))};
}
bigtable_filter* bigtable_filter_column_new(const char* family, size_t family_size,
                                            const char* qualifier, size_t qualifier_size) {
  return new bigtable_filter{
      Filter::Column(View(family, family_size), View(qualifier, qualifier_size))};
}
bigtable_filter* bigtable_filter_column_prefix_new(const char* family, size_t family_size,
                                                   const char* prefix, size_t prefix_size) {
  return new bigtable_filter{
      Filter::ColumnPrefix(View(family, family_size), View(prefix, prefix_size))};
}
bigtable_filter* bigtable_filter_column_range_new(const char* family, size_t family_size,
                                                  const char* begin, size_t begin_size,
                                                  const char* end, size_t end_size) {
  return new bigtable_filter{
      Filter::ColumnRange(View(family, family_size), View(begin, begin_size), View(end, end_size))};
}
bigtable_filter* bigtable_filter_column_regex_new(const char* regex, size_t regex_size) {
  return new bigtable_filter{Filter::ColumnRegex(View(regex, regex_size))};
}
bigtable_filter* bigtable_filter_timestamp_range_new(int64_t begin, int64_t end) {
  return new bigtable_filter{Filter::TimestampRange(Timestamp(begin), Timestamp(end))};
}
bigtable_filter* bigtable_filter_row_regex_new(const char* regex, size_t regex_size) {
  return new bigtable_filter{Filter::RowKeysRegex(View(regex, regex_size))};
}
bigtable_filter* bigtable_filter_value_regex_new(const char* regex, size_t regex_size) {
  return new bigtable_filter{Filter::ValueRegex(View(regex, regex_size))};
}
bigtable_filter* bigtable_filter_value_range_new(const char* begin, size_t begin_size,
                                                 const char* end, size_t end_size) {
  return new bigtable_filter{Filter::ValueRange(View(begin, begin_size), View(end, end_size))};
}
bigtable_filter* bigtable_filter_row_sample_new(double probability) {
  return new bigtable_filter{Filter::RowSample(probability)};
}
bigtable_filter* bigtable_filter_cells_row_limit_new(int64_t cells) {
  return new bigtable_filter{Filter::CellsRowLimit(cells)};
}
bigtable_filter* bigtable_filter_cells_row_offset_new(int64_t cells) {
  return new bigtable_filter{Filter::CellsRowOffset(cells)};
}
bigtable_filter* bigtable_filter_strip_value_new() {
  return new bigtable_filter{Filter::StripValueTransformer()};
}
bigtable_filter* bigtable_filter_apply_label_new(const char* label, size_t label_size) {
  return new bigtable_filter{Filter::ApplyLabel(View(label, label_size))};
}
bigtable_filter* bigtable_filter_sink_new() { return new bigtable_filter{Filter::Sink()}; }
bigtable_filter* bigtable_filter_chain_new(const bigtable_filter* const* filters, size_t count) {
  return new bigtable_filter{Filter::Chain(Copy(filters, count))};
}
bigtable_filter* bigtable_filter_interleave_new(const bigtable_filter* const* filters,
                                                size_t count) {
  return new bigtable_filter{Filter::Interleave(Copy(filters, count))};
}
bigtable_filter* bigtable_filter_condition_new(const bigtable_filter* predicate,
                                               const bigtable_filter* if_true,
                                               const bigtable_filter* if_false) {
  return new bigtable_filter{
      Filter::Condition(predicate->filter, if_true->filter,
                        if_false != nullptr ? if_false->filter : Filter::BlockAll())};
}
void bigtable_filter_free(bigtable_filter* filter) { delete filter; }

bigtable_error* bigtable_filter_check(const bigtable_filter* filter) {
  BT_C_CHECK_NOT_NULL({"filter", filter});
  return bigtable::ToError(filter->filter.status());
}
