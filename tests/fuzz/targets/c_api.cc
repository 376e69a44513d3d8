// The C interface: a sequence of calls, compared with a map.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bigtable/c.h"

#include "base/strings.h"
#include "fuzz/input.h"
#include "fuzz/target.h"
#include "support/temp_directory.h"

namespace bigtable {
namespace {

// By timestamp, the newest first, by column, by row.
using CellVersions = std::map<int64_t, std::string, std::greater<>>;
using FuzzRow = std::map<std::string, CellVersions>;
using FuzzTable = std::map<std::string, FuzzRow>;

bool TakeCode(bigtable_error* error) {
  const bool is_ok = error == nullptr;
  bigtable_error_free(error);
  return is_ok;
}

// One for the process: opening costs much more than an input.
class OpenFuzzDatabase {
 public:
  OpenFuzzDatabase() {
    bigtable_options* const options = bigtable_options_new();
    bigtable_options_set_memory_budget(options, 16 << 20);
    bigtable_options_set_tablet_servers(options, 1);
    const std::string path(directory_.database());
    Require(TakeCode(bigtable_database_open(path.data(), path.size(), options, &database_)),
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
    bigtable_schema* const schema = bigtable_schema_new();
    for (const char* family : {"f", "g"}) {
      Require(TakeCode(bigtable_schema_add_family(schema, family, 1, "", 0, nullptr)), "schema");
    }
    Require(TakeCode(bigtable_database_create_table(FuzzDatabase(), name_.data(), name_.size(),
                                                    schema, nullptr)),
            "the table is created");
    bigtable_schema_free(schema);
    Require(
        TakeCode(bigtable_database_open_table(FuzzDatabase(), name_.data(), name_.size(), &table_)),
        "the table is opened");
  }
  ~CApiRun() {
    Require(TakeCode(bigtable_database_delete_table(FuzzDatabase(), name_.data(), name_.size(),
                                                    nullptr)),
            "the table is deleted");
  }

  void Run() {
    constexpr int kMostCalls = 64;
    for (int calls = 0; !input_.at_end() && calls < kMostCalls; ++calls) Call();
    Compare(false);
    Compare(true);
  }

 private:
  void Call() {
    switch (input_.Below(16)) {
      case 0:
        Require(
            TakeCode(bigtable_database_flush(FuzzDatabase(), name_.data(), name_.size(), nullptr)),
            "a flush");
        return;
      case 1:
        Require(TakeCode(
                    bigtable_database_compact(FuzzDatabase(), name_.data(), name_.size(), nullptr)),
                "a compaction");
        return;
      case 2: {
        const std::string row = Row();
        TakeCode(bigtable_database_split_tablet(FuzzDatabase(), name_.data(), name_.size(),
                                                row.data(), row.size(), nullptr));
        return;
      }
      case 3:
        return Compare(input_.Below(2) == 0);
      case 4:
        return ReadRow();
      default:
        Mutate();
    }
  }

  std::string Row() {
    std::string row(1 + input_.Below(2), 'a');
    for (char& c : row) c = "ab\0\xff"[input_.Below(4)];
    return row;
  }
  std::string Column() {
    static constexpr std::string_view kQualifiers[] = {"", "q", std::string_view("\0", 1), "\xff"};
    return Cat(input_.Below(2) == 0 ? "f:" : "g:", kQualifiers[input_.Below(4)]);
  }

  void Mutate() {
    const std::string row = Row();
    bigtable_mutation* const mutation = bigtable_mutation_new(row.data(), row.size());
    FuzzRow changed = table_model_[row];
    bool is_valid = true;
    const int operations = 1 + input_.Below(3);
    for (int i = 0; i < operations; ++i) is_valid &= Operate(mutation, &changed);
    const bool applied = TakeCode(bigtable_table_apply(table_, mutation, nullptr));
    Require(applied == is_valid, "valid mutations are applied, and no others");
    if (applied) table_model_[row] = std::move(changed);
    bigtable_mutation_free(mutation);
  }
  // False if the operation makes the mutation invalid.
  bool Operate(bigtable_mutation* mutation, FuzzRow* row) {
    const std::string column = Column();
    const int64_t time = input_.Below(6);
    switch (input_.Below(10)) {
      case 0:
        bigtable_mutation_delete_row(mutation);
        row->clear();
        return true;
      case 1:
        bigtable_mutation_delete_family(mutation, column.data(), 1);
        std::erase_if(*row, [&](const auto& of) { return of.first[0] == column[0]; });
        return true;
      case 2:
        bigtable_mutation_delete_column(mutation, column.data(), column.size());
        row->erase(column);
        return true;
      case 3:
        bigtable_mutation_delete_cell(mutation, column.data(), column.size(), time);
        (*row)[column].erase(time);
        return true;
      case 4: {
        const int64_t end = time + 1 + input_.Below(3);
        bigtable_mutation_delete_time_range(mutation, column.data(), column.size(), time, end);
        std::erase_if((*row)[column],
                      [&](const auto& cell) { return cell.first >= time && cell.first < end; });
        return true;
      }
      case 5: {
        const std::string_view bad = input_.Below(2) == 0 ? "h:q" : "f";
        bigtable_mutation_set_at(mutation, bad.data(), bad.size(), time, "v", 1);
        return false;
      }
      default: {
        const std::string value(input_.Below(20), static_cast<char>('a' + input_.Below(26)));
        bigtable_mutation_set_at(mutation, column.data(), column.size(), time, value.data(),
                                 value.size());
        (*row)[column][time] = value;
        return true;
      }
    }
  }

  static std::string Expected(const FuzzRow& row) {
    std::string text;
    for (const auto& [column, versions] : row) {
      for (const auto& [time, value] : versions) text += Cat(column, "@", time, "=", value, " ");
    }
    return text;
  }
  static std::string Found(const bigtable_row* row) {
    std::string text;
    for (size_t i = 0; i < bigtable_row_cell_count(row); ++i) {
      size_t size;
      const char* data = bigtable_row_cell_family(row, i, &size);
      text.append(data, size).append(":");
      data = bigtable_row_cell_qualifier(row, i, &size);
      text.append(data, size);
      text += Cat("@", bigtable_row_cell_timestamp(row, i), "=");
      data = bigtable_row_cell_value(row, i, &size);
      text.append(data, size).append(" ");
    }
    return text;
  }
  void ReadRow() {
    const std::string key = Row();
    bigtable_row* row = nullptr;
    Require(
        TakeCode(bigtable_table_read_row(table_, key.data(), key.size(), nullptr, nullptr, &row)),
        "a row is read");
    Require(Found(row) == Expected(table_model_[key]), "a row has its cells");
    bigtable_row_free(row);
  }
  // Reads all rows, and compares them with the model.
  void Compare(bool reverse) {
    std::vector<std::string> expected;
    for (const auto& [key, row] : table_model_) {
      const std::string cells = Expected(row);
      if (!cells.empty()) expected.push_back(key + "/" + cells);
    }
    if (reverse) std::reverse(expected.begin(), expected.end());
    bigtable_read_options* const options = bigtable_read_options_new();
    bigtable_read_options_set_reverse(options, reverse);
    bigtable_row_set* const all = bigtable_row_set_new();
    bigtable_row_set_add_range(all, "", 0, nullptr, 0);
    bigtable_rows* rows = nullptr;
    Require(TakeCode(bigtable_table_read_rows(table_, all, nullptr, options, &rows)), "a stream");
    std::vector<std::string> found;
    while (true) {
      const bigtable_row* row = nullptr;
      Require(TakeCode(bigtable_rows_next(rows, &row)), "a step of a stream");
      if (row == nullptr) break;
      size_t size;
      const char* const key = bigtable_row_key(row, &size);
      found.push_back(std::string(key, size) + "/" + Found(row));
    }
    Require(found == expected, "a stream has all rows");
    bigtable_rows_free(rows);
    bigtable_row_set_free(all);
    bigtable_read_options_free(options);
  }

  FuzzInput input_;
  std::string name_;
  bigtable_table* table_ = nullptr;
  FuzzTable table_model_;
};

void FuzzCApi(std::string_view bytes) { CApiRun(bytes).Run(); }

const FuzzTargetRegistration c_api_target("c_api", FuzzCApi);

}  // namespace
}  // namespace bigtable
