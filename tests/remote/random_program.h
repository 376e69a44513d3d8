// A random program of the public interface: writes, reads, atomic operations on rows and changes of
// the schema, over an alphabet so small that they meet in the same cells. Every step returns all
// that it has seen as text, so two databases of any kind answer alike if two programs of one seed
// return the same texts.
#ifndef BIGTABLE_TESTS_REMOTE_RANDOM_PROGRAM_H_
#define BIGTABLE_TESTS_REMOTE_RANDOM_PROGRAM_H_

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/time/time.h"

#include "bigtable/bigtable.h"

#include "remote/row_text.h"
#include "support/emulators_filter.h"
#include "support/random.h"
#include "support/random_filter.h"

namespace bigtable::remote {

class RandomProgram {
 public:
  // What the databases that are compared have in common.
  enum class Dialect : uint8_t {
    kEngine,    // all that the Bigtable API has
    kEmulator,  // without what docs/server.md lists under "Differences from Google's emulator"
  };

  // `database` outlives this, and has no table `name`.
  RandomProgram(Database* database, std::string name, uint64_t seed, Dialect dialect)
      : database_(database),
        name_(std::move(name)),
        random_(seed),
        is_emulator_(dialect == Dialect::kEmulator) {}

  // Before the first step. There are no steps without a table.
  std::string CreateTable() {
    TableSchema schema;
    schema.families = {{"f", {}}, {"g", {}}, {"s", {.value_type = ValueType::kInt64Sum}}};
    // The emulator collects once in a while, and not at once.
    if (!is_emulator_) schema.families["g"].gc = GcRule::MaxVersions(2);
    families_ = {"f", "g"};
    const absl::Status created = database_->CreateTable(name_, schema);
    table_ = database_->OpenTable(name_).value_or(nullptr);
    return "create " + CodeOf(created);
  }

  std::string Step() {
    if (table_ == nullptr) return "no table";
    switch (random_.Below(60)) {
      case 0:
        return ChangeFamilies();
      case 1:
        return DropRows();
      case 2:
        return random_.OneIn(6) ? CreateAgain() : GetSchema();
      default:
        return UseRows();
    }
  }

 private:
  std::string UseRows() {
    switch (random_.Below(12)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return "apply " + CodeOf(table_->Apply(RandomMutation(Row())));
      case 4:
        return Batch();
      case 5:
        return CheckAndMutate();
      case 6:
        return ReadModifyWriteRow();
      case 7:
      case 8:
        return ReadRow();
      case 9:
        return Scan();
      default:
        return ReadRows();
    }
  }

  // The emulator's codes differ: most of its errors are UNKNOWN.
  std::string CodeOf(const absl::Status& status) const {
    if (is_emulator_) return status.ok() ? "OK" : "an error";
    return std::string(absl::StatusCodeToString(status.code()));
  }

  // --- What the steps name ---

  std::string Row() { return std::string(1, static_cast<char>('a' + random_.Below(8))); }
  // One that the table has, and for databases that answer alike then, now and then one that it had.
  std::string Family() {
    if (!is_emulator_ && random_.OneIn(60)) return "h";
    return random_.Pick(families_);
  }
  std::string Text() {
    static const std::vector<std::string> kTexts = {"",   "a",  "q",  "1",
                                                    "a1", "qq", "\n", std::string("\xff\0x", 3)};
    return random_.Pick(kTexts);
  }
  std::string Column() { return Family() + ":" + Text(); }
  Timestamp Time() { return Timestamp(1000 * random_.Between(0, 5)); }

  RowRange Range() {
    std::string begin = Row();
    std::string end = Row();
    if (end < begin) std::swap(begin, end);
    switch (random_.Below(6)) {
      case 0:
        return RowRange::All();
      case 1:
        return RowRange::Closed(begin, end);
      case 2:
        return RowRange::Open(begin, end);
      case 3:
        return RowRange::StartingAt(begin);
      case 4:
        return RowRange::Prefix(begin);
      default:
        return RowRange::Single(begin);
    }
  }

  Filter RandomFilter() {
    filter_text_.clear();
    if (random_.OneIn(3)) return Filter();
    RandomFilters filters(&random_, {.family = [this] { return Family(); },
                                     .text = [this] { return Text(); },
                                     .max_timestamp = 6000});
    ModelFilter filter = filters.Next();
    if (is_emulator_) filter = EmulatorsFilter(filter);
    filter_text_ = " by " + filter.DebugString();
    return filter.Make();
  }

  // --- Writes ---

