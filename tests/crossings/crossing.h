// A case of tests/crossings: one call that reads, with its options, in its setting. Plain values.
#ifndef BIGTABLE_TESTS_CROSSINGS_CROSSING_H_
#define BIGTABLE_TESTS_CROSSINGS_CROSSING_H_

#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/statusor.h"

#include "bigtable/bigtable.h"

#include "support/model.h"
#include "support/model_filter.h"

namespace bigtable {

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
};

enum class Way { kInPlace, kMessages, kConnected };
enum class Storage { kMemory, kFiles, kBoth, kCompacted };
enum class At { kPresent, kNewSnapshot, kOldSnapshot };
enum class Resumed { kNot, kBetweenRows, kWithinRows };

// What decides how a database is made. Cases with the same one share it.
struct Place {
  Way way = Way::kInPlace;
  int tablets = 1;
  int servers = 1;
  Storage storage = Storage::kMemory;
  bool is_observed = false;
  bool scan_cache = false;

  friend auto operator<=>(const Place&, const Place&) = default;
};

struct Crossing;
class CrossedDatabase;

// Makes the call, and returns the rows that have cells, in their order. `rows`: as its stream or
// its reads of single rows return them.
using CrossedCall = std::function<absl::StatusOr<std::vector<ModelRow>>(const Crossing& crossing,
                                                                        CrossedDatabase* database)>;
// In which form a call returns what is expected.
enum class Answer {
  kStream,           // in the order of the options, and cut by their limits
  kSingleRows,       // each row of the set, in order, whatever the options for several rows
  kSingleRowsAfter,  // the same, each with the mutation that is observed (ObservedIn)
  kByFamily,         // as kStream, one family after the other, without labels
  kNewest,           // of each column the newest cell, one column after the other
  kMatches,          // rows without their cells
};

struct Crossing {
  std::string text;  // the labels of its values
  Place place;
  CrossedCall call;
  Answer answer = Answer::kStream;

  RowSet rows = RowRange::All();
  ModelFilter filter;
  ReadOptions options;  // without a snapshot
  At at = At::kPresent;
  Resumed resumed = Resumed::kNot;
  bool shortcuts = true;
  std::vector<ModelMutation> own_writes;  // in call order

  bool has_filter() const { return filter.kind != ModelFilter::Kind::kPassAll; }
  Filter MakeFilter() const { return has_filter() ? filter.Make() : Filter(); }
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_CROSSINGS_CROSSING_H_
