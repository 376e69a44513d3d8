// Calls through messages return the same results as calls in place.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "support/faulty_network.h"
#include "support/remote_fixture.h"

namespace bigtable {
namespace {

// All rows of a stream, with their cells.
std::string ShowRows(RowReader reader) {
  std::string text;
  for (const Row& row : reader) absl::StrAppend(&text, std::string(row.key()), "/", Show(row), " ");
  if (!reader.status().ok()) absl::StrAppend(&text, std::string(reader.status().ToString()));
  return text;
}

// The parameter: whether the network has faults.
class RemoteAnswersTest : public RemoteFixture, public testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    OpenRemotely(3, GetParam() ? FaultyNetwork::Everything() : FaultyNetwork::Faults{});
    ASSERT_OK_AND_ASSIGN(in_place_, Database::Open("/in_place", Options()));
    tables_ = {CreateTable(database_.get()), CreateTable(in_place_.get())};
  }
  void TearDown() override {
    in_place_.reset();
    RemoteFixture::TearDown();
  }

  // A table of two locality groups and five tablets.
  static Table* CreateTable(Database* database) {
    TableSchema schema = StillSchema();
    schema.locality_groups["other"] = {};
    schema.families["g"] = {.locality_group = "other", .gc = GcRule::MaxVersions(2)};
    EXPECT_OK(database->CreateTable("t", schema,
                                    {.split_rows = {RowOf(12), RowOf(24), RowOf(36), RowOf(48)}}));
    const auto table = database->OpenTable("t");
    EXPECT_OK(table);
    return *table;
  }
  // Calls `ask` for the table behind the network and for the one in place. Both must return the
  // same.
  template <typename Ask>
  void ExpectSame(const Ask& ask) {
    const std::string expected = ask(tables_[1]);
    EXPECT_EQ(ask(tables_[0]), expected);
    answers_ += expected.size();
  }
  // Writes rows 0 to 59, most of them to disk, with versions, deletions and server times.
  void Fill() {
    for (int version = 1; version <= 4; ++version) {
      std::vector<RowMutation> batch;
      for (int i = 0; i < 60; ++i) {
        RowMutation mutation(RowOf(i));
        if (version == 3 && i % 5 == 0) mutation.DeleteFamily("f").DeleteCell("g:q", Timestamp(2));
        if (version == 4 && i % 13 == 0) mutation.DeleteRow();
        mutation.Set("f:q", Timestamp(version), absl::StrCat("v", version, ".", i));
        mutation.Set("f:" + std::string(1, static_cast<char>(i)), absl::StrCat("w", i));
        mutation.Set("g:q", Timestamp(version), std::string(static_cast<size_t>(i) * 7, 'x'));
        batch.push_back(mutation);
      }
      clock_.Set(1000 * version);
      ExpectSame([&](Table* table) {
        std::string statuses;
        if (version % 2 == 0) {
          for (const RowMutation& mutation : batch) statuses += table->Apply(mutation).ToString();
        } else {
          for (const absl::Status& s : table->ApplyBatch(batch)) statuses += s.ToString();
        }
        return statuses;
      });
      if (version == 2) {
        ASSERT_OK(database_->Flush("t"));
        ASSERT_OK(in_place_->Flush("t"));
      }
    }
  }
  static std::vector<Filter> Filters() {
    return {Filter(),
            Filter::BlockAll(),
            Filter::Latest(1),
            Filter::Family("g"),
            Filter::FamilyRegex("f|x"),
            Filter::Family("nothing"),
            Filter::ColumnPrefix("f", "q"),
            Filter::ColumnRange("f", "\x05", "q"),
            Filter::Column("g", "q"),
            Filter::ColumnRegex("[^q]"),
            Filter::TimestampRange(Timestamp(2), Timestamp(4)),
            Filter::RowKeysRegex("row000.[1-4]"),
            Filter::ValueRegex("v.*"),
            Filter::CellsRowLimit(2),
            Filter::CellsRowOffset(1),
            Filter::StripValueTransformer(),
            Filter::Chain(Filter::Latest(2), Filter::ColumnPrefix("nothing", "q")),
            Filter::Chain(Filter::Family("f"), Filter::Latest(2), Filter::CellsRowOffset(1))};
  }

  std::unique_ptr<Database> in_place_;
  std::vector<Table*> tables_;
  size_t answers_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Networks, RemoteAnswersTest, testing::Bool(),
                         [](const auto& param_info) { return param_info.param ? "Bad" : "Good"; });

TEST_P(RemoteAnswersTest, OfReads) {
  Fill();
  for (const Filter& filter : Filters()) {
    for (const int i : {0, 5, 11, 12, 13, 26, 47, 48, 59, 60}) {
      ExpectSame([&](Table* table) { return Show(table->ReadRow(RowOf(i), filter)); });
    }
    for (const bool reverse : {false, true}) {
      const ReadOptions options{.reverse = reverse};
      ExpectSame([&](Table* table) {
        return ShowRows(table->ReadRows(RowRange::All(), filter, options));
      });
      RowSet rows;
      rows.Append(RowRange::RightOpen(RowOf(7), RowOf(12)));
      rows.Append(RowOf(12));
      rows.Append(RowOf(30));
      rows.Append("nowhere");
      rows.Append(RowRange::Open(RowOf(35), RowOf(50)));
      for (const int64_t limit : {0, 1, 5, 12}) {
        ReadOptions limited = options;
        limited.row_limit = limit;
        ExpectSame([&](Table* table) { return ShowRows(table->ReadRows(rows, filter, limited)); });
      }
    }
  }
  ExpectSame([&](Table* table) { return ShowRows(table->ReadRows(RowSet())); });
  EXPECT_GT(answers_, 100000u);
}

