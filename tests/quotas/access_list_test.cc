// Access lists: tables that are opened in the name of a caller, in place and through messages.
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "metadata/metadata_format.h"
#include "schema/mutation_format.h"
#include "support/database_fixture.h"
#include "support/database_peer.h"
#include "support/faulty_network.h"

namespace bigtable {
namespace {

#define EXPECT_DENIED(part, expression) EXPECT_STATUS(kPermissionDenied, part, expression)

// Families: "open", which every caller may read and write; "pages", which the crawler writes, and
// the crawler and the search read; "staff", for the staff alone. Two tablets, on two servers.
class AccessListTest : public DatabaseFixture, public testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    OpenHere(Options());
    ASSERT_OK(database_->SetAccessList("pages-list",
                                       {.readers = {"crawler", "search"}, .writers = {"crawler"}}));
    ASSERT_OK(database_->SetAccessList("staff-list", {.readers = {"staff"}, .writers = {"staff"}}));
    TableSchema schema;
    schema.locality_groups["other"] = {};
    schema.families["open"] = {};
    schema.families["pages"] = {.access_list = "pages-list"};
    schema.families["staff"] = {.locality_group = "other", .access_list = "staff-list"};
    schema.split.tablet_size = 0;
    ASSERT_OK(database_->CreateTable("t", schema, {.split_rows = {"m"}}));
    for (const std::string row : {"a", "z"}) {
      ASSERT_OK(OpenTable("t")->Apply(RowMutation(row)
                                          .Set("open:o", Timestamp(1), "1")
                                          .Set("pages:p", Timestamp(1), "2")
                                          .Set("staff:s", Timestamp(1), "3")));
    }
  }
  void OpenHere(DatabaseOptions options) {
    options.tablet_servers = 2;
    Open(options);
    peer_.emplace(database_.get());
    if (!GetParam()) return;
    network_ = std::make_unique<FaultyNetwork>(1, FaultyNetwork::Faults{});
    peer_->UseServices([this](ServerHost* host) { return network_->To(host); });
  }
  void TearDown() override { database_.reset(); }

  Table* As(std::string_view caller) {
    const auto table = database_->OpenTable("t", {.caller = std::string(caller)});
    EXPECT_OK(table);
    return *table;
  }
  static Filter Only(std::string_view family) { return Filter::Family(family); }

  std::optional<DatabasePeer> peer_;
  std::unique_ptr<FaultyNetwork> network_;
};
INSTANTIATE_TEST_SUITE_P(InPlaceAndByMessages, AccessListTest, testing::Bool(),
                         [](const auto& instance) {
                           return instance.param ? "Messages" : "InPlace";
                         });

TEST_P(AccessListTest, TheProgramItselfMayDoEverything) {
  Table* const table = OpenTable("t");
  EXPECT_OK(table->Apply(RowMutation("a").DeleteRow().Set("staff:s", Timestamp(2), "4")));
  EXPECT_EQ(Show(table->ReadRow("a")), "staff:s@2=4");
}

TEST_P(AccessListTest, ListedCallersMayReadOrWrite) {
  const auto write = [](Table* table, std::string_view column) {
    return table->Apply(RowMutation("a").Set(column, Timestamp(2), "new"));
  };
  EXPECT_OK(write(As("crawler"), "pages:p"));
  EXPECT_EQ(Show(As("search")->ReadRow("a", Filter::Chain(Only("pages"), Filter::Latest(1)))),
            "pages:p@2=new");
  const absl::Status denied = write(As("search"), "pages:p");
  for (const char* part : {"\"search\"", "write", "\"pages\"", "table t", "\"pages-list\""}) {
    EXPECT_DENIED(part, denied);
  }
  EXPECT_DENIED("\"stranger\" may not read", As("stranger")->ReadRow("a", Only("pages")));
  EXPECT_OK(write(As("stranger"), "open:o"));
  EXPECT_EQ(Show(As("stranger")->ReadRow("a", Filter::Chain(Only("open"), Filter::Latest(1)))),
            "open:o@2=new");
}

