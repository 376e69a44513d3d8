// A filter for which the engine and Google's emulator have the same answer.
#ifndef BIGTABLE_TESTS_SUPPORT_EMULATORS_FILTER_H_
#define BIGTABLE_TESTS_SUPPORT_EMULATORS_FILTER_H_

#include <string>

#include "support/model_filter.h"

namespace bigtable {

// What a filter is not given, named as in docs/server.md, "Differences from Google's emulator".
class EmulatorsFilters {
 public:
  explicit EmulatorsFilters(const ModelFilter& filter)
      : has_labels_(Has(filter, Kind::kApplyLabel)),
        makes_copies_(Has(filter, Kind::kInterleave) &&
                      (has_labels_ || Has(filter, Kind::kStripValue))) {}

  ModelFilter Convert(ModelFilter filter) const {
    for (ModelFilter& part : filter.filters) part = Convert(part);
    switch (filter.kind) {
      case Kind::kCellsRowLimit:
      case Kind::kCellsRowOffset:
        if (makes_copies_) return {};
        // "the order of the families of a row"
        return {.kind = Kind::kChain,
                .filters = {{.kind = Kind::kFamily, .family = filter.family}, filter}};
      case Kind::kLatest:
        // "cells of one column and time after an interleave"
        return makes_copies_ ? ModelFilter() : filter;
      case Kind::kStripValue:
        // "strip_value_transformer after apply_label_transformer"
        return has_labels_ ? ModelFilter() : filter;
      case Kind::kRowSample:
        // "row_sample_filter"
        return {};
      case Kind::kSink:
        // "sink"
        return {};
      default:
        return filter;
    }
  }

 private:
  using Kind = ModelFilter::Kind;

  static bool Has(const ModelFilter& filter, Kind kind) {
    if (filter.kind == kind) return true;
    for (const ModelFilter& part : filter.filters) {
      if (Has(part, kind)) return true;
    }
    return false;
  }

  const bool has_labels_;
  const bool makes_copies_;  // of cells, which are not equal
};

inline ModelFilter EmulatorsFilter(const ModelFilter& filter) {
  return EmulatorsFilters(filter).Convert(filter);
}

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_EMULATORS_FILTER_H_