  RowMutation RandomMutation(const std::string& row) {
    RowMutation mutation(row);
    for (int64_t i = random_.Between(1, 4); i > 0; --i) AddOperation(&mutation);
    if (mutation.operation_count() == 0) mutation.Set(families_[0] + ":", Time(), "");
    // The emulator applies the operations before one that it refuses.
    if (random_.OneIn(40) && !is_emulator_) mutation.Set("none:q", Time(), "");
    return mutation;
  }

  void AddOperation(RowMutation* mutation) {
    switch (random_.Below(10)) {
      case 0:
        mutation->Delete(Column());
        break;
      case 1:
        mutation->DeleteCell(Column(), Time());
        break;
      case 2: {
        const int64_t begin = random_.Between(0, 4);
        mutation->DeleteTimeRange(Column(), Timestamp(1000 * begin),
                                  Timestamp(1000 * (begin + random_.Between(1, 3))));
        break;
      }
      case 3:
        if (random_.OneIn(3)) mutation->DeleteFamily(Family());
        if (random_.OneIn(5)) mutation->DeleteRow();
        break;
      case 4:
        mutation->AddToCell("s:" + Text(), Time(), random_.Between(-5, 5));
        break;
      case 5:
        mutation->MergeToCell("s:" + Text(), Time(), EncodeBigEndian(random_.Between(-5, 5)));
        break;
      default:
        mutation->Set(Column(), Time(), Text());
    }
  }

  std::string Batch() {
    std::vector<RowMutation> mutations;
    for (int64_t i = random_.Between(0, 6); i > 0; --i) mutations.push_back(RandomMutation(Row()));
    std::string text = "batch";
    for (const absl::Status& status : table_->ApplyBatch(mutations)) {
      text += " " + CodeOf(status);
    }
    return text;
  }

  std::string CheckAndMutate() {
    const std::string row = Row();
    const RowMutation if_matched = RandomMutation(row);
    const RowMutation if_not = random_.OneIn(2) ? RowMutation(row) : RandomMutation(row);
    const absl::StatusOr<bool> matched =
        table_->CheckAndMutateRow(row, RandomFilter(), if_matched, if_not);
    return "check" + filter_text_ + ": " + CodeOf(matched.status()) +
           (matched.ok() && *matched ? " yes" : "");
  }

  // The new cells have the time of the write, so only values are compared; and the cells are
  // deleted again.
  std::string ReadModifyWriteRow() {
    const std::string row = Row();
    ReadModifyWrite rules(row);
    RowMutation cleanup(row);
    std::set<std::string> columns;
    for (int64_t i = random_.Between(1, 3); i > 0; --i) {
      std::string column = Column();
      // Of these columns, one in three has a number in it before.
      const bool is_number = random_.OneIn(3);
      if (is_number) column += "number";
      // The emulator has a time for each rule, and so two cells of a column with two rules.
      if (!columns.insert(column).second && is_emulator_) continue;
      AddRule(column, is_number, &rules);
      cleanup.Delete(column);
    }
    std::string text = "modify";
    // Twice, so that there is something to add to.
    for (int i = 0; i < 2; ++i) {
      const absl::StatusOr<bigtable::Row> written = table_->ReadModifyWriteRow(rules);
      text += " " + CodeOf(written.status());
      if (!written.ok()) continue;
      for (const Cell& cell : written->cells()) {
        text += " " + std::string(cell.family) + ":" + std::string(cell.qualifier) + "=" +
                std::string(cell.value);
      }
    }
    return text + " " + CodeOf(table_->Apply(cleanup));
  }

  // A rule that succeeds, for the emulator: it keeps the results of the rules before one that it
  // refuses.
  void AddRule(const std::string& column, bool is_number, ReadModifyWrite* rules) {
    if (is_number || (!is_emulator_ && random_.OneIn(2))) {
      rules->Increment(column, random_.Between(-5, 5));
    } else {
      rules->Append(column, Text());
    }
  }

  // --- Reads ---

  // Which of the cells of one column and time comes first is not specified, where filters have made
  // several: the emulator's filters are compared without their order.
  std::string CellsOf(const bigtable::Row& row) const {
    std::vector<std::string> cells = CellTexts(row);
    if (is_emulator_) std::sort(cells.begin(), cells.end());
    return absl::StrJoin(cells, " ");
  }

  std::string ReadRow() {
    const std::string key = Row();
    const absl::StatusOr<bigtable::Row> row = table_->ReadRow(key, RandomFilter());
    return "row " + key + filter_text_ + ": " + CodeOf(row.status()) + " " +
           (row.ok() ? CellsOf(*row) : "");
  }