TEST_P(AccessListTest, AWriterMayNotReadUnlessListedAsAReader) {
  ASSERT_OK(database_->SetAccessList("pages-list", {.writers = {"crawler"}}));
  EXPECT_OK(As("crawler")->Apply(RowMutation("a").Set("pages:p", Timestamp(2), "new")));
  EXPECT_DENIED("as a reader", As("crawler")->ReadRow("a", Only("pages")));
}

TEST_P(AccessListTest, AMutationIsRefusedAsAWhole) {
  EXPECT_DENIED("\"staff\"", As("crawler")->Apply(RowMutation("a")
                                                      .Set("pages:p", Timestamp(2), "new")
                                                      .Set("staff:s", Timestamp(2), "new")));
  EXPECT_EQ(Show(OpenTable("t")->ReadRow("a")), "open:o@1=1 pages:p@1=2 staff:s@1=3");
}

TEST_P(AccessListTest, EachMutationOfABatchHasItsOwnStatus) {
  std::vector<RowMutation> batch;
  for (const std::string row : {"a", "b", "y", "z"}) {
    batch.emplace_back(row);
    batch.back().Set(row == "b" || row == "z" ? "staff:s" : "pages:p", Timestamp(2), "new");
  }
  const std::vector<absl::Status> statuses = As("crawler")->ApplyBatch(batch);
  EXPECT_OK(statuses[0]);
  EXPECT_DENIED("\"staff\"", statuses[1]);
  EXPECT_OK(statuses[2]);
  EXPECT_DENIED("\"staff\"", statuses[3]);
  EXPECT_EQ(Show(OpenTable("t")->ReadRow("b")), "");
  EXPECT_EQ(Show(OpenTable("t")->ReadRow("y")), "pages:p@2=new");
}

TEST_P(AccessListTest, DeletingARowRequiresWriteAccessToAllFamilies) {
  EXPECT_DENIED("\"staff\"", As("crawler")->Apply(RowMutation("a").DeleteRow()));
  EXPECT_OK(As("crawler")->Apply(RowMutation("a").DeleteFamily("pages")));
  EXPECT_DENIED("\"staff\"", As("crawler")->Apply(RowMutation("a").DeleteFamily("staff")));
  EXPECT_DENIED("\"staff\"", As("crawler")->Apply(RowMutation("a").Delete("staff:s")));
  EXPECT_EQ(Show(OpenTable("t")->ReadRow("a")), "open:o@1=1 staff:s@1=3");
  ASSERT_OK(database_->SetAccessList("staff-list", {.writers = {"crawler"}}));
  EXPECT_OK(As("crawler")->Apply(RowMutation("a").DeleteRow()));
  EXPECT_EQ(Show(OpenTable("t")->ReadRow("a")), "");
}

TEST_P(AccessListTest, AReadIsCheckedForTheFamiliesThatItsFilterMayPass) {
  EXPECT_DENIED("a filter can leave the family out", As("search")->ReadRow("a"));
  EXPECT_EQ(Show(As("search")->ReadRow("a", Filter::FamilyRegex("pages|open"))),
            "open:o@1=1 pages:p@1=2");
  // Cells that are only counted are read too.
  EXPECT_DENIED("\"staff\"",
                As("search")->ReadRow("a", Filter::Chain(Filter::CellsRowLimit(2), Only("pages"))));
}

TEST_P(AccessListTest, StreamsAreChecked) {
  EXPECT_DENIED("\"staff\"", [&] {
    RowReader reader = As("search")->ReadRows(RowRange::All());
    EXPECT_FALSE(reader.Next());
    return reader.status();
  }());
  EXPECT_EQ(ShowKeys(As("search")->ReadRows(RowRange::All(), Only("pages"))), "a z");

  Scanner scanner(As("search"));
  scanner.SetRange(RowRange::All());
  EXPECT_EQ(ShowStream(scanner.FetchColumnFamily("pages")), "a/pages:p@1=2 z/pages:p@1=2");
  EXPECT_OK(scanner.status());
  EXPECT_EQ(ShowStream(scanner.FetchColumnFamily("staff")), "");
  EXPECT_DENIED("\"staff\"", scanner.status());
}

