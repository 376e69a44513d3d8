// Everything a user of the library needs. See database.h for where to begin.
#ifndef BIGTABLE_BIGTABLE_H_
#define BIGTABLE_BIGTABLE_H_

#include "bigtable/call_options.h"
#include "bigtable/clock.h"
#include "bigtable/compaction_policy.h"
#include "bigtable/database.h"
#include "bigtable/event_listener.h"
#include "bigtable/file_system.h"
#include "bigtable/filter.h"
#include "bigtable/latency_histogram.h"
#include "bigtable/log_sink.h"
#include "bigtable/memory_budget.h"
#include "bigtable/operation.h"
#include "bigtable/options.h"
#include "bigtable/prometheus.h"
#include "bigtable/read_modify_write.h"
#include "bigtable/row.h"
#include "bigtable/row_key_sample.h"
#include "bigtable/row_mutation.h"
#include "bigtable/row_range.h"
#include "bigtable/scanner.h"
#include "bigtable/schema.h"
#include "bigtable/snapshot.h"
#include "bigtable/sstable.h"
#include "bigtable/statistics.h"
#include "bigtable/string_view.h"
#include "bigtable/table.h"
#include "bigtable/tablet_info.h"
#include "bigtable/timestamp.h"
#include "bigtable/trace.h"

#endif  // BIGTABLE_BIGTABLE_H_
