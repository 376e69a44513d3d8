// This engine. Its clock is at the time of the latest call, so that cells expire as they did.
#include <algorithm>
#include <atomic>
#include <map>
#include <utility>
#include <vector>

#include "absl/memory/memory.h"

#include "common/strings.h"
#include "common/workload.h"
#include "recorded_values.h"
#include "target.h"

namespace bench {
namespace {

using bigtable::Filter;
using bigtable::ReadModifyWrite;
using bigtable::RecordedCall;
using bigtable::RecordedMutation;
using bigtable::RecordedOperation;
using bigtable::RowMutation;
using bigtable::Timestamp;
using bigtable::ValueType;
using Kind = RecordedCall::Kind;
using OperationKind = RecordedOperation::Kind;

class RecordedClock final : public bigtable::Clock {
 public:
  explicit RecordedClock(absl::Time begin) : micros_(absl::ToUnixMicros(begin)) {}
  absl::Time Now() override {
    return absl::FromUnixMicros(micros_.load(std::memory_order_relaxed));
  }
  void AdvanceTo(absl::Time time) {
    const int64_t to = absl::ToUnixMicros(time);
    int64_t now = micros_.load(std::memory_order_relaxed);
    while (now < to && !micros_.compare_exchange_weak(now, to, std::memory_order_relaxed)) {
    }
  }

 private:
  std::atomic<int64_t> micros_;
};

// What only the recorded program has is left out: its operators, filters, observers, access lists
// and policies.
bigtable::TableSchema SchemaFor(bigtable::TableSchema schema, const TargetOptions& options) {
  schema.observers.clear();
  for (auto& [name, family] : schema.families) {
    family.value_operator.clear();
    family.compaction_filter.clear();
    family.access_list.clear();
    family.owner.clear();
  }
  for (auto& [name, group] : schema.locality_groups) {
    if (!options.keeps_policies) {
      group.compaction = options.policy.value;
      group.compaction_factor = options.policy.factor;
      group.compaction_policy = options.policy.registered;
    }
    group.compression = options.compression.value_or(group.compression);
    group.block_size = options.block_size.value_or(group.block_size);
    group.filter = options.filter.value_or(group.filter);
  }
  return schema;
}

class BigtableTarget final : public Target {
 public:
  static absl::StatusOr<std::unique_ptr<Target>> Open(const Overview& recording,
                                                      const TargetOptions& options) {
    auto target = absl::WrapUnique(new BigtableTarget(recording.begin));
    bigtable::DatabaseOptions database_options = options.database;
    database_options.clock = &target->clock_;
    auto database = bigtable::Database::Open(options.directory, database_options);
    if (!database.ok()) return database.status();
    target->database_ = *std::move(database);
    for (const auto& [name, schema] : recording.tables) {
      target->schemas_[name] = SchemaFor(schema, options);
      absl::StatusOr<bigtable::Table*> table =
          target->database_->OpenOrCreateTable(name, target->schemas_[name]);
      if (!table.ok()) return table.status();
      target->tables_[name] = *table;
    }
    return target;
  }

  absl::Status Settle() override {
    for (const auto& [name, table] : tables_) {
      if (absl::Status s = database_->Flush(name); !s.ok()) return s;
    }
    return database_->WaitUntilQuiet();
  }
  absl::StatusOr<TargetFigures> Figures() override;
  absl::Status Close() override { return database_->Close(); }

 private:
  explicit BigtableTarget(absl::Time begin) : begin_(begin), clock_(begin) {}

  bigtable::Table* TableOf(const std::string& name) const { return tables_.at(name); }
  RowMutation MutationOf(const RecordedMutation& recorded);
  void AddOperation(const RecordedMutation& recorded, const RecordedOperation& operation,
                    RowMutation* mutation);
  void AddToCell(ValueType type, const std::string& column, const RecordedOperation& operation,
                 RowMutation* mutation);
  ReadModifyWrite RulesOf(const RecordedMutation& recorded);
  absl::StatusOr<Returned> Read(const RecordedCall& call) override;
  absl::Status Write(const RecordedCall& call) override;
  absl::Status ApplyTogether(const RecordedCall& call, const bigtable::WriteOptions& options);