TEST_P(RemoteAnswersTest, OfScans) {
  Fill();
  for (const bool reverse : {false, true}) {
    for (const int64_t limit : {0, 3, 20}) {
      for (const RowRange& range :
           {RowRange::All(), RowRange::Single(RowOf(12)), RowRange::Prefix("row0002"),
            RowRange::LeftOpen(RowOf(11), RowOf(24)), RowRange::RightOpen("b", "a")}) {
        ExpectSame([&](Table* table) {
          ReadOptions options;
          options.reverse = reverse;
          options.row_limit = limit;
          Scanner scanner(table, options);
          scanner.SetRange(range);
          ScanStream* const f = scanner.FetchColumnFamily("f");
          f->SetReturnAllVersions();
          ScanStream* const g = scanner.FetchColumnFamily("g");
          g->SetFilter(Filter::ValueRegex("x*"));
          std::string text;
          for (int n = 0; !f->Done(); ++n) {
            absl::StrAppend(&text, Cat(f->RowName(), "/", f->ColumnName(), "@", f->MicroTimestamp(),
                                       "=", f->Value(), ",", scanner.RowName(), " "));
            n % 5 == 4 ? f->NextRow() : f->Next();
          }
          text += ShowStream(g);
          absl::StrAppend(&text, std::string(scanner.status().ToString()));
          scanner.Lookup(RowOf(3));
          text += ShowStream(g);
          return text;
        });
      }
    }
  }
  ExpectSame([&](Table* table) {
    Scanner scanner(table);
    const bool is_done = scanner.FetchColumnFamily("h")->Done();
    return Cat(is_done, ToStd(scanner.status().ToString()));
  });
  EXPECT_GT(answers_, 10000u);
}

TEST_P(RemoteAnswersTest, OfSnapshots) {
  Fill();
  std::vector<std::shared_ptr<const Snapshot>> snapshots;
  for (Database* database : {database_.get(), in_place_.get()}) {
    ASSERT_OK_AND_ASSIGN(snapshots.emplace_back(), database->TakeSnapshot());
  }
  Fill();
  ASSERT_OK(database_->Compact("t"));
  ExpectSame([&](Table* table) {
    ReadOptions options;
    options.snapshot = snapshots[table == tables_[0] ? 0 : 1];
    std::string text = ShowRows(table->ReadRows(RowRange::All(), options));
    for (int i = 0; i < 60; i += 7) text += Show(table->ReadRow(RowOf(i), {}, options));
    return text;
  });
  EXPECT_STATUS(kInvalidArgument, "another database",
                tables_[0]->ReadRow(RowOf(1), {}, {.snapshot = snapshots[1]}).status());
}

TEST_P(RemoteAnswersTest, OfMistakes) {
  ExpectSame([&](Table* table) {
    std::string text;
    const auto add = [&](const absl::Status& status) {
      absl::StrAppend(&text, std::string(status.ToString()), "\n");
    };
    std::vector<RowMutation> batch;
    batch.push_back(RowMutation(RowOf(1)).Set("f:q", Timestamp(1), "good"));
    batch.push_back(RowMutation(RowOf(40)).Set("nocolon", "bad"));
    batch.push_back(RowMutation(RowOf(41)).Set("h:q", "no such family"));
    batch.push_back(RowMutation(RowOf(42)));
    batch.push_back(RowMutation("").Set("f:q", "no row"));
    batch.push_back(RowMutation(RowOf(43)).Set("f:q", Timestamp(1), "good"));
    for (const absl::Status& status : table->ApplyBatch(batch)) add(status);
    for (const RowMutation& mutation : batch) add(table->Apply(mutation));
    add(table->ReadRow("").status());
    add(table->ReadRow("r", Filter::Latest(0)).status());
    add(table->ReadRow("r", Filter::ValueRegex("[")).status());
    add(table->ReadRow("r", {}, {.deadline = absl::InfinitePast()}).status());
    Cancellation cancelled;
    cancelled.Cancel();
    add(table->ReadRow("r", {}, {.cancellation = &cancelled}).status());
    add(table->Apply(batch[0], {.deadline = absl::InfinitePast()}));
    for (const Filter& filter : {Filter(), Filter::Latest(0)}) {
      for (const int64_t limit : {-1, 2}) {
        RowReader reader = table->ReadRows(RowRange::All(), filter, {.row_limit = limit});
        while (reader.Next()) {
        }
        add(reader.status());
      }
    }
    return text + ShowRows(table->ReadRows(RowRange::All()));
  });
}

TEST_P(RemoteAnswersTest, OfATableThatIsDeleted) {
  Fill();
  RowReader reader = tables_[0]->ReadRows(RowRange::All());
  ASSERT_TRUE(reader.Next());
  ASSERT_OK(database_->DeleteTable("t"));
  EXPECT_STATUS(kNotFound, "was deleted", tables_[0]->Apply(RowMutation(RowOf(1)).Set("f:q", "v")));
  EXPECT_STATUS(kNotFound, "was deleted", tables_[0]->ReadRow(RowOf(1)).status());
  EXPECT_THAT(ShowRows(tables_[0]->ReadRows(RowRange::All())), testing::HasSubstr("was deleted"));
}

}  // namespace
}  // namespace bigtable
