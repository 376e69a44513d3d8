// The C interface: a sequence of calls, compared with a map.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bigtable/c.h"

#include "base/checksum.h"
#include "base/coding.h"
#include "base/strings.h"
#include "fuzz/c_api/arguments.h"
#include "fuzz/c_api/handle.h"
#include "fuzz/c_api/model.h"
#include "fuzz/c_api/reads.h"
#include "fuzz/input.h"
#include "fuzz/target.h"
#include "support/temp_directory.h"

namespace bigtable {
namespace {

// One for the process: opening costs much more than an input.
class OpenFuzzDatabase {
 public:
  OpenFuzzDatabase() {
    bigtable_options* const options = bigtable_options_new();
    bigtable_options_set_memory_budget(options, 16 << 20);
    bigtable_options_set_tablet_servers(options, 2);
    const std::string path(directory_.database());
    Require(IsOk(bigtable_database_open(path.data(), path.size(), options, &database_)),
            "the database opens");
    bigtable_options_free(options);
  }
  ~OpenFuzzDatabase() { bigtable_database_free(database_); }
  bigtable_database* get() const { return database_; }

 private:
  TempDirectory directory_{TempDirectory::Where::kMemory};
  bigtable_database* database_ = nullptr;
};

bigtable_database* FuzzDatabase() {
  static const OpenFuzzDatabase open;
  return open.get();
}

// One input.
class CApiRun {
 public:
  explicit CApiRun(std::string_view bytes) : input_(bytes) {
    static uint64_t last = 0;
    name_ = Cat("t", ++last);
    const SchemaHandle schema(bigtable_schema_new());
    bigtable_locality_group* const group = bigtable_locality_group_new();
    bigtable_locality_group_set_compression(group, BIGTABLE_COMPRESSION_ZSTD);
    bigtable_locality_group_set_filter(group, BIGTABLE_FILTER_KIND_ROW_INDEX);
    Require(IsOk(bigtable_schema_add_locality_group(schema.get(), "z", 1, group)), "a group");
    bigtable_locality_group_free(group);
    for (const std::string_view group_name : {"", "z"}) {
      const char* const family = group_name.empty() ? "f" : "g";
      Require(IsOk(bigtable_schema_add_family(schema.get(), family, 1, group_name.data(),
                                              group_name.size(), nullptr)),
              "a family");
    }
    Require(IsOk(bigtable_database_create_table(database_, name_.data(), name_.size(), schema.get(),
                                                nullptr)),
            "the table is created");
    Require(IsOk(bigtable_database_open_table(database_, name_.data(), name_.size(), &table_)),
            "the table is opened");
  }
  ~CApiRun() {
    Require(IsOk(bigtable_database_delete_table(database_, name_.data(), name_.size(), nullptr)),
            "the table is deleted");
  }

  void Run() {
    constexpr int kMostCalls = 64;
    for (int calls = 0; !input_.at_end() && calls < kMostCalls; ++calls) Call();
    Compare();
  }

 private:
  void Call() {
    switch (input_.Below(20)) {
      case 0:
        return Require(
            IsOk(bigtable_database_flush(database_, name_.data(), name_.size(), nullptr)),
            "a flush");
      case 1:
        return Require(
            IsOk(bigtable_database_compact(database_, name_.data(), name_.size(), nullptr)),
            "a compaction");
      case 2:
        return ChangeTablets();
      case 3:
      case 4:
        return ReadRows();
      case 5:
        return ReadRow();
      case 6:
        return ApplyBatch();
      case 7:
        return RunTransaction();
      case 8:
        return CheckAndMutate();
      case 11:
        return ModifyRow();
      case 12:
        return TakeSnapshot();
      case 13:
        return ResumeOtherToken();
      case 14:
        return DropRows();
      default:
        Mutate();
    }
  }

  void ChangeTablets() {
    const std::string row = TakeRowKey(&input_);
    switch (input_.Below(4)) {
      case 0:
        TakeCode(bigtable_database_merge_tablets(database_, name_.data(), name_.size(), row.data(),
                                                 row.size(), nullptr));
        return;
      case 1:
        TakeCode(bigtable_database_move_tablet(database_, name_.data(), name_.size(), row.data(),
                                               row.size(), input_.Below(3), nullptr));
        return;
      default:
        TakeCode(bigtable_database_split_tablet(database_, name_.data(), name_.size(), row.data(),
                                                row.size(), nullptr));
    }
  }

  // --- Writes ---

  void Mutate() {
    FuzzMutation mutation = TakeMutation(&input_, model_);
    const bool applied = IsOk(bigtable_table_apply(table_, mutation.handle.get(), nullptr));
    Require(applied == mutation.is_valid, "valid mutations are applied, and no others");
    if (applied) model_[mutation.row] = std::move(mutation.changed);
  }

  // Adds mutations to a batch or a transaction. False: one of them is invalid.
  template <typename Add>
  bool TakeMutations(FuzzTable* table, const Add& add) {
    FuzzMutation mutation = TakeMutation(&input_, *table);
    add(mutation.handle.get());
    (*table)[mutation.row] = std::move(mutation.changed);
    return mutation.is_valid;
  }