  const absl::Time begin_;
  RecordedClock clock_;
  RecordedValues values_;
  std::map<std::string, bigtable::TableSchema> schemas_;
  std::unique_ptr<bigtable::Database> database_;
  std::map<std::string, bigtable::Table*> tables_;
};

void BigtableTarget::AddToCell(ValueType type, const std::string& column,
                               const RecordedOperation& operation, RowMutation* mutation) {
  const Timestamp time = operation.timestamp.value_or(Timestamp());
  switch (type) {
    case ValueType::kBytes:  // of an operator that is not here
      mutation->Set(column, time, values_.Next(operation.value_size));
      return;
    case ValueType::kInt64Sum:
    case ValueType::kInt64Min:
    case ValueType::kInt64Max:
      mutation->AddToCell(column, time, int64_t{1});
      return;
    case ValueType::kHyperLogLog:
      mutation->AddToCell(column, time, values_.Next(std::max<uint64_t>(operation.value_size, 1)));
      return;
    case ValueType::kDoubleSum:
    case ValueType::kDoubleMin:
    case ValueType::kDoubleMax:
      mutation->AddToCell(column, time, 1.0);
      return;
  }
}

void BigtableTarget::AddOperation(const RecordedMutation& recorded,
                                  const RecordedOperation& operation, RowMutation* mutation) {
  const std::string column = Concat(operation.family, ":", operation.qualifier);
  const Timestamp time = operation.timestamp.value_or(Timestamp());
  switch (operation.kind) {
    case OperationKind::kSet:
      if (operation.timestamp.has_value()) {
        mutation->Set(column, time, values_.Next(operation.value_size));
      } else {
        mutation->Set(column, values_.Next(operation.value_size));
      }
      return;
    case OperationKind::kDeleteCell:
      mutation->DeleteCell(column, time);
      return;
    case OperationKind::kDeleteColumn:
      mutation->Delete(column);
      return;
    case OperationKind::kDeleteFamily:
      mutation->DeleteFamily(operation.family);
      return;
    case OperationKind::kDeleteRow:
      mutation->DeleteRow();
      return;
    case OperationKind::kAddToCell:
    case OperationKind::kMergeToCell: {
      const auto& families = schemas_.at(recorded.table).families;
      const auto family = families.find(operation.family);
      AddToCell(family == families.end() ? ValueType::kBytes : family->second.value_type, column,
                operation, mutation);
      return;
    }
    case OperationKind::kDeleteTimeRange:
      mutation->DeleteTimeRange(column, time, operation.end);
      return;
    case OperationKind::kAppend:
    case OperationKind::kIncrement:
      return;  // only in rules
  }
}

RowMutation BigtableTarget::MutationOf(const RecordedMutation& recorded) {
  RowMutation mutation(TableOf(recorded.table), recorded.row);
  for (const RecordedOperation& operation : recorded.operations) {
    AddOperation(recorded, operation, &mutation);
  }
  return mutation;
}

ReadModifyWrite BigtableTarget::RulesOf(const RecordedMutation& recorded) {
  ReadModifyWrite rules(recorded.row);
  for (const RecordedOperation& operation : recorded.operations) {
    const std::string column = Concat(operation.family, ":", operation.qualifier);
    if (operation.kind == OperationKind::kIncrement) {
      rules.Increment(column, 1);
    } else {
      rules.Append(column, values_.Next(operation.value_size));
    }
  }
  return rules;
}

absl::StatusOr<Returned> BigtableTarget::Read(const RecordedCall& call) {
  clock_.AdvanceTo(begin_ + call.begin);
  bigtable::Table* const table = TableOf(call.table);
  Returned returned;
  if (call.kind == Kind::kReadRow) {
    absl::StatusOr<bigtable::Row> row =
        table->ReadRow(call.ranges.at(0).begin(), call.filter, {.cell_limit = call.cell_limit});
    if (!row.ok()) return row.status();
    for (const bigtable::Cell& cell : row->cells()) Touch(cell.value);
    return Returned{row->empty() ? uint64_t{0} : 1, row->cells().size()};
  }
  bigtable::RowSet rows;
  for (const bigtable::RowRange& range : call.ranges) rows.Append(range);
  bigtable::RowReader reader = table->ReadRows(
      rows, call.filter,
      {.reverse = call.reverse, .row_limit = call.row_limit, .cell_limit = call.cell_limit});
  while (returned.rows < call.rows && reader.Next()) {
    ++returned.rows;
    returned.cells += reader.row().cells().size();
    for (const bigtable::Cell& cell : reader.row().cells()) Touch(cell.value);
  }
  if (!reader.status().ok()) return reader.status();
  return returned;
}

absl::Status BigtableTarget::ApplyTogether(const RecordedCall& call,
                                           const bigtable::WriteOptions& options) {
  bigtable::WriteBatch batch;
  for (const RecordedMutation& mutation : call.mutations) {
    batch.Apply(TableOf(mutation.table), MutationOf(mutation));
  }
  return database_->Apply(batch, options);
}

absl::Status BigtableTarget::Write(const RecordedCall& call) {
  clock_.AdvanceTo(begin_ + call.begin);
  bigtable::WriteOptions options;
  if (call.synced) options.durability = bigtable::Durability::kSync;
  bigtable::Table* const table = TableOf(call.table);
  std::vector<RowMutation> mutations;
  if (call.kind == Kind::kReadModifyWriteRow) {
    return table->ReadModifyWriteRow(RulesOf(call.mutations.at(0)), options).status();
  }
  if (call.kind == Kind::kApplyWriteBatch || call.kind == Kind::kCommit) {
    return ApplyTogether(call, options);
  }
  if (call.kind == Kind::kDropRowRange) return table->DropRowRange(call.ranges.at(0));
  for (const RecordedMutation& mutation : call.mutations) {
    mutations.push_back(MutationOf(mutation));
  }
  if (call.kind == Kind::kCheckAndMutateRow) {
    // What was written then, also if the predicate looks at values, which are others now.
    const RowMutation& made = mutations.at(call.rows > 0 ? 0 : 1);
    return table->CheckAndMutateRow(call.ranges.at(0).begin(), call.filter, made, made, options)
        .status();
  }
  if (call.kind == Kind::kMutateRowAtomically) {
    return table->MutateRowAtomically(
        call.ranges.at(0).begin(), call.filter,
        [&](const bigtable::Row&) -> absl::StatusOr<RowMutation> { return mutations.at(0); },
        options);
  }
  if (call.kind == Kind::kApply) return table->Apply(mutations.at(0), options);
  for (const absl::Status& status : table->ApplyBatch(mutations, options)) {
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::StatusOr<TargetFigures> BigtableTarget::Figures() {
  const bigtable::DatabaseStatistics all = database_->Statistics();
  TargetFigures figures;
  figures.written_bytes =
      static_cast<double>(all.log_bytes_written + all.minor_compaction_bytes_written +
                          all.merging_compaction_bytes_written);
  figures.stall_seconds = absl::ToDoubleSeconds(all.total_write_delay);
  for (const auto& [name, groups] : all.tables) {
    if (tables_.count(name) == 0) continue;
    for (const auto& [group, statistics] : groups) {
      figures.file_bytes += static_cast<double>(statistics.file_bytes);
      figures.sorted_runs += static_cast<double>(statistics.sorted_runs);
    }
  }
  return figures;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Target>> OpenBigtableTarget(const Overview& recording,
                                                           const TargetOptions& options) {
  return BigtableTarget::Open(recording, options);
}

}  // namespace bench
