// A random sequence of writes and reads gives the same answers from an embedded database and from a
// connected one. With BIGTABLE_TEST_EMULATOR=HOST:PORT, Google's emulator takes the place of the
// server; see docs/remote.md for what it does differently, which is left out then.
#include "support/random.h"

#include <cstdlib>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include "bigtable/bigtable.h"

#include "remote/served_fixture.h"
#include "support/random_filter.h"
#include "support/seeds.h"

namespace bigtable::remote {
namespace {

class RandomTest : public RemoteTest {
 protected:
  void SetUp() override {
    RemoteTest::SetUp();
    if (const char* emulator = std::getenv("BIGTABLE_TEST_EMULATOR")) {
      auto connected = Connect(emulator);
      ASSERT_TRUE(connected.ok()) << connected.status();
      database_ = *std::move(connected);
      is_emulator_ = true;
    }
    auto opened = Database::Open(directory_.path() + "/embedded");
    ASSERT_TRUE(opened.ok()) << opened.status();
    embedded_ = *std::move(opened);
  }
  bool is_emulator_ = false;
  std::unique_ptr<Database> embedded_;
};

// One program, which is run on both tables with equal random numbers.
class Program {
 public:
  Program(Table* table, uint64_t seed, bool is_emulator)
      : table_(table), random_(seed), is_emulator_(is_emulator) {}