TEST_P(AccessListTest, AStreamIsCheckedAgainAtTheNextTablet) {
  TableSchema schema;
  schema.families["pages"] = {.access_list = "pages-list"};
  ASSERT_OK(database_->CreateTable("four", schema, {.split_rows = {"b", "c", "d"}}));
  for (const std::string row : {"a", "b", "c", "d"}) Set(OpenTable("four"), row, "pages:p", 1, "v");
  ASSERT_OK_AND_ASSIGN(Table* const table, database_->OpenTable("four", {.caller = "search"}));
  RowReader reader = table->ReadRows(RowRange::All());
  ASSERT_TRUE(reader.Next());
  ASSERT_OK(database_->SetAccessList("pages-list", {}));
  int rows = 1;
  while (reader.Next()) ++rows;
  EXPECT_LE(rows, 2);  // the stream looks at the second tablet to find the end of the first row
  EXPECT_DENIED("\"pages\"", reader.status());
}

TEST_P(AccessListTest, AChangeAppliesToEveryLaterCall) {
  for (int i = 0; i < 20; ++i) {
    ASSERT_OK(database_->SetAccessList("pages-list", {.readers = {"search"}}));
    ASSERT_OK(As("search")->ReadRow("a", Only("pages")));
    ASSERT_OK(database_->SetAccessList("pages-list", {.readers = {"others"}}));
    ASSERT_FALSE(As("search")->ReadRow("a", Only("pages")).ok());
  }
  // A change of a family to another list does too.
  ASSERT_OK(database_->UpdateFamily("t", "pages", {.access_list = "staff-list"}));
  EXPECT_OK(As("staff")->ReadRow("a", Filter::FamilyRegex("pages|staff")));
  ASSERT_OK(database_->UpdateFamily("t", "pages", {.access_list = ""}));
  EXPECT_OK(As("stranger")->ReadRow("a", Only("pages")));
}

TEST_P(AccessListTest, CallersKeepTheirNamesWhereverTheTabletIs) {
  Table* const table = As("search");
  const auto check = [&] {
    for (const std::string row : {"a", "z"}) {
      EXPECT_EQ(Show(table->ReadRow(row, Only("pages"))), "pages:p@1=2");
      EXPECT_DENIED("\"staff\"", table->ReadRow(row));
      EXPECT_DENIED("\"pages\"", table->Apply(RowMutation(row).DeleteFamily("pages")));
    }
  };
  ASSERT_OK(database_->SplitTablet("t", "c"));
  check();
  for (const int server : {0, 1}) {
    ASSERT_OK(database_->MoveTablet("t", "a", server));
    check();
  }
  ASSERT_OK(database_->MergeTablets("t", "c"));
  check();
  // A new table of this name is a different table.
  ASSERT_OK_AND_ASSIGN(const TableSchema schema, database_->GetSchema("t"));
  ASSERT_OK(database_->DeleteTable("t"));
  ASSERT_OK(database_->CreateTable("t", schema));
  EXPECT_STATUS(kNotFound, "deleted", table->ReadRow("a", Only("pages")));
  EXPECT_DENIED("\"staff\"", As("search")->ReadRow("a"));
}

