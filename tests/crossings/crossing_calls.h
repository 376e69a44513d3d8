// The calls of tests/crossings/crossing_table.h: each makes one call that reads, with the options
// of the case, and returns what it has read. One thread at a time.
#ifndef BIGTABLE_TESTS_CROSSINGS_CROSSING_CALLS_H_
#define BIGTABLE_TESTS_CROSSINGS_CROSSING_CALLS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/blocking_counter.h"
#include "absl/types/span.h"

#include "bigtable/bigtable.h"

#include "base/status.h"
#include "base/strings.h"
#include "crossings/crossed_content.h"
#include "crossings/crossed_database.h"
#include "crossings/crossing.h"
#include "model/model_cursors.h"
#include "support/wait_for_rows.h"

namespace bigtable {

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
// The same for all of these rows at once.
inline CrossedRows AllRows(
    const Crossing& crossing,
    absl::FunctionRef<std::vector<absl::StatusOr<Row>>(const std::vector<std::string>&)> read) {
  std::vector<std::string> keys;
  for (const std::string& key : CrossedContent::Rows()) {
    if (IsAsked(crossing, key)) keys.push_back(key);
  }
  std::vector<absl::StatusOr<Row>> found = read(keys);
  if (found.size() != keys.size()) return absl::InternalError("a result for each row");
  size_t i = 0;
  return EachRow(crossing, [&](const std::string&) { return std::move(found[i++]); });
}
inline CrossedRows AllOf(const Crossing& crossing, RowReader reader) {
  std::vector<ModelRow> rows;
  std::vector<Row> taken;
  while (reader.Next()) {
    if (crossing.takes_rows) {
      taken.push_back(reader.TakeRow());
    } else {
      rows.push_back(ToModel(reader.row()));
    }
  }
  BT_RETURN_IF_ERROR(reader.status());
  { const RowReader ended = std::move(reader); }
  for (const Row& row : taken) rows.push_back(ToModel(row));
  return rows;
}
inline WriteOptions WriteOptionsOf(const Crossing& crossing) {
  return {.deadline = crossing.options.deadline, .cancellation = crossing.options.cancellation};
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

// A rule of a ReadModifyWriteRow call. Plain value.
struct ModifyingRule {
  std::string family;
  std::string qualifier;
  std::string appended;  // empty: the amount is added
  int64_t amount = 0;
};
// A text behind the newest cell of each column, and a counter that is not there before.
inline const std::vector<ModifyingRule>& ModifyingRules() {
  static const std::vector<ModifyingRule> rules = [] {
    std::vector<ModifyingRule> made = {{"f", "count", "", 40}};
    for (const std::string& qualifier : CrossedContent::Qualifiers()) {
      for (const char* family : {"e", "f", "fg"}) made.push_back({family, qualifier, "+", 0});
    }
    made.push_back({"f", "count", "", 2});
    return made;
  }();
  return rules;
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

inline CrossedRows CallGetRows(const Crossing& crossing, CrossedDatabase* database) {
  BT_ASSIGN_OR_RETURN(const ReadOptions options, database->OptionsOf(crossing));
  return AllRows(crossing, [&](const std::vector<std::string>& keys) {
    return database->table()->GetRows(std::vector<std::string_view>(keys.begin(), keys.end()),
                                      crossing.MakeFilter(), options);
  });
}

// All are begun before the first is waited for.
inline CrossedRows CallReadRowAsync(const Crossing& crossing, CrossedDatabase* database) {
  BT_ASSIGN_OR_RETURN(const ReadOptions options, database->OptionsOf(crossing));
  return AllRows(crossing, [&](const std::vector<std::string>& keys) {
    std::vector<absl::StatusOr<Row>> found(keys.size());
    absl::BlockingCounter missing(static_cast<int>(keys.size()));
    for (size_t i = 0; i < keys.size(); ++i) {
      database->table()->ReadRowAsync(keys[i], crossing.MakeFilter(), options,
                                      [&found, &missing, i](absl::StatusOr<Row> row) {
                                        found[i] = std::move(row);
                                        missing.DecrementCount();
                                      });
    }
    missing.Wait();
    return found;
  });
}

inline CrossedRows CallGetRowsAsync(const Crossing& crossing, CrossedDatabase* database) {
  BT_ASSIGN_OR_RETURN(const ReadOptions options, database->OptionsOf(crossing));
  return AllRows(crossing, [&](const std::vector<std::string>& keys) {
    return WaitForRows(database->table(), keys, crossing.MakeFilter(), options);
  });
}

inline CrossedRows CallReadRows(const Crossing& crossing, CrossedDatabase* database) {
  BT_ASSIGN_OR_RETURN(ReadOptions options, database->OptionsOf(crossing));
  const Filter filter = crossing.MakeFilter();
  if (crossing.resumed == Resumed::kNot) {
    return AllOf(crossing, database->table()->ReadRows(crossing.rows, filter, options));
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

// A stream of a scanner, and what was read of it.
struct ScannedFamily {
  std::string family;
  ScanStream* stream = nullptr;
  bool is_within_row = false;
  std::vector<ModelRow> rows;

  // Reads a cell. False: there is none.
  bool Step(const Crossing& crossing) {
    if (stream->Done()) return false;
    if (!is_within_row || rows.back().key != stream->RowName()) {
      rows.push_back({std::string(stream->RowName()), {}});
    }
    is_within_row = true;
    rows.back().cells.push_back({family, std::string(stream->Qualifier()), stream->MicroTimestamp(),
                                 std::string(stream->Value())});
    if (crossing.next_rows) {
      stream->NextRow();
    } else {
      stream->Next();
    }
    return true;
  }
};
inline void SetUpStream(const Crossing& crossing, ScanStream* stream) {
  const ModelFilter& columns = crossing.stream_columns;
  stream->SetReturnAllVersions();
  switch (columns.kind) {
    case ModelFilter::Kind::kLatest:
      stream->SetMaxVersions(columns.n);
      break;
    case ModelFilter::Kind::kColumnPrefix:
      stream->SetColumnPrefix(columns.begin);
      break;
    case ModelFilter::Kind::kColumnRange:
      stream->SetColumnRange(columns.begin, columns.end);
      break;
    case ModelFilter::Kind::kColumnRegex:
      stream->SetColumnRegex(ModelRegexes()[columns.regex].text);
      break;
    case ModelFilter::Kind::kTimestampRange:
      stream->SetTimestampRange(Timestamp(columns.from_micros), Timestamp(columns.to_micros));
      break;
    default:
      break;
  }
  if (crossing.has_filter()) stream->SetFilter(crossing.MakeFilter());
}

// The families by one scanner, a cell of each in turn.
inline absl::Status Scan(const Crossing& crossing, const ReadOptions& options,
                         CrossedDatabase* database, absl::Span<ScannedFamily> families) {
  std::vector<RowRange> ranges = crossing.rows.Normalized();
  if (options.reverse) std::reverse(ranges.begin(), ranges.end());
  Scanner scanner(database->table(), options);
  for (ScannedFamily& family : families) {
    family.stream = scanner.FetchColumnFamily(family.family);
    SetUpStream(crossing, family.stream);
  }
  for (const RowRange& range : ranges) {
    if (range == RowRange::Single(range.begin())) {
      scanner.Lookup(range.begin());
    } else {
      scanner.SetRange(range);
    }
    for (ScannedFamily& family : families) family.is_within_row = false;
    for (bool has_more = true; has_more;) {
      has_more = false;
      for (ScannedFamily& family : families) has_more |= family.Step(crossing);
    }
  }
  return scanner.status();
}

inline CrossedRows CallScanner(const Crossing& crossing, CrossedDatabase* database) {
  BT_ASSIGN_OR_RETURN(const ReadOptions options, database->OptionsOf(crossing));
  std::vector<ScannedFamily> families;
  for (const auto& [family, unused] : CrossedContent::MakeSchema().families) {
    families.push_back({.family = family});
  }
  const size_t together = crossing.streams_together ? families.size() : 1;
  for (size_t i = 0; i < families.size(); i += together) {
    BT_RETURN_IF_ERROR(
        Scan(crossing, options, database, absl::MakeSpan(families).subspan(i, together)));
  }
  std::vector<ModelRow> rows;
  for (const ScannedFamily& family : families) {
    rows.insert(rows.end(), family.rows.begin(), family.rows.end());
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
    const RowMutation if_not = RowMutation(key).DeleteCell("f:never", Timestamp(1000));
    BT_ASSIGN_OR_RETURN(const bool matches, database->table()->CheckAndMutateRow(
                                                key, crossing.MakeFilter(), RowMutation(key),
                                                if_not, WriteOptionsOf(crossing)));
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
    BT_RETURN_IF_ERROR(database->table()->MutateRowAtomically(key, crossing.MakeFilter(), function,
                                                              WriteOptionsOf(crossing)));
  }
  return rows;
}

// Without the times, which are those of the call.
inline CrossedRows CallReadModifyWrite(const Crossing& crossing, CrossedDatabase* database) {
  std::vector<ModelRow> rows;
  for (const std::string& key : CrossedContent::Rows()) {
    if (!IsAsked(crossing, key)) continue;
    ReadModifyWrite rules(key);
    for (const ModifyingRule& rule : ModifyingRules()) {
      const std::string column = Cat(rule.family, ":", rule.qualifier);
      if (rule.appended.empty()) {
        rules.Increment(column, rule.amount);
      } else {
        rules.Append(column, rule.appended);
      }
    }
    BT_ASSIGN_OR_RETURN(const Row row,
                        database->table()->ReadModifyWriteRow(rules, WriteOptionsOf(crossing)));
    rows.push_back(ToModel(row));
    for (ModelCell& cell : rows.back().cells) cell.timestamp = 0;
  }
  return rows;
}

// Of samples that do not begin a tablet, only where they are is checked: their number is the
// engine's matter.
inline CrossedRows CallSampleRowKeys(const Crossing& crossing, CrossedDatabase* database) {
  BT_ASSIGN_OR_RETURN(
      const std::vector<RowKeySample> samples,
      database->table()->SampleRowKeys(
          {.deadline = crossing.options.deadline, .cancellation = crossing.options.cancellation}));
  std::vector<ModelRow> rows;
  for (size_t i = 0; i < samples.size(); ++i) {
    const std::string& row = samples[i].row;
    const bool is_in_order = i == 0 || ((row.empty() || row > samples[i - 1].row) &&
                                        samples[i].offset_bytes >= samples[i - 1].offset_bytes);
    if (!is_in_order || row.empty() != (i + 1 == samples.size())) {
      return absl::InternalError(Cat("sample ", i, " of ", samples.size(), " is at ", Quoted(row)));
    }
    if (row.empty() || BeginsTablet(crossing.place, row)) rows.push_back({row, {}});
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
  return AllOf(crossing, transaction.ReadRows(database->table(), crossing.rows,
                                              crossing.MakeFilter(), crossing.options));
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
    rows =
        AllOf(crossing, context->ReadRows(database->table(), crossing.rows, crossing.MakeFilter()));
  };
  BT_RETURN_IF_ERROR(
      CrossingObserver::Run(&transaction, database->table(), ObservedIn("z").Make(), reads));
  return rows;
}

// --- Requests of the API ---

inline CrossedRows RequestReadRows(const Crossing& crossing, CrossedDatabase* database) {
  return database->server()->ReadRows(CrossedDatabase::kTable, crossing);
}
inline CrossedRows RequestCheckAndMutate(const Crossing& crossing, CrossedDatabase* database) {
  std::vector<ModelRow> rows;
  for (const std::string& key : CrossedContent::Rows()) {
    if (!IsAsked(crossing, key)) continue;
    BT_ASSIGN_OR_RETURN(const bool matches, database->server()->CheckAndMutateRow(
                                                CrossedDatabase::kTable, crossing, key));
    if (matches) rows.push_back({key, {}});
  }
  return rows;
}
inline CrossedRows RequestReadModifyWrite(const Crossing& crossing, CrossedDatabase* database) {
  std::vector<ModelRow> rows;
  for (const std::string& key : CrossedContent::Rows()) {
    if (!IsAsked(crossing, key)) continue;
    BT_ASSIGN_OR_RETURN(ModelRow row, database->server()->ReadModifyWriteRow(
                                          CrossedDatabase::kTable, crossing, key));
    for (ModelCell& cell : row.cells) cell.timestamp = 0;
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_CROSSINGS_CROSSING_CALLS_H_