  // Does one step and returns all that it has seen.
  std::string Step() {
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

 private:
  // The emulator's codes differ: most of its errors are UNKNOWN.
  std::string CodeOf(const absl::Status& status) const {
    if (is_emulator_) return status.ok() ? "OK" : "an error";
    return std::string(absl::StatusCodeToString(status.code()));
  }

  std::string Row() { return std::string(1, static_cast<char>('a' + random_.Below(8))); }
  std::string Family() { return random_.OneIn(2) ? "f" : "g"; }
  std::string Text() {
    static const std::vector<std::string> kTexts = {"",   "a",  "q",  "1",
                                                    "a1", "qq", "\n", std::string("\xff\0x", 3)};
    return random_.Pick(kTexts);
  }
  std::string Column() { return Family() + ":" + Text(); }
  Timestamp Time() { return Timestamp(1000 * random_.Between(0, 5)); }

  RowMutation RandomMutation(const std::string& row) {
    RowMutation mutation(row);
    for (int64_t i = random_.Between(1, 4); i > 0; --i) {
      switch (random_.Below(10)) {
        case 0:
          mutation.Delete(Column());
          break;
        case 1:
          mutation.DeleteCell(Column(), Time());
          break;
        case 2: {
          const int64_t begin = random_.Between(0, 4);
          mutation.DeleteTimeRange(Column(), Timestamp(1000 * begin),
                                   Timestamp(1000 * (begin + random_.Between(1, 3))));
          break;
        }
        case 3:
          if (random_.OneIn(3)) mutation.DeleteFamily(Family());
          if (random_.OneIn(5)) mutation.DeleteRow();
          break;
        case 4:
          if (is_emulator_) break;
          mutation.AddToCell("s:" + Text(), Time(), random_.Between(-5, 5));
          break;
        default:
          mutation.Set(Column(), Time(), Text());
      }
    }
    if (mutation.operation_count() == 0) mutation.Set("f:", Time(), "");
    if (random_.OneIn(40) && !is_emulator_) mutation.Set("none:q", Time(), "");
    return mutation;
  }

  // The emulator has its own order of families, and so its own first cells of a row.
  Filter EmulatorsFilter() {
    switch (random_.Below(7)) {
      case 0:
        return Filter::Latest(random_.Between(1, 3));
      case 1:
        return Filter::Family(Family());
      case 2:
        return Filter::Column(Family(), Text());
      case 3:
        return Filter::ColumnPrefix(Family(), Text());
      case 4:
        return Filter::TimestampRange(Timestamp(1500), Timestamp(4000));
      case 5:
        return Filter::Interleave(Filter::Family("f"), Filter::StripValueTransformer());
      default:
        return Filter::Chain(Filter::Family(Family()), Filter::StripValueTransformer());
    }
  }

  Filter RandomFilter() {
    if (random_.OneIn(3)) return Filter();
    if (is_emulator_) return EmulatorsFilter();
    RandomFilters filters(&random_, {.family = [this] { return Family(); },
                                     .text = [this] { return Text(); },
                                     .max_timestamp = 6000});
    return filters.Next().Make();
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
    return "check " + CodeOf(matched.status()) + (matched.ok() && *matched ? " yes" : "");
  }

  // The new cells have the time of the write, so only values are compared; and the cells are
  // deleted again.
  std::string ReadModifyWriteRow() {
    const std::string row = Row();
    ReadModifyWrite rules(row);
    RowMutation cleanup(row);
    for (int64_t i = random_.Between(1, 3); i > 0; --i) {
      const std::string column = Column();
      // The emulator keeps the results of the rules before one that it refuses.
      if (is_emulator_ || random_.OneIn(2)) {
        rules.Append(column, Text());
      } else {
        rules.Increment(column, random_.Between(-5, 5));
      }
      cleanup.Delete(column);
    }
    const absl::StatusOr<bigtable::Row> written = table_->ReadModifyWriteRow(rules);
    std::string text = "modify " + CodeOf(written.status());
    if (!written.ok()) return text;
    for (const Cell& cell : written->cells()) {
      text += " " + std::string(cell.qualifier) + "=" + std::string(cell.value);
    }
    return text + " " + CodeOf(table_->Apply(cleanup));
  }

  std::string ReadRow() {
    const absl::StatusOr<bigtable::Row> row = table_->ReadRow(Row(), RandomFilter());
    return "row " + CodeOf(row.status()) + " " + (row.ok() ? TextOf(*row) : "");
  }

  RowRange Range() {
    std::string begin = Row();
    std::string end = Row();
    if (end < begin) std::swap(begin, end);
    switch (random_.Below(5)) {
      case 0:
        return RowRange::All();
      case 1:
        return RowRange::Closed(begin, end);
      case 2:
        return RowRange::Open(begin, end);
      case 3:
        return RowRange::StartingAt(begin);
      default:
        return RowRange::Single(begin);
    }
  }

  std::string ReadRows() {
    RowSet rows;
    for (int64_t i = random_.Between(0, 3); i > 0; --i) rows.Append(Range());
    ReadOptions options;
    options.reverse = random_.OneIn(3);
    if (random_.OneIn(3)) options.row_limit = random_.Between(1, 4);
    if (random_.OneIn(4)) options.cell_limit = random_.Between(1, 9);
    RowReader reader = table_->ReadRows(rows, RandomFilter(), options);
    std::string text = "rows";
    while (reader.Next()) {
      text += " [" + std::string(reader.row().key()) + "] " + TextOf(reader.row());
    }
    return text + " " + CodeOf(reader.status());
  }

  std::string Scan() {
    Scanner scanner(table_, {.row_limit = random_.Between(0, 3)});
    scanner.SetRange(Range());
    std::string text = "scan";
    ScanStream* const stream = scanner.FetchColumnFamily(Family());
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

  Table* const table_;
  Random random_;
  const bool is_emulator_;
};

TEST_F(RandomTest, EmbeddedAndConnectedDatabasesAnswerAlike) {
  int number = 0;
  ForEachSeed(3, [&](uint64_t seed) {
    TableSchema schema;
    schema.families = {{"f", {}}, {"g", {}}};
    // The emulator collects once in a while.
    if (!is_emulator_) schema.families["g"].gc = GcRule::MaxVersions(2);
    if (!is_emulator_) schema.families["s"] = {.value_type = ValueType::kInt64Sum};
    const std::string name =
        "t" + std::to_string(seed % 1'000'000) + "-" + std::to_string(++number);
    if (is_emulator_) database_->DeleteTable(name).IgnoreError();  // of an earlier run
    Program local(embedded_->OpenOrCreateTable(name, schema).value(), seed, is_emulator_);
    Program remote(database_->OpenOrCreateTable(name, schema).value(), seed, is_emulator_);
    for (int step = 0; step < 400; ++step) {
      const std::string expected = local.Step();
      ASSERT_EQ(remote.Step(), expected) << "step " << step;
    }
  });
}

}  // namespace
}  // namespace bigtable::remote
