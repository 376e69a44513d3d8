// A connected database whose service is an embedded database of the same process. Thread-safe, as
// the database is.
#ifndef BIGTABLE_TESTS_CROSSINGS_LOOPBACK_SERVICE_H_
#define BIGTABLE_TESTS_CROSSINGS_LOOPBACK_SERVICE_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "bigtable/bigtable.h"

#include "base/status.h"
#include "connected/table_service.h"

namespace bigtable {

class LoopbackRows final : public RowStream {
 public:
  explicit LoopbackRows(RowReader reader) : reader_(std::move(reader)) {}
  absl::StatusOr<bool> Next(Row* row) override {
    if (reader_.Next()) {
      *row = reader_.TakeRow();
      return true;
    }
    BT_RETURN_IF_ERROR(reader_.status());
    return false;
  }

 private:
  RowReader reader_;
};

class LoopbackTable final : public TableService {
 public:
  LoopbackTable(Database* database, std::string_view name) : database_(database), name_(name) {}

  absl::Status Apply(const RowMutation& mutation, const WriteOptions& options) override {
    BT_ASSIGN_OR_RETURN(Table* const table, database_->OpenTable(name_));
    return table->Apply(mutation, options);
  }
  void ApplyBatch(absl::Span<const RowMutation> mutations, const WriteOptions& options,
                  absl::Span<absl::Status> statuses) override {
    for (size_t i = 0; i < mutations.size(); ++i) {
      if (statuses[i].ok()) statuses[i] = Apply(mutations[i], options);
    }
  }
  absl::StatusOr<bool> CheckAndMutateRow(std::string_view row, const Filter& predicate,
                                         const RowMutation& if_matched, const RowMutation& if_not,
                                         const WriteOptions& options) override {
    BT_ASSIGN_OR_RETURN(Table* const table, database_->OpenTable(name_));
    return table->CheckAndMutateRow(row, predicate, if_matched, if_not, options);
  }
  absl::StatusOr<Row> ReadModifyWriteRow(const ReadModifyWrite& rules,
                                         const WriteOptions& options) override {
    BT_ASSIGN_OR_RETURN(Table* const table, database_->OpenTable(name_));
    return table->ReadModifyWriteRow(rules, options);
  }
  // The caller counts cells.
  std::unique_ptr<RowStream> ReadRows(std::vector<RowRange> ranges, const Filter& filter,
                                      const ReadOptions& options) override {
    RowSet rows;
    for (RowRange& range : ranges) rows.Append(std::move(range));
    ReadOptions without = options;
    without.cell_limit = 0;
    return std::make_unique<LoopbackRows>(
        (*database_->OpenTable(name_))->ReadRows(rows, filter, without));
  }
  absl::Status DropRowRange(const RowRange& rows, const CallOptions& options) override {
    BT_ASSIGN_OR_RETURN(Table* const table, database_->OpenTable(name_));
    return table->DropRowRange(rows, options);
  }
  absl::StatusOr<std::vector<RowKeySample>> SampleRowKeys(const CallOptions& options) override {
    BT_ASSIGN_OR_RETURN(Table* const table, database_->OpenTable(name_));
    return table->SampleRowKeys(options);
  }

 private:
  Database* const database_;
  const std::string name_;
};

class LoopbackDatabase final : public DatabaseService {
 public:
  // `database` outlives this and the tables that come from it.
  explicit LoopbackDatabase(Database* database) : database_(database) {}

  absl::Status Close() override { return absl::OkStatus(); }
  absl::Status Resume(const CallOptions& options) override { return database_->Resume(options); }
  absl::Status CreateTable(std::string_view name, const TableSchema& schema,
                           const CreateTableOptions& options) override {
    return database_->CreateTable(name, schema, options);
  }
  absl::Status DeleteTable(std::string_view name, const CallOptions& options) override {
    return database_->DeleteTable(name, options);
  }
  absl::StatusOr<std::vector<std::string>> ListTables(const CallOptions& options) override {
    return database_->ListTables(options);
  }
  absl::StatusOr<TableSchema> GetSchema(std::string_view table,
                                        const CallOptions& options) override {
    return database_->GetSchema(table, options);
  }
  absl::Status ModifyFamilies(std::string_view table, const std::vector<FamilyChange>& changes,
                              const CallOptions& options) override {
    return database_->ModifyFamilies(table, changes, options);
  }
  std::shared_ptr<TableService> NewTable(std::string_view name) override {
    return std::make_shared<LoopbackTable>(database_, name);
  }

 private:
  Database* const database_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_CROSSINGS_LOOPBACK_SERVICE_H_
