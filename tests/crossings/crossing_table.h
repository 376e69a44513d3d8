// The table of everything that is crossed: the calls that read, their options, and the settings. A
// new option is one line here, and is crossed with all of the others from then on.
//
// A value sets its part of a case. It says what it needs of the other values, and what it lacks for
// them: two values are never together if one needs what the other lacks. The first value of an
// option is its default, and needs nothing.
//
// Each two values are together in some case. What decides which cells a call returns is crossed
// further (OfRead).
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
};
struct CrossingDimension {
  std::string name;
  std::vector<CrossingValue> values;
  bool is_of_place = false;  // it decides how the database is made
  // Each of its values is together with each call and each value of another such dimension.
  bool is_of_read = false;
};

// --- Short forms ---

inline CrossingValue ACall(std::string label, CrossedCall call, Answer answer, uint32_t needs,
                           uint32_t lacks) {
  const auto set = [call = std::move(call), answer](Crossing* crossing) {
    crossing->call = call;
    crossing->answer = answer;
  };
  return {std::move(label), set, needs, lacks};
}
inline CrossingValue AnOption(std::string label, std::function<void(ReadOptions*)> set,
                              uint32_t needs = kHasReadOptions) {
  return {std::move(label), [set = std::move(set)](Crossing* c) { set(&c->options); }, needs};
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
inline CrossingValue AFilter(const ModelFilter& filter) {
  return {filter.DebugString(), [filter](Crossing* c) { c->filter = filter; }, kHasFilter};
}
inline CrossingValue SomeRows(std::string label, const std::vector<RowRange>& ranges) {
  return {std::move(label), [ranges](Crossing* c) {
            c->rows = RowSet();
            for (const RowRange& range : ranges) c->rows.Append(range);
          }};
}
inline CrossingValue SomeOwnWrites(std::string label, std::vector<ModelMutation> mutations) {
  return {std::move(label),
          [mutations = std::move(mutations)](Crossing* c) { c->own_writes = mutations; },
          kHasOwnWrites};
}
inline ModelMutation OwnSet(const std::string& row, const std::string& family,
                            const std::string& qualifier, int64_t timestamp) {
  return {row,
          {{.family = family, .qualifier = qualifier, .timestamp = timestamp, .value = "own"}}};
}

// --- The lines ---

// What calls without ReadOptions lack.
inline constexpr uint32_t kWithoutOptions =
    kHasReadOptions | kHasRowLimits | kHasCellLimits | kHasSnapshots | kHasTokens;

inline CrossingDimension CrossedCalls() {
  constexpr uint32_t kObserved = kIsEmbedded | kHasTransactions | kHasObservers;
  constexpr uint32_t kOfTransaction = kIsEmbedded | kHasTransactions;
  return {"call",
          {ACall("ReadRow", CallReadRow, Answer::kSingleRows, 0, kHasTokens | kHasOwnWrites),
           ACall("ReadRows", CallReadRows, Answer::kStream, 0, kHasOwnWrites),
           ACall("Scanner", CallScanner, Answer::kByFamily, 0,
                 kHasRowLimits | kHasCellLimits | kHasTokens | kHasOwnWrites),
           ACall("Get", CallGet, Answer::kNewest, 0, kHasFilter | kHasTokens | kHasOwnWrites),
           ACall("CheckAndMutateRow", CallCheckAndMutate, Answer::kMatches, 0,
                 kWithoutOptions | kHasOwnWrites),
           ACall("MutateRowAtomically", CallMutateAtomically, Answer::kSingleRows, kIsEmbedded,
                 kWithoutOptions | kHasOwnWrites),
           ACall("Transaction::ReadRow", CallTransactionReadRow, Answer::kSingleRows,
                 kOfTransaction, kHasSnapshots | kHasTokens),
           ACall("Transaction::ReadRows", CallTransactionReadRows, Answer::kStream, kOfTransaction,
                 kHasSnapshots | kHasTokens),
           ACall("ObserverContext::ReadRow", CallObserverReadRow, Answer::kSingleRows, kObserved,
                 kWithoutOptions),
           ACall("ObserverContext::ReadBefore", CallObserverReadBefore, Answer::kSingleRows,
                 kObserved, kWithoutOptions),
           ACall("ObserverContext::ReadAfter", CallObserverReadAfter, Answer::kSingleRowsAfter,
                 kObserved, kWithoutOptions),
           ACall("ObserverContext::ReadRows", CallObserverReadRows, Answer::kStream, kObserved,
                 kWithoutOptions)}};
}

inline CrossingDimension CrossedFilters() {
  using Kind = ModelFilter::Kind;
  const ModelFilter column{.kind = Kind::kColumn, .family = "f", .begin = "q"};
  const ModelFilter prefix{.kind = Kind::kColumnPrefix, .family = "f", .begin = "p"};
  const ModelFilter latest{.kind = Kind::kLatest, .n = 1};
  const ModelFilter family{.kind = Kind::kFamily, .family = "fg"};
  return OfRead("filter",
                {AFilter({}),
                 AFilter({.kind = Kind::kBlockAll}),
                 AFilter(latest),
                 AFilter(family),
                 AFilter({.kind = Kind::kFamilyRegex, .regex = 4}),
                 AFilter(column),
                 AFilter(prefix),
                 AFilter({.kind = Kind::kColumn, .family = "f", .begin = "o"}),
                 AFilter({.kind = Kind::kColumnRange, .family = "f", .begin = "o", .end = "q"}),
                 AFilter({.kind = Kind::kColumnRegex, .regex = 5}),
                 AFilter({.kind = Kind::kTimestampRange, .from_micros = 2, .to_micros = 1003}),
                 AFilter({.kind = Kind::kRowKeysRegex, .regex = 6}),
                 AFilter({.kind = Kind::kValueRegex, .regex = 4}),
                 AFilter({.kind = Kind::kCellsRowLimit, .n = 2}),
                 AFilter({.kind = Kind::kCellsRowOffset, .n = 1}),
                 AFilter({.kind = Kind::kStripValue}),
                 AFilter({.kind = Kind::kValueRange, .begin = "a", .end = "g"}),
                 AFilter({.kind = Kind::kRowSample, .probability = 0.5}),
                 AFilter({.kind = Kind::kApplyLabel, .begin = "label"}),
                 AFilter({.kind = Kind::kChain, .filters = {prefix, latest}}),
                 AFilter({.kind = Kind::kInterleave, .filters = {column, family, column}}),
                 AFilter({.kind = Kind::kCondition, .filters = {column, latest, family}}),
                 AFilter({.kind = Kind::kInterleave, .filters = {{.kind = Kind::kSink}, column}})});
}

inline std::vector<CrossingDimension> MakeCrossingTable() {
  static const Cancellation cancellation;
  return {
      CrossedCalls(),
      CrossedFilters(),
      {"rows",
       {SomeRows("all", {RowRange::All()}), SomeRows("a to ab", {RowRange::Closed("a", "ab")}),
        SomeRows("one", {RowRange::Single("a")}), SomeRows("prefix a", {RowRange::Prefix("a")}),
        SomeRows("keys", {RowRange::Single("b"), RowRange::Single("a")}),
        SomeRows("a key and a range", {RowRange::Single("a"), RowRange::StartingAt("aba")}),
        SomeRows("an absent key", {RowRange::Single("aa"), RowRange::Single("ab")}),
        SomeRows("none", {})}},
      OfRead(
          "own writes",
          {SomeOwnWrites("none", {}),
           SomeOwnWrites("a column of its own", {OwnSet("a", "f", "p", 1)}),
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
      {"limits of the call",
       {AnOption("none", [](ReadOptions*) {}),
        AnOption("deadline",
                 [](ReadOptions* options) { options->deadline = absl::Now() + absl::Hours(1); }),
        AnOption("cancellation",
                 [](ReadOptions* options) { options->cancellation = &cancellation; })}},
      {"blocks",
       {AnOption("as they are", [](ReadOptions*) {}),
        AnOption("verified", [](ReadOptions* options) { options->verify_checksums = true; }),
        AnOption("not kept", [](ReadOptions* options) { options->fill_cache = false; })}},
      OfRead("snapshot", {{"none", [](Crossing*) {}},
                          {"of now", [](Crossing* c) { c->at = At::kNewSnapshot; }, kHasSnapshots},
                          {"older", [](Crossing* c) { c->at = At::kOldSnapshot; }, kHasSnapshots}}),
      OfRead("resumed", {{"no", [](Crossing*) {}},
                         {"between rows", [](Crossing* c) { c->resumed = Resumed::kBetweenRows; },
                          kHasTokens, kHasRowLimits | kHasCellLimits},
                         {"within rows", [](Crossing* c) { c->resumed = Resumed::kWithinRows; },
                          kHasTokens, kHasRowLimits | kHasCellLimits}}),
      {"shortcuts", {{"on", [](Crossing*) {}}, {"off", [](Crossing* c) { c->shortcuts = false; }}}},
      OfPlace("way", {APlace("in place", [](Place*) {}),
                      APlace(
                          "by messages", [](Place* place) { place->way = Way::kMessages; }, 0,
                          kHasTransactions | kHasObservers),
                      APlace(
                          "connected", [](Place* place) { place->way = Way::kConnected; }, 0,
                          kIsEmbedded | kHasSnapshots | kHasTransactions | kHasObservers)}),
      OfPlace("tablets", {APlace("one", [](Place*) {}),
                          APlace("three", [](Place* place) { place->tablets = 3; }),
                          APlace("three, on as many servers",
                                 [](Place* place) { place->tablets = place->servers = 3; })}),
      OfPlace("storage",
              {APlace("memory", [](Place*) {}),
               APlace("files", [](Place* place) { place->storage = Storage::kFiles; }),
               APlace("both", [](Place* place) { place->storage = Storage::kBoth; }),
               APlace("compacted", [](Place* place) { place->storage = Storage::kCompacted; })}),
      OfPlace("observers",
              {APlace(
                   "none", [](Place*) {}, 0, kHasObservers),
               APlace(
                   "one", [](Place* place) { place->is_observed = true; }, kHasTransactions)}),
      OfPlace("scan cache", {APlace("off", [](Place*) {}),
                             APlace("on", [](Place* place) { place->scan_cache = true; })}),
  };
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