  std::string ReadRows() {
    RowSet rows;
    for (int64_t i = random_.Between(0, 3); i > 0; --i) rows.Append(Range());
    // A connected database does not ask the server for no rows, and so not about the filter.
    filter_text_.clear();
    const Filter filter = rows.Normalized().empty() ? Filter() : RandomFilter();
    ReadOptions options;
    options.reverse = random_.OneIn(3);
    if (random_.OneIn(3)) options.row_limit = random_.Between(1, 4);
    if (!is_emulator_ && random_.OneIn(4)) options.cell_limit = random_.Between(1, 9);
    RowReader reader = table_->ReadRows(rows, filter, options);
    std::string text = "rows" + filter_text_ + ":";
    while (reader.Next()) {
      text += " [" + std::string(reader.row().key()) + "] " + CellsOf(reader.row());
    }
    return text + " " + CodeOf(reader.status());
  }

  std::string Scan() {
    Scanner scanner(table_, {.row_limit = random_.Between(0, 3)});
    const RowRange range = Range();
    scanner.SetRange(range);
    std::string text = "scan";
    // As in ReadRows.
    const std::string family = Family();
    ScanStream* const stream = scanner.FetchColumnFamily(range.empty() ? families_[0] : family);
    if (random_.OneIn(2)) stream->SetReturnAllVersions();
    if (random_.OneIn(3)) stream->SetColumnPrefix("a");
    if (random_.OneIn(3)) stream->SetTimestampRange(Timestamp(1000), Timestamp(4000));
    while (!stream->Done()) {
      text += " " + std::string(stream->RowName()) + "/" + std::string(stream->ColumnName()) + "@" +
              std::to_string(stream->MicroTimestamp()) + "=" + std::string(stream->Value());
      if (random_.OneIn(5)) {
        stream->NextRow();
      } else {
        stream->Next();
      }
    }
    return text + " " + CodeOf(scanner.status());
  }

  // --- The schema ---

  // At least one family of bytes stays.
  std::string ChangeFamilies() {
    static const std::vector<std::string> kFamilies = {"f", "g", "h"};
    const std::string& family = random_.Pick(kFamilies);
    const auto found = std::find(families_.begin(), families_.end(), family);
    absl::Status status;
    std::string text;
    if (random_.OneIn(3) && families_.size() > 1) {
      text = "drop ";
      status = database_->DropFamily(name_, family);
      if (found != families_.end()) families_.erase(found);
    } else if (random_.OneIn(2)) {
      text = "add ";
      status = database_->AddFamily(name_, family, {});
      if (found == families_.end()) families_.push_back(family);
    } else {
      // A rule that drops nothing.
      text = "update ";
      const GcRule rule = GcRule::Intersection(GcRule::MaxVersions(random_.Between(50, 99)),
                                               GcRule::MaxAge(absl::Hours(random_.Between(1, 9))));
      status = database_->UpdateFamily(name_, family, {.gc = rule});
    }
    return text + family + " " + CodeOf(status) + ", " + GetSchema();
  }

  std::string GetSchema() {
    const absl::StatusOr<TableSchema> schema = database_->GetSchema(name_);
    std::string text = "schema " + CodeOf(schema.status());
    if (!schema.ok()) return text;
    for (const auto& [name, family] : schema->families) {
      text += " " + name + "/" + std::to_string(static_cast<int>(family.value_type));
      for (const GcRule::Step& step : family.gc.steps()) {
        text += "(" + std::to_string(step.versions) + "," + absl::FormatDuration(step.age) + ")";
      }
    }
    return text;
  }

  std::string DropRows() {
    const RowRange rows = random_.OneIn(8) ? RowRange::All() : RowRange::Prefix(Row());
    return "drop rows " + CodeOf(table_->DropRowRange(rows));
  }

  std::string CreateAgain() {
    std::string text = "delete " + CodeOf(database_->DeleteTable(name_));
    text += " " + CodeOf(database_->DeleteTable(name_)) + " ";
    text += CreateTable();
    return text + " " + CodeOf(database_->CreateTable(name_, {.families = {{"f", {}}}}));
  }

  Database* const database_;
  const std::string name_;
  Random random_;
  const bool is_emulator_;
  std::vector<std::string> families_;  // of bytes, that the table has
  Table* table_ = nullptr;
  std::string filter_text_;  // of the last filter
};

}  // namespace bigtable::remote

#endif  // BIGTABLE_TESTS_REMOTE_RANDOM_PROGRAM_H_
