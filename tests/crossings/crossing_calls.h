// The calls of tests/crossings/crossing_table.h: each makes one call that reads, with the options
// of the case, and returns what it has read. One thread at a time.
#ifndef BIGTABLE_TESTS_CROSSINGS_CROSSING_CALLS_H_
#define BIGTABLE_TESTS_CROSSINGS_CROSSING_CALLS_H_

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/bigtable.h"

#include "base/status.h"
#include "base/strings.h"
#include "client/model_cursors.h"
#include "crossings/crossed_content.h"
#include "crossings/crossed_database.h"
#include "crossings/crossing.h"

namespace bigtable {

using CrossedRows = absl::StatusOr<std::vector<ModelRow>>;

// --- Parts of calls ---

inline bool IsAsked(const Crossing& crossing, std::string_view row) {
  const std::vector<RowRange>& ranges = crossing.rows.ranges();
  return std::any_of(ranges.begin(), ranges.end(),
                     [row](const RowRange& range) { return range.Contains(row); });
}
// The rows that `read` returns for each row of the set, without those that have no cells.
inline CrossedRows EachRow(const Crossing& crossing,
                           absl::FunctionRef<absl::StatusOr<Row>(const std::string&)> read) {
  std::vector<ModelRow> rows;
  for (const std::string& key : CrossedContent::Rows()) {
    if (!IsAsked(crossing, key)) continue;
    BT_ASSIGN_OR_RETURN(const Row row, read(key));
    if (row.key() != key) return absl::InternalError(Cat("a row has the key ", Quoted(row.key())));
    if (!row.empty()) rows.push_back(ToModel(row));
  }
  return rows;
}
inline CrossedRows AllOf(RowReader reader) {
  std::vector<ModelRow> rows;
  while (reader.Next()) rows.push_back(ToModel(reader.row()));
  BT_RETURN_IF_ERROR(reader.status());
  return rows;
}
// A transaction with the own writes of the case.
inline absl::StatusOr<Transaction> BeginWith(const Crossing& crossing, CrossedDatabase* database) {
  BT_ASSIGN_OR_RETURN(Transaction transaction, database->database()->BeginTransaction());
  for (const ModelMutation& mutation : crossing.own_writes) {
    BT_RETURN_IF_ERROR(transaction.Apply(database->table(), mutation.Make()));
  }
  return transaction;
}
// What a mutation that is observed would write, for ReadAfter.
inline ModelMutation ObservedIn(const std::string& row) {
  return {row, {{.family = "f", .qualifier = "p", .timestamp = 2, .value = "observed"}}};
}

// Calls `read` in an observer of a mutation of the row, which is not applied.
inline absl::StatusOr<Row> InObserver(
    Transaction* transaction, CrossedDatabase* database, const std::string& row,
    absl::FunctionRef<absl::StatusOr<Row>(ObserverContext*)> read) {
  absl::StatusOr<Row> result = absl::InternalError("not read");
  const auto reads = [&](ObserverContext* context) { result = read(context); };
  BT_RETURN_IF_ERROR(
      CrossingObserver::Run(transaction, database->table(), ObservedIn(row).Make(), reads));
  return result;
}

// --- Calls ---

inline CrossedRows CallReadRow(const Crossing& crossing, CrossedDatabase* database) {
  BT_ASSIGN_OR_RETURN(const ReadOptions options, database->OptionsOf(crossing));
  return EachRow(crossing, [&](const std::string& row) {
    return database->table()->ReadRow(row, crossing.MakeFilter(), options);
  });
}

inline CrossedRows CallReadRows(const Crossing& crossing, CrossedDatabase* database) {
  BT_ASSIGN_OR_RETURN(ReadOptions options, database->OptionsOf(crossing));
  const Filter filter = crossing.MakeFilter();
  if (crossing.resumed == Resumed::kNot) {
    return AllOf(database->table()->ReadRows(crossing.rows, filter, options));
  }
  // A piece for each row, which is resumed behind it or behind its first cell.
  (crossing.resumed == Resumed::kBetweenRows ? options.row_limit : options.cell_limit) = 1;
  std::vector<ModelRow> rows;
  RowReader reader = database->table()->ReadRows(crossing.rows, filter, options);
  while (reader.Next() && rows.size() <= CrossedContent::Rows().size()) {
    rows.push_back(ToModel(reader.row()));
    reader = database->table()->ResumeRows(reader.ResumeToken(), filter, options);
  }
  BT_RETURN_IF_ERROR(reader.status());
  return rows;
}

inline CrossedRows CallScanner(const Crossing& crossing, CrossedDatabase* database) {
  BT_ASSIGN_OR_RETURN(const ReadOptions options, database->OptionsOf(crossing));
  std::vector<RowRange> ranges = crossing.rows.Normalized();
  if (options.reverse) std::reverse(ranges.begin(), ranges.end());
  std::vector<ModelRow> rows;
  for (const auto& [family, unused] : CrossedContent::MakeSchema().families) {
    Scanner scanner(database->table(), options);
    ScanStream* const stream = scanner.FetchColumnFamily(family);
    stream->SetReturnAllVersions();
    if (crossing.has_filter()) stream->SetFilter(crossing.MakeFilter());
    for (const RowRange& range : ranges) {
      scanner.SetRange(range);
      for (std::string last; !stream->Done(); stream->Next()) {
        if (last != stream->RowName()) rows.push_back({std::string(stream->RowName()), {}});
        last = stream->RowName();
        rows.back().cells.push_back({family, std::string(stream->Qualifier()),
                                     stream->MicroTimestamp(), std::string(stream->Value())});
      }
    }
    BT_RETURN_IF_ERROR(scanner.status());
  }
  return rows;
}

inline CrossedRows CallGet(const Crossing& crossing, CrossedDatabase* database) {
  BT_ASSIGN_OR_RETURN(const ReadOptions options, database->OptionsOf(crossing));
  std::vector<ModelRow> rows;
  for (const std::string& key : CrossedContent::Rows()) {
    if (!IsAsked(crossing, key)) continue;
    for (const auto& [family, unused] : CrossedContent::MakeSchema().families) {
      for (const std::string& qualifier : CrossedContent::Qualifiers()) {
        const absl::StatusOr<std::string> value =
            database->table()->Get(key, Cat(family, ":", qualifier), options);
        if (absl::IsNotFound(value.status())) continue;
        BT_RETURN_IF_ERROR(value.status());
        rows.push_back({key, {{family, qualifier, 0, *value}}});
      }
    }
  }
  return rows;
}

inline CrossedRows CallCheckAndMutate(const Crossing& crossing, CrossedDatabase* database) {
  std::vector<ModelRow> rows;
  for (const std::string& key : CrossedContent::Rows()) {
    if (!IsAsked(crossing, key)) continue;
    // It deletes nothing.
    const RowMutation if_not = RowMutation(key).DeleteCell("f:never", Timestamp(1));
    BT_ASSIGN_OR_RETURN(
        const bool matches,
        database->table()->CheckAndMutateRow(key, crossing.MakeFilter(), RowMutation(key), if_not));
    if (matches) rows.push_back({key, {}});
  }
  return rows;
}

inline CrossedRows CallMutateAtomically(const Crossing& crossing, CrossedDatabase* database) {
  std::vector<ModelRow> rows;
  for (const std::string& key : CrossedContent::Rows()) {
    if (!IsAsked(crossing, key)) continue;
    const auto function = [&](const Row& row) -> absl::StatusOr<RowMutation> {
      if (!row.empty()) rows.push_back(ToModel(row));
      return RowMutation(key);
    };
    BT_RETURN_IF_ERROR(
        database->table()->MutateRowAtomically(key, crossing.MakeFilter(), function));
  }
  return rows;
}

inline CrossedRows CallTransactionReadRow(const Crossing& crossing, CrossedDatabase* database) {
  BT_ASSIGN_OR_RETURN(Transaction transaction, BeginWith(crossing, database));
  return EachRow(crossing, [&](const std::string& row) {
    return transaction.ReadRow(database->table(), row, crossing.MakeFilter(), crossing.options);
  });
}
inline CrossedRows CallTransactionReadRows(const Crossing& crossing, CrossedDatabase* database) {
  BT_ASSIGN_OR_RETURN(Transaction transaction, BeginWith(crossing, database));
  return AllOf(transaction.ReadRows(database->table(), crossing.rows, crossing.MakeFilter(),
                                    crossing.options));
}

inline CrossedRows CallObserverReadRow(const Crossing& crossing, CrossedDatabase* database) {
  BT_ASSIGN_OR_RETURN(Transaction transaction, BeginWith(crossing, database));
  return EachRow(crossing, [&](const std::string& row) {
    return InObserver(&transaction, database, "z", [&](ObserverContext* context) {
      return context->ReadRow(database->table(), row, crossing.MakeFilter());
    });
  });
}
inline CrossedRows CallObserverReadBefore(const Crossing& crossing, CrossedDatabase* database) {
  BT_ASSIGN_OR_RETURN(Transaction transaction, BeginWith(crossing, database));
  return EachRow(crossing, [&](const std::string& row) {
    return InObserver(&transaction, database, row, [&](ObserverContext* context) {
      return context->ReadBefore(crossing.MakeFilter());
    });
  });
}
inline CrossedRows CallObserverReadAfter(const Crossing& crossing, CrossedDatabase* database) {
  BT_ASSIGN_OR_RETURN(Transaction transaction, BeginWith(crossing, database));
  return EachRow(crossing, [&](const std::string& row) {
    return InObserver(&transaction, database, row, [&](ObserverContext* context) {
      return context->ReadAfter(crossing.MakeFilter());
    });
  });
}
inline CrossedRows CallObserverReadRows(const Crossing& crossing, CrossedDatabase* database) {
  BT_ASSIGN_OR_RETURN(Transaction transaction, BeginWith(crossing, database));
  CrossedRows rows = absl::InternalError("not read");
  const auto reads = [&](ObserverContext* context) {
    rows = AllOf(context->ReadRows(database->table(), crossing.rows, crossing.MakeFilter()));
  };
  BT_RETURN_IF_ERROR(
      CrossingObserver::Run(&transaction, database->table(), ObservedIn("z").Make(), reads));
  return rows;
}

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_CROSSINGS_CROSSING_CALLS_H_
