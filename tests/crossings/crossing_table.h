// The table of everything that is crossed: the calls that read, their options, and the settings. A
// new option is one line here, and is crossed with all of the others from then on.
//
// A value sets its part of a case. It says what it needs of the other values, and what it lacks for
// them: two values are never together if one needs what the other lacks. The first value of an
// option is its default, and needs nothing.
//
// Each two values are together in some case. What decides which cells a call returns is crossed
// further (OfRead).
//
// An end of a range is tested only if a cell is there: CrossedContent::AddWholeRows.
//
// Through the server the calls of the library go by bigtable::remote, and those that are named
// requests are made of the case itself. A new option of the library needs nothing for that: it is
// crossed with both, unless it says what it needs that they lack.
#ifndef BIGTABLE_TESTS_CROSSINGS_CROSSING_TABLE_H_
#define BIGTABLE_TESTS_CROSSINGS_CROSSING_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "bigtable/bigtable.h"

#include "crossings/crossed_content.h"
#include "crossings/crossing.h"
#include "crossings/crossing_calls.h"
#include "support/model.h"
#include "support/model_filter.h"

namespace bigtable {

struct CrossingValue {
  std::string label;
  std::function<void(Crossing*)> set;
  uint32_t needs = 0;  // of CrossingFeature
  uint32_t lacks = 0;
  // Its cases compare an error alone, so they count for no pair of other values.
  bool is_of_error = false;
};
struct CrossingDimension {
  std::string name;
  std::vector<CrossingValue> values;
  bool is_of_place = false;  // it decides how the database is made
  // Each of its values is together with each value of another such dimension in each call and on
  // each way.
  bool is_of_read = false;
};

// --- Short forms ---

// `rare`: of kRareFeatures, those that it has.
inline CrossingValue ACall(std::string label, CrossedCall call, Answer answer, uint32_t needs,
                           uint32_t lacks, uint32_t rare = 0) {
  const auto set = [call = std::move(call), answer](Crossing* crossing) {
    crossing->call = call;
    crossing->answer = answer;
    crossing->writes = answer == Answer::kModified;
  };
  return {std::move(label), set, needs, lacks | (kRareFeatures & ~rare)};
}
inline CrossingValue AnOption(std::string label, std::function<void(ReadOptions*)> set,
                              uint32_t needs = kHasReadOptions) {
  return {std::move(label), [set = std::move(set)](Crossing* c) { set(&c->options); }, needs};
}
inline CrossingValue ALimit(std::string label, std::function<void(Crossing*)> set) {
  return {std::move(label), std::move(set), kHasCallLimits};
}
inline CrossingValue AnErrorOfLimit(std::string label, std::function<void(Crossing*)> set) {
  return {std::move(label), std::move(set), kHasCallLimits, 0, true};
}
inline CrossingValue APlace(std::string label, std::function<void(Place*)> set, uint32_t needs = 0,
                            uint32_t lacks = 0) {
  return {std::move(label), [set = std::move(set)](Crossing* c) { set(&c->place); }, needs, lacks};
}
inline CrossingDimension OfPlace(std::string name, std::vector<CrossingValue> values) {
  return {std::move(name), std::move(values), true};
}
inline CrossingDimension OfRead(std::string name, std::vector<CrossingValue> values) {
  return {std::move(name), std::move(values), false, true};
}
inline CrossingValue AFilter(const ModelFilter& filter, uint32_t needs = 0) {
  return {filter.DebugString(), [filter](Crossing* c) { c->filter = filter; }, kHasFilter | needs};
}
// Of a stream of a Scanner, beside its filter. Its family is the stream's.
inline CrossingValue SomeColumns(const ModelFilter& columns) {
  return {columns.DebugString(), [columns](Crossing* c) { c->stream_columns = columns; },
          kHasScanStreams};
}
inline CrossingValue SomeRows(std::string label, const std::vector<RowRange>& ranges,
                              uint32_t needs = 0) {
  const auto set = [ranges](Crossing* c) {
    c->rows = RowSet();
    for (const RowRange& range : ranges) c->rows.Append(range);
  };
  return {std::move(label), set, needs};
}
inline CrossingValue SomeOwnWrites(std::string label, std::vector<ModelMutation> mutations) {
  return {std::move(label),
          [mutations = std::move(mutations)](Crossing* c) { c->own_writes = mutations; },
          kHasOwnWrites | kCanWrite};
}
inline ModelMutation OwnSet(const std::string& row, const std::string& family,
                            const std::string& qualifier, int64_t timestamp) {
  return {row,
          {{.family = family,
            .qualifier = qualifier,
            .timestamp = timestamp * CrossedContent::kMilli,
            .value = "own"}}};
}

// --- The lines ---

// What calls without ReadOptions lack.
inline constexpr uint32_t kWithoutOptions =
    kHasReadOptions | kHasRowLimits | kHasCellLimits | kHasSnapshots | kHasTokens;

inline std::vector<CrossingValue> CallsOfTable() {
  return {
      ACall("ReadRow", CallReadRow, Answer::kSingleRows, 0, kHasTokens | kHasOwnWrites),
      ACall("GetRows", CallGetRows, Answer::kSingleRows, 0, kHasTokens | kHasOwnWrites),
      ACall("ReadRowAsync", CallReadRowAsync, Answer::kSingleRows, 0, kHasTokens | kHasOwnWrites),
      ACall("GetRowsAsync", CallGetRowsAsync, Answer::kSingleRows, 0, kHasTokens | kHasOwnWrites),
      ACall("ReadRows", CallReadRows, Answer::kStream, 0, kHasOwnWrites, kHasRowStreams),
      ACall("Scanner", CallScanner, Answer::kByFamily, 0, kHasTokens | kHasOwnWrites,
            kHasScanStreams),
      ACall("Get", CallGet, Answer::kNewest, 0, kHasFilter | kHasTokens | kHasOwnWrites),
      ACall("CheckAndMutateRow", CallCheckAndMutate, Answer::kMatches, kCanWrite,
            kWithoutOptions | kHasOwnWrites),
      ACall("MutateRowAtomically", CallMutateAtomically, Answer::kSingleRows,
            kIsEmbedded | kCanWrite, kWithoutOptions | kHasOwnWrites),
      ACall("ReadModifyWriteRow", CallReadModifyWrite, Answer::kModified, kCanWrite,
            kWithoutOptions | kHasFilter | kHasOwnWrites),
      ACall("SampleRowKeys", CallSampleRowKeys, Answer::kTablets, 0,
            kWithoutOptions | kHasFilter | kHasOwnWrites),
  };
}
inline std::vector<CrossingValue> CallsOfTransaction() {
  constexpr uint32_t kObserved =
      kIsEmbedded | kIsPermitted | kCanWrite | kHasTransactions | kHasObservers;
  constexpr uint32_t kOfTransaction = kIsEmbedded | kCanWrite | kHasTransactions;
  constexpr uint32_t kOfContext = kWithoutOptions | kHasCallLimits;
  return {
      ACall("Transaction::ReadRow", CallTransactionReadRow, Answer::kSingleRows, kOfTransaction,
            kHasSnapshots | kHasTokens),
      ACall("Transaction::ReadRows", CallTransactionReadRows, Answer::kStream, kOfTransaction,
            kHasSnapshots | kHasTokens, kHasRowStreams),
      ACall("ObserverContext::ReadRow", CallObserverReadRow, Answer::kSingleRows, kObserved,
            kOfContext),
      ACall("ObserverContext::ReadBefore", CallObserverReadBefore, Answer::kSingleRows, kObserved,
            kOfContext),
      ACall("ObserverContext::ReadAfter", CallObserverReadAfter, Answer::kSingleRowsAfter,
            kObserved, kOfContext),
      ACall("ObserverContext::ReadRows", CallObserverReadRows, Answer::kStream, kObserved,
            kOfContext, kHasRowStreams),
  };
}
// The API has no limit of cells. No rows in a request are all rows.
inline std::vector<CrossingValue> RequestsOfApi() {
  return {
      ACall("a ReadRows request", RequestReadRows, Answer::kStream, kHasServer,
            kHasCellLimits | kHasTokens | kHasOwnWrites | kHasEmptySets, kHasRequestForms),
      ACall("a CheckAndMutateRow request", RequestCheckAndMutate, Answer::kMatches,
            kHasServer | kCanWrite, kWithoutOptions | kHasOwnWrites),
      ACall("a ReadModifyWriteRow request", RequestReadModifyWrite, Answer::kModified,
            kHasServer | kCanWrite, kWithoutOptions | kHasFilter | kHasOwnWrites),
  };
}
inline CrossingDimension CrossedCalls() {
  CrossingDimension calls{"call", CallsOfTable()};
  const auto add = [&calls](const std::vector<CrossingValue>& more) {
    calls.values.insert(calls.values.end(), more.begin(), more.end());
  };
  add(CallsOfTransaction());
  if (kCrossesServer) add(RequestsOfApi());
  return calls;
}

inline CrossingDimension CrossedFilters() {
  using Kind = ModelFilter::Kind;
  const ModelFilter column{.kind = Kind::kColumn, .family = "f", .begin = "q"};
  const ModelFilter prefix{.kind = Kind::kColumnPrefix, .family = "f", .begin = "p"};
  const ModelFilter latest{.kind = Kind::kLatest, .n = 1};
  const ModelFilter family{.kind = Kind::kFamily, .family = "fg"};
  // The next texts after these.
  const std::string after_a("a\0", 2), after_o("o\0", 2), after_p("p\0", 2), after_q("q\0", 2);
  return OfRead(
      "filter",
      {AFilter({}), AFilter({.kind = Kind::kBlockAll}, kIsPermitted), AFilter(latest),
       AFilter(family), AFilter({.kind = Kind::kFamilyRegex, .regex = 4}, kIsPermitted),
       AFilter({.kind = Kind::kFamilyRegex, .regex = 6}), AFilter(column), AFilter(prefix),
       AFilter({.kind = Kind::kColumn, .family = "f", .begin = "o"}),
       AFilter({.kind = Kind::kColumnRange, .family = "f", .begin = "o", .end = "q"}),
       AFilter({.kind = Kind::kColumnRange, .family = "f", .begin = after_o, .end = after_p}),
       AFilter({.kind = Kind::kColumnRegex, .regex = 5}),
       AFilter({.kind = Kind::kTimestampRange, .from_micros = 2000, .to_micros = 1003000}),
       AFilter({.kind = Kind::kRowKeysRegex, .regex = 6}),
       AFilter({.kind = Kind::kValueRegex, .regex = 4}),
       AFilter({.kind = Kind::kCellsRowLimit, .n = 2}),
       AFilter({.kind = Kind::kCellsRowOffset, .n = 1}), AFilter({.kind = Kind::kStripValue}),
       AFilter({.kind = Kind::kValueRange, .begin = "a", .end = "q"}),
       AFilter({.kind = Kind::kValueRange, .begin = after_a, .end = after_q}),
       AFilter({.kind = Kind::kRowSample, .probability = 0.5}),
       AFilter({.kind = Kind::kApplyLabel, .begin = "label"}),
       AFilter({.kind = Kind::kChain, .filters = {prefix, latest}}),
       AFilter({.kind = Kind::kInterleave, .filters = {column, family, column}}),
       AFilter({.kind = Kind::kCondition, .filters = {column, latest, family}}),
       // What the sink has taken is not stripped.
       AFilter({.kind = Kind::kChain,
                .filters = {{.kind = Kind::kInterleave, .filters = {{.kind = Kind::kSink}, column}},
                            {.kind = Kind::kStripValue}}})});
}

inline CrossingDimension CrossedRowSets() {
  return {"rows",
          {SomeRows("all", {RowRange::All()}), SomeRows("a to ab", {RowRange::Closed("a", "ab")}),
           SomeRows("one", {RowRange::Single("a")}), SomeRows("prefix a", {RowRange::Prefix("a")}),
           SomeRows("keys", {RowRange::Single("b"), RowRange::Single("a")}),
           SomeRows("a key and a range", {RowRange::Single("a"), RowRange::StartingAt("aba")}),
           SomeRows("after a, to b", {RowRange::LeftOpen("a", "b")}),
           SomeRows("between a and b", {RowRange::Open("a", "b")}),
           SomeRows("from a to before ab, and after ab",
                    {RowRange::RightOpen("a", "ab"), RowRange::Open("ab", "c")}),
           SomeRows("an absent key", {RowRange::Single("aa"), RowRange::Single("ac")}),
           SomeRows("none", {}, kHasEmptySets)}};
}

// Of calls, whatever they read.
inline CrossingDimension CrossedCallLimits() {
  static const Cancellation not_cancelled;
  static const Cancellation* const cancelled = [] {
    static Cancellation made;
    made.Cancel();
    return &made;
  }();
  return {"limits of the call",
          {ALimit("none", [](Crossing*) {}),
           ALimit("a deadline",
                  [](Crossing* c) { c->options.deadline = absl::Now() + absl::Hours(1); }),
           AnErrorOfLimit("a deadline in the past",
                          [](Crossing* c) {
                            c->options.deadline = absl::Now() - absl::Seconds(1);
                            c->error = absl::StatusCode::kDeadlineExceeded;
                          }),
           ALimit("a cancellation", [](Crossing* c) { c->options.cancellation = &not_cancelled; }),
           AnErrorOfLimit("cancelled", [](Crossing* c) {
             c->options.cancellation = cancelled;
             c->error = absl::StatusCode::kCancelled;
           })}};
}

// What only some calls have.
inline std::vector<CrossingDimension> CrossedForms() {
  using Kind = ModelFilter::Kind;
  return {
      {"rows of a stream",
       {{"looked at", [](Crossing*) {}},
        {"taken", [](Crossing* c) { c->takes_rows = true; }, kHasRowStreams}}},
      {"columns of a scan",
       {SomeColumns({}), SomeColumns({.kind = Kind::kLatest, .n = 1}),
        SomeColumns({.kind = Kind::kColumnPrefix, .begin = "p"}),
        SomeColumns({.kind = Kind::kColumnRange, .begin = "o", .end = "q"}),
        SomeColumns({.kind = Kind::kColumnRegex, .regex = 5}),
        SomeColumns({.kind = Kind::kTimestampRange, .from_micros = 2000, .to_micros = 1003000})}},
      {"streams of a scan",
       {{"one after the other", [](Crossing*) {}},
        {"together", [](Crossing* c) { c->streams_together = true; }, kHasScanStreams}}},
      {"cells of a scan",
       {{"all", [](Crossing*) {}},
        {"the first of each row", [](Crossing* c) { c->next_rows = true; }, kHasScanStreams,
         kHasCellLimits}}},
      {"statistics",
       {{"none", [](Crossing*) {}},
        {"full", [](Crossing* c) { c->statistics = true; }, kHasRequestForms}}},
      {"ends of ranges",
       {{"closed and open", [](Crossing*) {}},
        {"the shortest", [](Crossing* c) { c->shortest_ends = true; }, kHasRequestForms}}},
  };
}

inline std::vector<CrossingDimension> CrossedPlaces() {
  constexpr uint32_t kOverApi = kIsEmbedded | kHasSnapshots | kHasTransactions | kHasObservers;
  std::vector<CrossingValue> ways = {
      APlace(
          "in place", [](Place*) {}, 0, kHasServer),
      APlace(
          "by messages", [](Place* place) { place->way = Way::kMessages; }, kHasMessages,
          kHasServer | kHasTransactions | kHasObservers | kCanBeObserved | kHasBatches),
      APlace(
          "connected", [](Place* place) { place->way = Way::kConnected; }, 0,
          kHasServer | kOverApi | kHasUsers)};
  if (kCrossesServer) {
    ways.push_back(APlace(
        "through the server", [](Place* place) { place->way = Way::kServer; }, 0, kOverApi));
  }
  return {
      OfPlace("way", std::move(ways)),
      OfPlace("tablets", {APlace("one", [](Place*) {}),
                          APlace("three", [](Place* place) { place->tablets = 3; }),
                          APlace("three, on as many servers",
                                 [](Place* place) { place->tablets = place->servers = 3; })}),
      OfPlace("storage",
              {APlace("memory", [](Place*) {}),
               APlace("files", [](Place* place) { place->storage = Storage::kFiles; }),
               APlace("both", [](Place* place) { place->storage = Storage::kBoth; }),
               APlace("compacted", [](Place* place) { place->storage = Storage::kCompacted; })}),
      OfPlace("locality groups",
              {APlace("plain", [](Place*) {}),
               APlace("filters of rows and columns, compressed",
                      [](Place* place) { place->groups = Groups::kRowAndColumnFilters; }),
               APlace("row indexes", [](Place* place) { place->groups = Groups::kRowIndexes; }),
               APlace("in memory", [](Place* place) { place->groups = Groups::kInMemory; })}),
      OfPlace("written by",
              {APlace("Apply", [](Place*) {}),
               APlace("ApplyBatch", [](Place* place) { place->written = Written::kBatch; }),
               APlace("CheckAndMutateRow",
                      [](Place* place) { place->written = Written::kCheckAndMutate; }),
               APlace(
                   "WriteBatch", [](Place* place) { place->written = Written::kWriteBatch; },
                   kHasBatches),
               APlace(
                   "a MutateRows request", [](Place* place) { place->written = Written::kRequest; },
                   kHasServer),
               APlace(
                   "Ingest", [](Place* place) { place->written = Written::kFiles; }, 0,
                   kTakesStreams)}),
      OfPlace(
          "opened",
          {APlace("once", [](Place*) {}),
           APlace(
               "again", [](Place* place) { place->opened = Opened::kAgain; }, 0, kHasOldSnapshots),
           APlace(
               "after a crash", [](Place* place) { place->opened = Opened::kAfterCrash; }, 0,
               kHasOldSnapshots),
           APlace(
               "read-only after a crash",
               [](Place* place) { place->opened = Opened::kReadOnlyAfterCrash; }, 0,
               kHasOldSnapshots | kCanWrite),
           APlace(
               "beside its writer", [](Place* place) { place->opened = Opened::kFollowed; }, 0,
               kHasOldSnapshots | kCanWrite | kHasMessages),
           APlace(
               "as a restored table", [](Place* place) { place->opened = Opened::kRestored; }, 0,
               kHasOldSnapshots)}),
      OfPlace("observers",
              {APlace(
                   "none", [](Place*) {}, 0, kHasObservers),
               APlace(
                   "one", [](Place* place) { place->is_observed = true; }, kCanBeObserved)}),
      OfPlace("change stream",
              {APlace("none", [](Place*) {}),
               APlace(
                   "one", [](Place* place) { place->has_changes = true; }, kTakesStreams)}),
      OfPlace("scan cache", {APlace("off", [](Place*) {}),
                             APlace("on", [](Place* place) { place->scan_cache = true; })}),
      OfPlace(
          "files",
          {APlace("mapped", [](Place*) {}),
           APlace("mapped, and never in memory", [](Place* place) { place->files = Files::kCold; }),
           APlace("by position", [](Place* place) { place->files = Files::kByPosition; })}),
      OfPlace("traces", {APlace("none", [](Place*) {}),
                         APlace("of each call", [](Place* place) { place->is_traced = true; })}),
      OfPlace("recording",
              {APlace("none", [](Place*) {}),
               APlace("plain", [](Place* place) { place->recorded = RecordedKeys::kPlain; }),
               APlace("hashed", [](Place* place) { place->recorded = RecordedKeys::kHashed; })}),
      OfPlace("caller",
              {APlace("the program", [](Place*) {}),
               APlace(
                   "a user", [](Place* place) { place->caller = InNameOf::kUser; }, kHasUsers),
               {"a user who is refused",
                [](Crossing* c) {
                  c->place.caller = InNameOf::kRefusedUser;
                  c->error = absl::StatusCode::kPermissionDenied;
                },
                kHasUsers | kCanWrite, kIsPermitted | kHasCallLimits}}),
  };
}

inline std::vector<CrossingDimension> CrossedOptions() {
  return {
      CrossedRowSets(),
      OfRead(
          "own writes",
          {SomeOwnWrites("none", {}),
           SomeOwnWrites("a column of its own", {OwnSet("b", "f", "p", 1)}),
           SomeOwnWrites("an existing column",
                         {OwnSet("b", "f", "q", 1), OwnSet("ab", "fg", "", 1)}),
           SomeOwnWrites("another version", {OwnSet("a", "fg", "q", 3), OwnSet("a", "fg", "q", 2)}),
           SomeOwnWrites("a new row", {OwnSet("aa", "f", "q", 1), OwnSet("ac", "fg", "o", 1)}),
           SomeOwnWrites("a deleted row", {{"ab", {{.kind = ModelOperation::Kind::kDeleteRow}}}})}),
      OfRead("order",
             {AnOption("forwards", [](ReadOptions*) {}),
              AnOption("in reverse", [](ReadOptions* options) { options->reverse = true; })}),
      OfRead("row_limit",
             {AnOption(
                  "0", [](ReadOptions*) {}, kHasRowLimits),
              AnOption(
                  "1", [](ReadOptions* options) { options->row_limit = 1; }, kHasRowLimits),
              AnOption(
                  "2", [](ReadOptions* options) { options->row_limit = 2; }, kHasRowLimits)}),
      OfRead("cell_limit",
             {AnOption(
                  "0", [](ReadOptions*) {}, kHasCellLimits),
              AnOption(
                  "1", [](ReadOptions* options) { options->cell_limit = 1; }, kHasCellLimits),
              AnOption(
                  "3", [](ReadOptions* options) { options->cell_limit = 3; }, kHasCellLimits)}),
      CrossedCallLimits(),
      {"blocks",
       {AnOption("as they are", [](ReadOptions*) {}),
        AnOption("verified", [](ReadOptions* options) { options->verify_checksums = true; }),
        AnOption("not kept", [](ReadOptions* options) { options->fill_cache = false; })}},
      OfRead("snapshot", {{"none", [](Crossing*) {}},
                          {"of now", [](Crossing* c) { c->at = At::kNewSnapshot; }, kHasSnapshots},
                          {"older", [](Crossing* c) { c->at = At::kOldSnapshot; },
                           kHasSnapshots | kHasOldSnapshots}}),
      OfRead("resumed", {{"no", [](Crossing*) {}},
                         {"between rows", [](Crossing* c) { c->resumed = Resumed::kBetweenRows; },
                          kHasTokens, kHasRowLimits | kHasCellLimits},
                         {"within rows", [](Crossing* c) { c->resumed = Resumed::kWithinRows; },
                          kHasTokens, kHasRowLimits | kHasCellLimits}}),
      {"shortcuts", {{"on", [](Crossing*) {}}, {"off", [](Crossing* c) { c->shortcuts = false; }}}},
  };
}

// The calls are first.
inline std::vector<CrossingDimension> MakeCrossingTable() {
  std::vector<CrossingDimension> table = {CrossedCalls(), CrossedFilters()};
  for (const auto& part : {CrossedOptions(), CrossedForms(), CrossedPlaces()}) {
    table.insert(table.end(), part.begin(), part.end());
  }
  return table;
}

inline const std::vector<CrossingDimension>& CrossingTable() {
  static const std::vector<CrossingDimension> table = [] {
    std::vector<CrossingDimension> made = MakeCrossingTable();
    for (size_t i = 1; i < made.size(); ++i) made[i].values.front().needs = 0;  // not the calls
    return made;
  }();
  return table;
}

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_CROSSINGS_CROSSING_TABLE_H_