  void ApplyBatch() {
    const WriteBatchHandle batch(bigtable_write_batch_new());
    FuzzTable changed = model_;
    bool is_valid = true;
    for (int count = input_.Below(4); count > 0; --count) {
      is_valid &= TakeMutations(&changed, [&](const bigtable_mutation* mutation) {
        bigtable_write_batch_apply(batch.get(), table_, mutation);
      });
    }
    const bool applied = IsOk(bigtable_database_apply(database_, batch.get(), nullptr));
    Require(applied == is_valid, "a batch is applied if all of it is valid");
    if (applied) model_ = std::move(changed);
  }

  void RunTransaction() {
    bigtable_transaction* begun = nullptr;
    Require(IsOk(bigtable_database_begin_transaction(database_, nullptr, &begun)),
            "a transaction begins");
    const TransactionHandle transaction(begun);
    FuzzTable changed = model_;
    bool is_valid = true;
    for (int steps = input_.Below(5); steps > 0; --steps) {
      if (input_.Below(2) == 0) {
        FuzzMutation mutation = TakeMutation(&input_, changed);
        if (!IsOk(bigtable_transaction_apply(begun, table_, mutation.handle.get()))) {
          Require(!mutation.is_valid, "a transaction takes a valid mutation");
          continue;  // it is no part of the transaction
        }
        is_valid &= mutation.is_valid;
        changed[mutation.row] = std::move(mutation.changed);
      } else if (is_valid) {
        ReadInTransaction(begun, changed);
      }
    }
    if (input_.Below(4) == 0) return bigtable_transaction_rollback(begun);
    const bool committed = IsOk(bigtable_transaction_commit(begun, nullptr));
    Require(committed == is_valid, "a transaction without a conflict commits");
    if (committed) model_ = std::move(changed);
  }
  void ReadInTransaction(bigtable_transaction* transaction, const FuzzTable& table) {
    const FuzzRead read = TakeRead(&input_);
    bigtable_rows* opened = nullptr;
    Require(IsOk(bigtable_transaction_read_rows(transaction, table_, read.set.handle.get(),
                                                read.filter.handle.get(),
                                                Options(read, false).get(), &opened)),
            "a stream of a transaction");
    const RowsHandle rows(opened);
    Require(TextOfRows(NextRows(opened, kAllRows), 0, kAllRows) ==
                TextOfRows(Limited(Expected(read, table), read), 0, kAllRows),
            "a transaction sees its writes");
  }

  void CheckAndMutate() {
    const FuzzFilter filter = TakeFilter(&input_);
    FuzzMutation mutation = TakeMutation(&input_, model_);
    const bool if_matched = input_.Below(2) == 0;
    const bool matches = !filter.pass(CellsOf(model_, mutation.row)).empty();
    bool matched = false;
    const bool done = IsOk(bigtable_table_check_and_mutate_row(
        table_, mutation.row.data(), mutation.row.size(), filter.handle.get(),
        if_matched ? mutation.handle.get() : nullptr, if_matched ? nullptr : mutation.handle.get(),
        nullptr, &matched));
    Require(done || !mutation.is_valid, "a valid mutation is no error");
    if (!done) return;
    Require(matched == matches, "the predicate passes a cell, or does not");
    if (matched == if_matched) model_[mutation.row] = std::move(mutation.changed);
  }

  // An append to the newest cell of a column.
  void ModifyRow() {
    const std::string row = TakeRowKey(&input_);
    const std::string column = TakeColumn(&input_);
    const RulesHandle rules(bigtable_read_modify_write_new(row.data(), row.size()));
    bigtable_read_modify_write_append(rules.get(), column.data(), column.size(), "+", 1);
    bigtable_row* got = nullptr;
    Require(IsOk(bigtable_table_read_modify_write_row(table_, rules.get(), nullptr, &got)),
            "a rule is applied");
    const RowHandle written(got);
    const FuzzCells cells = CellsOf(got);
    CellVersions& versions = model_[row][column];
    const std::string old = versions.empty() ? "" : versions.begin()->second;
    Require(cells.size() == 1 && cells[0].column == column && cells[0].value == old + "+" &&
                (versions.empty() || cells[0].time >= versions.begin()->first),
            "the newest cell is longer");
    versions[cells[0].time] = cells[0].value;
  }

  void DropRows() {
    const FuzzRowSet set = TakeRowSet(&input_);
    Require(IsOk(bigtable_table_drop_rows(table_, set.handle.get(), nullptr)), "rows are dropped");
    std::erase_if(model_, [&](const auto& row) { return set.Contains(row.first); });
    snapshot_ = nullptr;  // it does not keep these
  }

  // --- Reads ---

  void TakeSnapshot() {
    bigtable_snapshot* taken = nullptr;
    Require(IsOk(bigtable_database_take_snapshot(database_, &taken)), "a snapshot");
    snapshot_.reset(taken);
    at_snapshot_ = model_;
  }

