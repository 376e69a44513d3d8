// Reads one row of one tablet: from the scan cache if it has the row, otherwise from memtables and
// SSTables.
#ifndef BIGTABLE_SERVING_ROW_READ_H_
#define BIGTABLE_SERVING_ROW_READ_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/types/span.h"

#include "bigtable/row.h"
#include "bigtable/row_range.h"

#include "base/call_limits.h"
#include "base/ref_counted.h"
#include "base/shortcuts.h"
#include "base/status.h"
#include "blocks/read_settings.h"
#include "cache/block.h"
#include "cache/scan_cache.h"
#include "monitoring/call_timer.h"
#include "read/cached_row.h"
#include "read/cell_cursor.h"
#include "read/filter_evaluator.h"
#include "read/row_probe.h"
#include "rpc/data_service.h"
#include "serving/data_path.h"
#include "tablet/tablet.h"
#include "tablet/tablet_version.h"

namespace bigtable {

struct RowRead {
  std::string_view row;
  // The first cells that are wanted. More may be read: a filter may need the whole row.
  size_t most_cells = SIZE_MAX;
  ReadSpec spec;  // without the sequence number and the time, which ReadRow sets
  DataPath::ReadPoint point;
  Caller caller;
  CallSample* sample = nullptr;  // null: the read is not measured
};

// Reads the row into `sink`, on the caller's thread:
//
//   Row* Begin(Pin<TabletVersion>&& version)   first: a row for FilterEvaluator::ReadRow, whose
//                                              cells are views of the version
//   absl::Span<const Cell> Finish()            last: all cells, valid as long as the sink
//
// `*superseded`: nothing was read, because the tablet is superseded or the server has lost its
// lock. Always inlined, because it is the path of each read of a row.
template <typename Sink>
[[gnu::always_inline]] inline absl::Status ReadRow(const DataPath& path, const Tablet& tablet,
                                                   RowRead* read, Sink* sink, bool* superseded) {
  if (read->point.sequence.has_value()) {
    BT_RETURN_IF_ERROR(path.server()->AwaitVisible(*read->point.sequence, read->spec.limits));
  }
  Pin<TabletVersion> version = tablet.Version();
  const TabletVersion& pinned = *version;  // the sink pins it in the end
  // The filters are fetched from memory while the read is set up.
  RowProbe probe;
  if (tablet.environment()->scan_cache == nullptr) [[likely]] {
    probe.Prepare(pinned, read->row, read->spec.filter == nullptr);
  }
  ReadSpec& spec = read->spec;
  *superseded = !path.BeginRead(tablet, pinned, read->point, &spec);
  if (*superseded) [[unlikely]]
    return absl::OkStatus();
  BT_RETURN_IF_ERROR(path.CheckRead(pinned.layout(), spec.filter, read->caller, spec.limits));
  if (read->sample != nullptr) [[unlikely]] {
    read->sample->tablet = Ref<TabletCounters>(tablet.counters());
    spec.settings.is_traced = read->sample->trace != nullptr;
    spec.settings.sampled_reads = static_cast<uint32_t>(read->sample->weight);
  }
  FilterEvaluator filter(spec);
  BT_RETURN_IF_ERROR(filter.Begin(pinned.budget()));
  const ShortcutSet shortcuts = Shortcuts();
  // With MaxAge cells expire without a write to their row, so such rows are not cached.
  ScanCache* const cache = spec.now == absl::InfinitePast() && shortcuts.Has(Shortcut::kScanCache)
                               ? tablet.environment()->scan_cache
                               : nullptr;
  const bool is_snapshot = read->point.sequence.has_value();
  if (cache != nullptr) {
    const Ref<Block> cached =
        cache->Lookup(pinned.scan_cache_id(), read->row, {spec.sequence, is_snapshot},
                      *tablet.environment()->last_writes);
    if (cached) {
      if (spec.settings.is_traced) read->sample->trace->scan_cache_hit = true;
      CachedRow source(cached.get(), &pinned.layout());
      const absl::Status status =
          filter.ReadRow(&source, read->most_cells, sink->Begin(std::move(version)));
      sink->Finish();
      return status;
    }
  }
  if (!probe.is_prepared()) probe.Prepare(pinned, read->row, spec.filter == nullptr);
  CellCursor cells(&pinned, spec);
  if (shortcuts.Has(Shortcut::kSingleRow)) [[likely]] {
    cells.ReadRow(probe);
  } else {
    cells.ReadRange(RowRange::Single(read->row));
  }
  MergedRow source(&cells);
  const absl::Status status =
      filter.ReadRow(&source, read->most_cells, sink->Begin(std::move(version)));
  const absl::Span<const Cell> row = sink->Finish();
  BT_RETURN_IF_ERROR(status);
  // A snapshot may be older than writes of another server, which `last_writes` of this server
  // lacks.
  if (cache != nullptr && spec.filter == nullptr && spec.settings.fill_cache && !is_snapshot &&
      read->most_cells == SIZE_MAX) {
    cache->Insert(pinned.scan_cache_id(), read->row,
                  MakeCachedRow(cache->memory(), pinned.layout(), spec.sequence, read->row, row));
  }
  return absl::OkStatus();
}

}  // namespace bigtable

#endif  // BIGTABLE_SERVING_ROW_READ_H_
