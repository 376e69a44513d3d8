// A case of tests/crossings: one call that reads, with its options, in its setting. Plain values.
#ifndef BIGTABLE_TESTS_CROSSINGS_CROSSING_H_
#define BIGTABLE_TESTS_CROSSINGS_CROSSING_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/bigtable.h"

#include "support/model.h"
#include "support/model_filter.h"

namespace bigtable {

// Whether this build has the server (BIGTABLE_BUILD_SERVER): without it, the table has no lines
// that need it.
#ifdef BIGTABLE_CROSSINGS_WITH_SERVER
inline constexpr bool kCrossesServer = true;
#else
inline constexpr bool kCrossesServer = false;
#endif

// What a call, an option or a setting needs of the others, or lacks for them. Two values cannot be
// together if one needs what the other lacks.
enum CrossingFeature : uint32_t {
  kHasReadOptions = 1 << 0,
  kHasRowLimits = 1 << 1,
  kHasCellLimits = 1 << 2,
  kHasFilter = 1 << 3,
  kHasSnapshots = 1 << 4,
  kHasTokens = 1 << 5,
  kHasOwnWrites = 1 << 6,  // they are of a transaction that has not committed
  kHasTransactions = 1 << 7,
  kHasObservers = 1 << 8,
  kIsEmbedded = 1 << 9,
  kHasServer = 1 << 10,
  kHasUsers = 1 << 11,
  kCanBeObserved = 1 << 12,
  kHasEmptySets = 1 << 13,     // a set of no rows is not all rows
  kHasCallLimits = 1 << 14,    // deadline and cancellation
  kHasRequestForms = 1 << 15,  // what only a request of the API has
  kHasRowStreams = 1 << 16,
  kHasScanStreams = 1 << 17,
  kHasOldSnapshots = 1 << 18,
  kCanWrite = 1 << 19,
  kHasBatches = 1 << 20,
  kIsPermitted = 1 << 21,   // to read some family, as far as the call needs one
  kHasMessages = 1 << 22,   // to its tablet servers
  kTakesStreams = 1 << 23,  // of changes
};
// Of one or a few calls: all others lack them.
inline constexpr uint32_t kRareFeatures = kHasRequestForms | kHasRowStreams | kHasScanStreams;

enum class Way { kInPlace, kMessages, kConnected, kServer };
enum class Storage { kMemory, kFiles, kBoth, kCompacted };
// By which call the content is written.
enum class Written { kApply, kBatch, kCheckAndMutate, kWriteBatch, kRequest, kFiles };
// What happened after the content was written. The database was closed and opened, the process has
// died, a second opening follows the first, or the table comes from a backup.
enum class Opened { kOnce, kAgain, kAfterCrash, kReadOnlyAfterCrash, kFollowed, kRestored };
// In whose name it is written and read. A user has a quota and is on the access lists, one who is
// refused until the content is written and has been read.
enum class InNameOf { kProgram, kUser, kRefusedUser };
// How files are written.
enum class Groups { kPlain, kRowAndColumnFilters, kRowIndexes, kInMemory };
// How files are read: mapped ones may never be in memory.
enum class Files { kMapped, kCold, kByPosition };
enum class At { kPresent, kNewSnapshot, kOldSnapshot };
enum class Resumed { kNot, kBetweenRows, kWithinRows };

// What decides how a database is made. Cases with the same one share it.
struct Place {
  Way way = Way::kInPlace;
  int tablets = 1;
  int servers = 1;
  Storage storage = Storage::kMemory;
  Groups groups = Groups::kPlain;
  Written written = Written::kApply;
  Opened opened = Opened::kOnce;
  bool is_observed = false;
  bool has_changes = false;  // a change stream
  bool scan_cache = false;
  Files files = Files::kMapped;
  bool is_traced = false;
  std::optional<RecordedKeys> recorded = {};
  InNameOf caller = InNameOf::kProgram;

  friend auto operator<=>(const Place&, const Place&) = default;
};

struct Crossing;
class CrossedDatabase;

// Makes the call, and returns the rows that have cells, in their order. `rows`: as its stream or
// its reads of single rows return them.
using CrossedRows = absl::StatusOr<std::vector<ModelRow>>;
using CrossedCall = std::function<CrossedRows(const Crossing& crossing, CrossedDatabase* database)>;
// In which form a call returns what is expected.
enum class Answer {
  kStream,           // in the order of the options, and cut by their limits
  kSingleRows,       // each row of the set, in order, whatever the options for several rows
  kSingleRowsAfter,  // the same, each with the mutation that is observed (ObservedIn)
  kByFamily,         // as kStream, one family after the other, without labels
  kNewest,           // of each column the newest cell, one column after the other
  kMatches,          // rows without their cells
  kModified,         // of each row what ModifyingRules() have made of it, without timestamps
  kTablets,          // the rows with which tablets begin, and one without a key, without cells
};

struct Crossing {
  std::string text;  // the labels of its values
  Place place;
  CrossedCall call;
  Answer answer = Answer::kStream;
  bool writes = false;  // the call changes the content, so the database is its own

  RowSet rows = RowRange::All();
  ModelFilter filter;
  ReadOptions options;  // without a snapshot
  At at = At::kPresent;
  Resumed resumed = Resumed::kNot;
  bool shortcuts = true;
  std::vector<ModelMutation> own_writes;  // in call order
  std::optional<absl::StatusCode> error;  // instead of rows, if the call asks for any
  bool takes_rows = false;                // of a stream, and looks at them when it has ended
  // Of a scan: what is set beside the filter, all of its streams at once, and the first cell of
  // each row alone, by NextRow.
  ModelFilter stream_columns;
  bool streams_together = false;
  bool next_rows = false;
  // Of a request: with statistics, and the ends of ranges as they are shortest.
  bool statistics = false;
  bool shortest_ends = false;

  bool has_filter() const { return filter.kind != ModelFilter::Kind::kPassAll; }
  Filter MakeFilter() const { return has_filter() ? filter.Make() : Filter(); }
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_CROSSINGS_CROSSING_H_