  ReadOptionsHandle Options(const FuzzRead& read, bool at_snapshot) {
    ReadOptionsHandle options(bigtable_read_options_new());
    bigtable_read_options_set_reverse(options.get(), read.reverse);
    bigtable_read_options_set_row_limit(options.get(), read.row_limit);
    bigtable_read_options_set_cell_limit(options.get(), read.cell_limit);
    if (at_snapshot) bigtable_read_options_set_snapshot(options.get(), snapshot_.get());
    return options;
  }

  void ReadRow() {
    const std::string key = TakeRowKey(&input_);
    const FuzzFilter filter = TakeFilter(&input_);
    bigtable_row* got = nullptr;
    Require(IsOk(bigtable_table_read_row(table_, key.data(), key.size(), filter.handle.get(),
                                         nullptr, &got)),
            "a row is read");
    const RowHandle row(got);
    Require(TextOf(CellsOf(got)) == TextOf(filter.pass(CellsOf(model_, key))),
            "a row has its cells");
  }

  RowsHandle OpenRows(const FuzzRead& read, bool at_snapshot) {
    bigtable_rows* rows = nullptr;
    Require(IsOk(bigtable_table_read_rows(table_, read.set.handle.get(), read.filter.handle.get(),
                                          Options(read, at_snapshot).get(), &rows)),
            "a stream");
    return RowsHandle(rows);
  }

  // A part of the rows, and the rest with a token.
  void ReadRows() {
    FuzzRead read = TakeRead(&input_);
    const size_t stop = input_.Below(6);
    const bool at_snapshot = snapshot_ != nullptr && input_.Below(2) == 1;
    const std::vector<FuzzFoundRow> expected = Expected(read, at_snapshot ? at_snapshot_ : model_);
    const RowsHandle rows = OpenRows(read, at_snapshot);
    const std::vector<FuzzFoundRow> begin = NextRows(rows.get(), stop == 5 ? kAllRows : stop);
    Require(TextOfRows(begin, 0, kAllRows) ==
                TextOfRows(Limited(expected, read), 0, stop == 5 ? kAllRows : stop),
            "a stream has its rows");
    const StringHandle token = TokenOf(rows.get());
    read.row_limit = read.cell_limit = 0;
    size_t size;
    const char* const data = bigtable_string_data(token.get(), &size);
    bigtable_rows* resumed = nullptr;
    Require(IsOk(bigtable_table_resume_rows(table_, data, size, read.filter.handle.get(),
                                            Options(read, at_snapshot).get(), &resumed)),
            "a stream is resumed");
    const RowsHandle rest(resumed);
    Require(TextOfRows(NextRows(resumed, kAllRows), 0, kAllRows) ==
                TextOfRows(expected, begin.size(), kAllRows),
            "the rest of a stream has the other rows");
  }
  static StringHandle TokenOf(const bigtable_rows* rows) {
    bigtable_string* token = nullptr;
    Require(IsOk(bigtable_rows_get_resume_token(rows, &token)), "a token");
    return StringHandle(token);
  }

  // A token that no stream has made, with a valid checksum.
  void ResumeOtherToken() {
    constexpr size_t kChecksumSize = 8;
    FuzzRead read = TakeRead(&input_);
    const StringHandle token = TokenOf(OpenRows(read, false).get());
    size_t size;
    const char* const data = bigtable_string_data(token.get(), &size);
    std::string content(data, size - kChecksumSize);
    for (int changes = 1 + input_.Below(3); changes > 0; --changes) {
      content[input_.Byte() % content.size()] = static_cast<char>(input_.Byte());
    }
    content.append(input_.Piece());
    AppendFixed64(&content, Checksum(content));
    bigtable_rows* opened = nullptr;
    if (!IsOk(bigtable_table_resume_rows(table_, content.data(), content.size(),
                                         read.filter.handle.get(), Options(read, false).get(),
                                         &opened))) {
      return;
    }
    const RowsHandle rows(opened);
    const std::vector<FuzzFoundRow> found = NextRows(opened, kAllRows);
    for (size_t i = 1; i < found.size(); ++i) {
      Require(read.reverse ? found[i].key < found[i - 1].key : found[i].key > found[i - 1].key,
              "each row once, in order");
    }
  }

  // All rows, in both orders.
  void Compare() {
    for (const bool reverse : {false, true}) {
      FuzzRead read{.filter = {nullptr, [](FuzzCells cells) { return cells; }}, .reverse = reverse};
      read.set.parts.emplace_back([](const std::string&) { return true; });
      Require(TextOfRows(NextRows(OpenRows(read, false).get(), kAllRows), 0, kAllRows) ==
                  TextOfRows(Expected(read, model_), 0, kAllRows),
              "a stream has all rows");
    }
  }

  bigtable_database* const database_ = FuzzDatabase();
  FuzzInput input_;
  std::string name_;
  bigtable_table* table_ = nullptr;
  FuzzTable model_;
  SnapshotHandle snapshot_;  // null: there is none
  FuzzTable at_snapshot_;
};

void FuzzCApi(std::string_view bytes) { CApiRun(bytes).Run(); }

const FuzzTargetRegistration c_api_target("c_api", FuzzCApi);

}  // namespace
}  // namespace bigtable
