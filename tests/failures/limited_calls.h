// Every public call that takes a deadline and a cancellation, as a program makes it, for tests that
// look whether each of them ends by then. Together they use every function of include/bigtable/*.h
// that has a deadline in its options.
#ifndef BIGTABLE_TESTS_CLIENT_LIMITED_CALLS_H_
#define BIGTABLE_TESTS_CLIENT_LIMITED_CALLS_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"

#include "bigtable/bigtable.h"

#include "base/strings.h"

namespace bigtable {

// What the calls work on: tables "t", of two tablets that meet at "m", and "u", with family f.
// "observed" has an observer.
struct LimitedCallTables {
  Database* database;
  Table* t;
  Table* u;
  Table* observed;
  std::string suffix;  // of the names that a call creates
};

struct LimitedCall {
  // kLookup: of what there is, without rows.
  enum class Kind { kRead, kLookup, kWrite, kTransaction, kChange, kTablets, kWork };
  std::string_view name;
  Kind kind;
  absl::Status (*run)(const LimitedCallTables& tables, const CallOptions& limits);
};

// What a call may wait for beyond its limits, besides its own call of the file system, while calls
// are stalled: all that docs/internals/limitations.md has about that ("Commit log and stalls").
// stalled_waits_test.cc has a test of this name for each, which shows that it occurs.
struct UnlimitedWait {
  std::string_view name;
  std::vector<LimitedCall::Kind> kinds;
};

class LimitedCalls {
 public:
  using Kind = LimitedCall::Kind;

  static const std::vector<UnlimitedWait>& UnlimitedWaits() {
    static const auto* const kWaits = new std::vector<UnlimitedWait>{
        {"AWriteWhoseTurnHasBegunHearsNoLimits", {Kind::kWrite, Kind::kTransaction}},
        {"AChangeThatHasBegunHearsNoLimits", {Kind::kChange, Kind::kTablets}},
    };
    return *kWaits;
  }
  // Whether a call may be late at all.
  static bool MayBeLate(const LimitedCall& call) {
    for (const UnlimitedWait& wait : UnlimitedWaits()) {
      for (const LimitedCall::Kind kind : wait.kinds) {
        if (kind == call.kind) return true;
      }
    }
    return false;
  }
  static const std::vector<LimitedCall>& All() {
    static const auto* const kAll = new std::vector<LimitedCall>(
        Join({Reads(), Writes(), Transactions(), Changes(), Tablets(), Work()}));
    return *kAll;
  }

 private:
  using Calls = std::vector<LimitedCall>;
  using Tables = LimitedCallTables;

  static Calls Join(std::vector<Calls> lists) {
    Calls all;
    for (const Calls& calls : lists) all.insert(all.end(), calls.begin(), calls.end());
    return all;
  }
  static ReadOptions ReadUntil(const CallOptions& limits) {
    ReadOptions options;
    options.deadline = limits.deadline;
    options.cancellation = limits.cancellation;
    return options;
  }
  static WriteOptions WriteUntil(const CallOptions& limits) {
    return {.deadline = limits.deadline, .cancellation = limits.cancellation};
  }
  static WriteOptions SyncUntil(const CallOptions& limits) {
    WriteOptions options = WriteUntil(limits);
    options.durability = Durability::kSync;
    return options;
  }
  static CreateTableOptions CreateUntil(const CallOptions& limits) {
    CreateTableOptions options;
    options.deadline = limits.deadline;
    options.cancellation = limits.cancellation;
    return options;
  }
  static absl::Status ReadAll(RowReader reader) {
    while (reader.Next()) {
    }
    return reader.status();
  }
  static RowMutation Set(std::string_view row, const Tables& tables) {
    return RowMutation(Cat(row, tables.suffix)).Set("f:q", Timestamp(1), "v");
  }
  static WriteBatch BatchOf(const Tables& tables) {
    WriteBatch batch;
    batch.Apply(tables.t, Set("call", tables));
    batch.Apply(tables.u, Set("call", tables));
    return batch;
  }
  static TableSchema Schema() {
    TableSchema schema;
    schema.families["f"] = {};
    schema.split.tablet_size = schema.split.merge_size = 0;
    return schema;
  }