// After a change has returned, no call uses the old list. During the change, a call uses one of the
// two.
TEST_P(AccessListTest, ConcurrentCallsUseTheCurrentList) {
  // 4n: the search may not read. 4n + 2: it may. Odd: a change is being made.
  std::atomic<int> changes{0};
  std::atomic<int> allowed{0}, denied{0};
  std::atomic<bool> stop{false};
  ASSERT_OK(database_->SetAccessList("pages-list", {}));
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&, i] {
      Table* const table = As(i == 0 ? "crawler" : "search");
      while (!stop) {
        const int before = changes;
        const absl::Status status =
            i == 0 ? table->Apply(RowMutation("a").Set("open:o", Timestamp(1), "1"))
                   : table->ReadRow(i == 1 ? "a" : "z", Only("pages")).status();
        const bool was_steady = changes == before && before % 2 == 0;
        if (i == 0) {
          EXPECT_OK(status);
        } else if (was_steady && before % 4 == 0) {
          EXPECT_DENIED("\"pages\"", status);
          ++denied;
        } else if (was_steady) {
          EXPECT_OK(status);
          ++allowed;
        }
      }
    });
  }
  for (int i = 0; i < 60; ++i) {
    ++changes;
    const AccessList list = {.readers = {i % 2 == 0 ? "search" : "others"}};
    EXPECT_OK(database_->SetAccessList("pages-list", list));
    ++changes;
    const std::atomic<int>& seen = i % 2 == 0 ? allowed : denied;
    const int before = seen;
    for (int k = 0; k < 50000 && seen == before; ++k) absl::SleepFor(absl::Microseconds(200));
    EXPECT_GT(seen, before);
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

TEST_P(AccessListTest, AListMayNameAllCallers) {
  ASSERT_OK(database_->SetAccessList(
      "pages-list", {.readers = {AccessList::kEverybody}, .writers = {"crawler"}}));
  EXPECT_OK(As("stranger")->ReadRow("a", Only("pages")));
  EXPECT_DENIED("write", As("stranger")->Apply(RowMutation("a").Delete("pages:p")));
}

TEST_P(AccessListTest, ListsAreSetReadListedAndDeleted) {
  const AccessList list = {.readers = {"x", "y z"}, .writers = {}};
  EXPECT_STATUS(kInvalidArgument, "\"y z\"", database_->SetAccessList("new", list));
  EXPECT_STATUS(kInvalidArgument, "\"\"", database_->SetAccessList("new", {.writers = {""}}));
  EXPECT_STATUS(kInvalidArgument, "\"a/b\"", database_->SetAccessList("a/b", {}));
  EXPECT_STATUS(kInvalidArgument, "\"\"", database_->DeleteAccessList(""));
  EXPECT_STATUS(kInvalidArgument, "caller", database_->OpenTable("t", {.caller = ""}));
  EXPECT_STATUS(kNotFound, "pages-list, staff-list", database_->GetAccessList("new"));
  EXPECT_STATUS(kNotFound, "pages-list, staff-list", database_->DeleteAccessList("new"));

  ASSERT_OK(database_->SetAccessList("new", {.readers = {"x"}}));
  ASSERT_OK_AND_ASSIGN(const AccessList got, database_->GetAccessList("new"));
  EXPECT_EQ(got, (AccessList{.readers = {"x"}}));
  ASSERT_OK_AND_ASSIGN(std::vector<std::string> names, database_->ListAccessLists());
  EXPECT_EQ(names, (std::vector<std::string>{"new", "pages-list", "staff-list"}));
  ASSERT_OK(database_->DeleteAccessList("new"));
  ASSERT_OK_AND_ASSIGN(names, database_->ListAccessLists());
  EXPECT_EQ(names, (std::vector<std::string>{"pages-list", "staff-list"}));
}

TEST_P(AccessListTest, AListThatAFamilyUsesIsNotDeleted) {
  EXPECT_STATUS(kFailedPrecondition, "family \"pages\" of table t",
                database_->DeleteAccessList("pages-list"));
  ASSERT_OK(database_->UpdateFamily("t", "pages", {.access_list = "staff-list"}));
  EXPECT_OK(database_->DeleteAccessList("pages-list"));
  ASSERT_OK(database_->DeleteTable("t"));
  EXPECT_OK(database_->DeleteAccessList("staff-list"));
}

TEST_P(AccessListTest, AFamilysListMustExist) {
  const Family family = {.access_list = "missing-list"};
  const auto refused = [](const absl::Status& status) {
    EXPECT_STATUS(kNotFound, "\"missing-list\"; there are: pages-list, staff-list", status);
  };
  refused(database_->AddFamily("t", "new", family));
  refused(database_->UpdateFamily("t", "open", {.access_list = family.access_list}));
  TableSchema schema;
  schema.families["f"] = family;
  refused(database_->CreateTable("other", schema));
  EXPECT_STATUS(kInvalidArgument, "\"a/b\"",
                database_->AddFamily("t", "new", {.access_list = "a/b"}));
  ASSERT_OK_AND_ASSIGN(const TableSchema before, database_->GetSchema("t"));
  EXPECT_EQ(before.families.size(), 3u);
  EXPECT_EQ(before.families.at("open").access_list, "");
  ASSERT_OK(database_->AddFamily("t", "new", {.access_list = "staff-list"}));
  EXPECT_DENIED("\"new\"", As("search")->ReadRow("a", Only("new")));
}

TEST_P(AccessListTest, AnUnreadableListAdmitsNoCaller) {
  ASSERT_OK(As("search")->ReadRow("a", Only("pages")));
  ASSERT_OK(peer_->session()->Write("access/pages-list", "not a list"));
  EXPECT_STATUS(kFailedPrecondition, "\"pages-list\"", As("search")->ReadRow("a", Only("pages")));
  ASSERT_OK(peer_->session()->Write("access/pages-list", std::string("\x01\x01", 2)));
  EXPECT_STATUS(kDataLoss, "\"pages-list\"",
                As("crawler")->Apply(RowMutation("a").Delete("pages:p")));
  ASSERT_OK(peer_->session()->Remove("access/pages-list"));
  EXPECT_DENIED("\"pages-list\" is not there", As("search")->ReadRow("a", Only("pages")));
  EXPECT_OK(OpenTable("t")->ReadRow("a"));
  ASSERT_OK(database_->SetAccessList("pages-list", {.readers = {"search"}}));
  EXPECT_OK(As("search")->ReadRow("a", Only("pages")));
}

TEST_P(AccessListTest, ListsSurviveACrashAndApplyToReadOnlyDatabases) {
  ASSERT_OK(database_->SetAccessList("pages-list", {.readers = {"late"}}));
  Kill();
  OpenHere(Options());
  EXPECT_OK(As("late")->ReadRow("a", Only("pages")));
  EXPECT_DENIED("\"pages\"", As("search")->ReadRow("a", Only("pages")));
  ASSERT_OK_AND_ASSIGN(const TableSchema schema, database_->GetSchema("t"));
  EXPECT_EQ(schema.families.at("staff").access_list, "staff-list");
  ASSERT_OK(database_->Close());
  database_.reset();

  DatabaseOptions options = Options();
  options.read_only = true;
  OpenHere(options);
  EXPECT_OK(As("late")->ReadRow("a", Only("pages")));
  EXPECT_DENIED("\"pages\"", As("search")->ReadRow("a", Only("pages")));
  EXPECT_STATUS(kFailedPrecondition, "read-only", database_->SetAccessList("pages-list", {}));
}

TEST_P(AccessListTest, TablesOfAllCallersAreCountedTogether) {
  EXPECT_EQ(As("search"), As("search"));
  EXPECT_NE(As("search"), As("crawler"));
  EXPECT_NE(As("search"), OpenTable("t"));
  const auto calls = [&] { return database_->Statistics().calls["t"].read_row; };
  const CallStatistics before = calls();
  EXPECT_OK(As("search")->ReadRow("a", Only("pages")));
  EXPECT_OK(OpenTable("t")->ReadRow("a"));
  EXPECT_DENIED("\"staff\"", As("crawler")->ReadRow("a"));
  EXPECT_EQ(calls().calls - before.calls, 3u);
  EXPECT_EQ(calls().errors - before.errors, 1u);
}

TEST_P(AccessListTest, OnlyTheProgramWritesMetadata) {
  const std::shared_ptr<ServerHost> host = peer_->HostsOf(ServerRole::kMetadata)[0];
  const std::string row = MetadataRow({.table_id = uint64_t{1} << 40, .end_row = std::nullopt});
  RowMutation mutation(row);
  mutation.Set("info:x", Timestamp(1), "y");
  const auto send = [&](Caller caller, uint64_t number) -> absl::Status {
    const absl::StatusOr<MutateResponse> response = host->data_service()->Mutate(
        {.server = host->server()->name(),
         .table_id = kMetadataTableId,
         .id = {.client = 7, .slot = 1, .number = number},
         .caller = caller,
         .mutations = {{mutation.row(), EncodedMutation::Of(mutation).operations}}});
    return response.ok() ? response->statuses.at(0) : response.status();
  };
  EXPECT_DENIED("METADATA", send("search", 1));
  EXPECT_OK(send(std::nullopt, 2));
}

}  // namespace
}  // namespace bigtable