  static Calls Reads() {
    constexpr Kind kind = Kind::kRead;
    return {
        {"ReadRow", kind,
         [](const Tables& c, const CallOptions& o) {
           return c.t->ReadRow("first", {}, ReadUntil(o)).status();
         }},
        {"Get", kind,
         [](const Tables& c, const CallOptions& o) {
           return c.t->Get("first", "f:q", ReadUntil(o)).status();
         }},
        {"ReadRow at a snapshot", kind,
         [](const Tables& c, const CallOptions& o) {
           const auto snapshot = c.database->TakeSnapshot();
           if (!snapshot.ok()) return snapshot.status();
           ReadOptions options = ReadUntil(o);
           options.snapshot = *snapshot;
           return c.t->ReadRow("first", {}, options).status();
         }},
        {"ReadRows", kind,
         [](const Tables& c, const CallOptions& o) {
           return ReadAll(c.t->ReadRows(RowSet(RowRange::All()), ReadUntil(o)));
         }},
        {"ReadRows in reverse", kind,
         [](const Tables& c, const CallOptions& o) {
           ReadOptions options = ReadUntil(o);
           options.reverse = true;
           return ReadAll(c.t->ReadRows(RowSet(RowRange::All()), options));
         }},
        {"ResumeRows", kind,
         [](const Tables& c, const CallOptions& o) {
           const RowReader begun = c.t->ReadRows(RowSet(RowRange::StartingAt("m")), ReadUntil(o));
           if (!begun.status().ok()) return begun.status();  // on a busy machine
           return ReadAll(c.t->ResumeRows(begun.ResumeToken(), {}, ReadUntil(o)));
         }},
        {"Scanner", kind,
         [](const Tables& c, const CallOptions& o) {
           Scanner scanner(c.t, ReadUntil(o));
           for (ScanStream* stream = scanner.FetchColumnFamily("f"); !stream->Done();
                stream->Next()) {
           }
           return scanner.status();
         }},
        {"SampleRowKeys", kind,
         [](const Tables& c, const CallOptions& o) { return c.t->SampleRowKeys(o).status(); }},
        {"ApproximateSizes", kind,
         [](const Tables& c, const CallOptions& o) {
           const RowRange all[] = {RowRange::All()};
           return c.t->ApproximateSizes(all, o).status();
         }},
    };
  }

  static Calls Writes() {
    constexpr Kind kind = Kind::kWrite;
    return {
        {"Apply", kind,
         [](const Tables& c, const CallOptions& o) {
           return c.t->Apply(Set("call", c), WriteUntil(o));
         }},
        {"Apply with kSync", kind,
         [](const Tables& c, const CallOptions& o) {
           return c.t->Apply(Set("call", c), SyncUntil(o));
         }},
        {"Apply of more than a log segment", kind,
         [](const Tables& c, const CallOptions& o) {
           return c.t->Apply(
               RowMutation("large").Set("f:q", Timestamp(1), std::string(100'000, 'v')),
               WriteUntil(o));
         }},
        {"Apply to an observed table", kind,
         [](const Tables& c, const CallOptions& o) {
           return c.observed->Apply(Set("call", c), WriteUntil(o));
         }},
        {"ApplyBatch", kind,
         [](const Tables& c, const CallOptions& o) {
           const RowMutation mutations[] = {Set("call", c), Set("row", c)};
           absl::Status status;
           for (const absl::Status& one : c.t->ApplyBatch(mutations, WriteUntil(o))) {
             status.Update(one);
           }
           return status;
         }},
        {"CheckAndMutateRow", kind,
         [](const Tables& c, const CallOptions& o) {
           const RowMutation set = Set("call", c);
           return c.t->CheckAndMutateRow(set.row(), {}, set, set, WriteUntil(o)).status();
         }},
        {"ReadModifyWriteRow", kind,
         [](const Tables& c, const CallOptions& o) {
           return c.t->ReadModifyWriteRow(ReadModifyWrite("call").Append("f:q", "x"), WriteUntil(o))
               .status();
         }},
        {"MutateRowAtomically", kind,
         [](const Tables& c, const CallOptions& o) {
           const RowMutation set = Set("call", c);
           return c.t->MutateRowAtomically(
               set.row(), {}, [&](const Row&) -> absl::StatusOr<RowMutation> { return set; },
               WriteUntil(o));
         }},
    };
  }

  static Calls Transactions() {
    constexpr Kind kind = Kind::kTransaction;
    return {
        {"Database::Apply", kind,
         [](const Tables& c, const CallOptions& o) {
           return c.database->Apply(BatchOf(c), WriteUntil(o));
         }},
        {"Database::Apply with kSync", kind,
         [](const Tables& c, const CallOptions& o) {
           return c.database->Apply(BatchOf(c), SyncUntil(o));
         }},
        {"a transaction", kind,
         [](const Tables& c, const CallOptions& o) {
           absl::StatusOr<Transaction> transaction = c.database->BeginTransaction(o);
           if (!transaction.ok()) return transaction.status();
           absl::Status status = transaction->ReadRow(c.t, "first", {}, ReadUntil(o)).status();
           status.Update(
               ReadAll(transaction->ReadRows(c.u, RowSet(RowRange::All()), {}, ReadUntil(o))));
           status.Update(transaction->Apply(c.t, Set("call", c)));
           return status.ok() ? transaction->Commit(WriteUntil(o)) : status;
         }},
        {"RunTransaction", kind,
         [](const Tables& c, const CallOptions& o) {
           return c.database->RunTransaction(
               [&](Transaction* transaction) {
                 const auto row = transaction->ReadRow(c.t, "first", {}, ReadUntil(o));
                 return row.ok() ? transaction->Apply(c.u, Set("call", c)) : row.status();
               },
               WriteUntil(o));
         }},
    };
  }

  static Calls Changes() {
    constexpr Kind kind = Kind::kChange;
    return {
        {"OpenTable", Kind::kLookup,
         [](const Tables& c, const CallOptions& o) {
           return c.database
               ->OpenTable("t", {.deadline = o.deadline, .cancellation = o.cancellation})
               .status();
         }},
        {"OpenTable of none", Kind::kLookup,
         [](const Tables& c, const CallOptions& o) {
           return c.database
               ->OpenTable("none", {.deadline = o.deadline, .cancellation = o.cancellation})
               .status();
         }},
        {"OpenOrCreateTable", kind,
         [](const Tables& c, const CallOptions& o) {
           return c.database->OpenOrCreateTable(Cat("or", c.suffix), Schema(), CreateUntil(o))
               .status();
         }},
        {"CreateTable", kind,
         [](const Tables& c, const CallOptions& o) {
           return c.database->CreateTable(Cat("new", c.suffix), Schema(), CreateUntil(o));
         }},
        {"DeleteTable", kind,
         [](const Tables& c, const CallOptions& o) {
           return c.database->DeleteTable("victim", o);
         }},
        {"ListTables", Kind::kLookup,
         [](const Tables& c, const CallOptions& o) { return c.database->ListTables(o).status(); }},
        {"GetSchema", Kind::kLookup,
         [](const Tables& c, const CallOptions& o) {
           return c.database->GetSchema("t", o).status();
         }},
        {"AddFamily", kind,
         [](const Tables& c, const CallOptions& o) {
           return c.database->AddFamily("t", Cat("g", c.suffix), {}, o);
         }},
        {"UpdateFamily", kind,
         [](const Tables& c, const CallOptions& o) {
           return c.database->UpdateFamily("t", "f", {.gc = GcRule::MaxVersions(9)}, o);
         }},
        {"DropFamily", kind,
         [](const Tables& c, const CallOptions& o) { return c.database->DropFamily("t", "g", o); }},
        {"ModifyFamilies", kind,
         [](const Tables& c, const CallOptions& o) {
           return c.database->ModifyFamilies(
               "u", {FamilyChange::Drop("g"), FamilyChange::Add("g", {})}, o);
         }},
        {"SetLocalityGroup", kind,
         [](const Tables& c, const CallOptions& o) {
           return c.database->SetLocalityGroup("t", "new", {}, o);
         }},
        {"SetSplitRule", kind,
         [](const Tables& c, const CallOptions& o) {
           return c.database->SetSplitRule("t", {.tablet_size = 0, .merge_size = 0}, o);
         }},
        {"SetChangeStream", kind,
         [](const Tables& c, const CallOptions& o) {
           return c.database->SetChangeStream("t", {.retention = absl::Hours(1)}, o);
         }},
        {"SetObservers", kind,
         [](const Tables& c, const CallOptions& o) {
           return c.database->SetObservers("u", {}, o);
         }},
        {"SetAccessList", kind,
         [](const Tables& c, const CallOptions& o) {
           return c.database->SetAccessList("list", {}, o);
         }},
        {"DeleteAccessList", kind,
         [](const Tables& c, const CallOptions& o) {
           return c.database->DeleteAccessList("list", o);
         }},
        {"GetAccessList", Kind::kLookup,
         [](const Tables& c, const CallOptions& o) {
           return c.database->GetAccessList("list", o).status();
         }},
        {"ListAccessLists", Kind::kLookup,
         [](const Tables& c, const CallOptions& o) {
           return c.database->ListAccessLists(o).status();
         }},
        {"SetTableQuota", kind,
         [](const Tables& c, const CallOptions& o) {
           return c.database->SetTableQuota("t", {}, o);
         }},
        {"SetCallerQuota", kind,
         [](const Tables& c, const CallOptions& o) {
           return c.database->SetCallerQuota("somebody", {}, o);
         }},
        {"GetTableQuota", Kind::kLookup,
         [](const Tables& c, const CallOptions& o) {
           return c.database->GetTableQuota("t", o).status();
         }},
        {"GetCallerQuota", Kind::kLookup,
         [](const Tables& c, const CallOptions& o) {
           return c.database->GetCallerQuota("somebody", o).status();
         }},
        {"ListTableQuotas", Kind::kLookup,
         [](const Tables& c, const CallOptions& o) {
           return c.database->ListTableQuotas(o).status();
         }},
        {"ListCallerQuotas", Kind::kLookup,
         [](const Tables& c, const CallOptions& o) {
           return c.database->ListCallerQuotas(o).status();
         }},
    };
  }

  static Calls Tablets() {
    constexpr Kind kind = Kind::kTablets;
    return {
        {"ListTablets", Kind::kLookup,
         [](const Tables& c, const CallOptions& o) {
           return c.database->ListTablets("t", o).status();
         }},
        {"SplitTablet", kind,
         [](const Tables& c, const CallOptions& o) {
           return c.database->SplitTablet("u", Cat("k", c.suffix), o);
         }},
        {"MergeTablets", kind,
         [](const Tables& c, const CallOptions& o) {
           return c.database->MergeTablets("t", "m", o);
         }},
        {"MoveTablet", kind,
         [](const Tables& c, const CallOptions& o) {
           const auto tablets = c.database->ListTablets("t", o);
           if (!tablets.ok()) return tablets.status();
           return c.database->MoveTablet("t", "a", 1 - tablets->front().server, o);
         }},
        {"DropRowRange", kind,
         [](const Tables& c, const CallOptions& o) {
           return c.t->DropRowRange(RowRange::RightOpen("x", "y"), o);
         }},
    };
  }

  static Calls Work() {
    constexpr Kind kind = Kind::kWork;
    return {
        {"Flush", kind,
         [](const Tables& c, const CallOptions& o) { return c.database->Flush("t", o); }},
        {"Compact", kind,
         [](const Tables& c, const CallOptions& o) { return c.database->Compact("t", o); }},
        {"WaitUntilQuiet", kind,
         [](const Tables& c, const CallOptions& o) { return c.database->WaitUntilQuiet(o); }},
        {"Resume", kind,
         [](const Tables& c, const CallOptions& o) { return c.database->Resume(o); }},
    };
  }
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_CLIENT_LIMITED_CALLS_H_
