// How METADATA is found and read: from the lock service's file down, with one lookup a level, and
// from the top again when a server has ended, has moved a tablet, or does not respond.
#include "metadata/metadata_client.h"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "bigtable/testing/manual_clock.h"

#include "base/sequence.h"
#include "base/strings.h"
#include "metadata/metadata_format.h"
#include "rpc/cell_block.h"
#include "schema/mutation_format.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

using testing::ElementsAre;

constexpr uint64_t kTable = 7;

// A server of METADATA that stores mutations of its tablets.
class Server final : public DataService {
 public:
  explicit Server(std::string name) : name_(std::move(name)) {}

  absl::StatusOr<MutateResponse> Mutate(const MutateRequest& request) override {
    calls.push_back(Cat("mutate ", request.mutations.size()));
    EXPECT_EQ(request.is_batch, request.mutations.size() > 1);
    if (!lost.empty()) {
      const bool is_done = lost.front();
      lost.pop_front();
      if (is_done) Apply(request);
      return absl::UnavailableError("lost on the way");
    }
    MutateResponse response;
    if (request.server != name_) {
      response.verdict = MutateResponse::Verdict::kOtherServer;
    } else if (!Has(request)) {
      response.verdict = MutateResponse::Verdict::kMoved;
    } else if (!error.ok()) {
      response.statuses.assign(request.mutations.size(), error);
    } else {
      Apply(request);
      response.statuses.resize(request.mutations.size());
    }
    return response;
  }
  absl::StatusOr<ScanResponse> Scan(const ScanRequest& request) override {
    calls.push_back(request.sequence.has_value() ? "scan at a sequence" : "scan");
    if (!lost.empty()) {
      lost.pop_front();
      return absl::UnavailableError("lost on the way");
    }
    ScanResponse response;
    const RowRange* const tablet = TabletWith(request.range.begin());
    response.superseded = request.server != name_ || tablet == nullptr;
    if (response.superseded) return response;
    if (!error.ok()) {
      response.status = error;
      return response;
    }
    CellBlockBuilder cells(&response.cells);
    for (const auto& [row, columns] : rows) {
      if (!tablet->Contains(row) || !request.range.Contains(row)) continue;
      if (request.row_limit > 0 && cells.rows() == request.row_limit) {
        response.rest = RowRange::StartingAt(row);
        return response;
      }
      bool is_new = true;
      for (const auto& [column, value] : columns) {
        cells.Add({row, column.first, column.second, 0, value}, std::exchange(is_new, false));
      }
    }
    const bool ends_here = !tablet->end().has_value() || (request.range.end().has_value() &&
                                                          *request.range.end() <= *tablet->end());
    if (!ends_here) {
      response.rest = request.range.end().has_value()
                          ? RowRange::RightOpen(*tablet->end(), *request.range.end())
                          : RowRange::StartingAt(*tablet->end());
    }
    return response;
  }
  void Apply(const MutateRequest& request) {
    for (const EncodedMutation& mutation : request.mutations) Put(mutation);
  }
  void Put(const EncodedMutation& mutation) {
    ++applied;
    OperationReader reader(mutation.operations);
    MutationOperation operation;
    while (reader.Next(&operation)) {
      if (operation.kind != EntryKind::kCell) continue;
      rows[std::string(mutation.row)]
          [{std::string(operation.family), std::string(operation.qualifier)}] = operation.value;
    }
  }
  const RowRange* TabletWith(std::string_view row) const {
    const auto found = std::find_if(tablets.begin(), tablets.end(),
                                    [&](const RowRange& tablet) { return tablet.Contains(row); });
    return found == tablets.end() ? nullptr : &*found;
  }
  bool Has(const MutateRequest& request) const {
    const RowRange* const tablet = TabletWith(request.mutations.front().row);
    return tablet != nullptr &&
           std::all_of(request.mutations.begin(), request.mutations.end(),
                       [&](const EncodedMutation& m) { return tablet->Contains(m.row); });
  }

  std::vector<RowRange> tablets;
  std::map<std::string, std::map<std::pair<std::string, std::string>, std::string>> rows;
  std::vector<std::string> calls;
  std::deque<bool> lost;  // the next calls; true: only their responses
  absl::Status error;
  int applied = 0;

 private:
  const std::string name_;
};

class MetadataClientTest : public testing::Test, public MetadataServers {
 protected:
  void SetUp() override {
    root_ = Add("root-1");
    root_->tablets = {RootRows()};
    first_ = Add("metadata-2");
    PutTablet(RowRange::StartingAt(*RootRows().end()), "metadata-2");
  }
  Server* Add(const std::string& name) {
    servers_[name] = std::make_unique<Server>(name);
    return servers_[name].get();
  }
  // METADATA's row for one of its own tablets.
  void PutTablet(const RowRange& rows, const std::string& server) {
    const std::string row = MetadataRow({kMetadataTableId, rows.end()});
    root_->Put({row, EncodeNewTablet(rows) + EncodeLocation(server)});
    std::vector<RowRange>& tablets = servers_.at(server)->tablets;
    std::erase_if(tablets, [&](const RowRange& other) { return other.Contains(rows.begin()); });
    tablets.push_back(rows);
  }
  // Two tablets of METADATA. The second has the rows of the tablets of kTable that end after "m".
  void Split(const std::string& second) {
    const std::string row = MetadataRow({kTable, "m"});
    first_->tablets.clear();
    PutTablet(RowRange::RightOpen(*RootRows().end(), row), "metadata-2");
    PutTablet(RowRange::StartingAt(row), second);
  }
  absl::Status Mutate(const std::vector<std::string>& ends) {
    std::vector<std::string> rows;
    for (const std::string& end : ends) rows.push_back(MetadataRow({kTable, end}));
    const std::string operations = EncodeLocation("server-9");
    std::vector<EncodedMutation> mutations;
    for (const std::string& row : rows) mutations.push_back({row, operations});
    return client_.Mutate(mutations, Durability::kSync);
  }
  // The end rows of the tablets of kTable in METADATA, or the error.
  std::string Read(const MetadataRead& read) {
    std::string ends;
    std::string last;
    const absl::Status status = client_.Read(read, [&](const ReadCell& cell) {
      if (std::exchange(last, std::string(cell.row)) == cell.row) return absl::OkStatus();
      ends += TabletOfMetadataRow(cell.row)->end_row.value_or("*");
      return absl::OkStatus();
    });
    return status.ok() ? ends : std::string(status.ToString());
  }
  std::string Read() { return Read({.range = MetadataRows(kTable)}); }
  std::string Lookups() {
    const MetadataLookups lookups = client_.lookups();
    return Cat(lookups.root_file, " ", lookups.root_tablet);
  }

  // MetadataServers.
  std::string RootServer() override { return root_server_; }
  DataService* FindService(std::string_view server) override {
    const auto found = servers_.find(std::string(server));
    return found == servers_.end() ? nullptr : found->second.get();
  }
  bool HasEnded(std::string_view server) override {
    return std::find(ended_.begin(), ended_.end(), server) != ended_.end();
  }
  absl::Duration RetryTimeout() override { return retry_timeout_; }
  bool HaveFailed() override { return false; }

  std::map<std::string, std::unique_ptr<Server>> servers_;
  Server* root_ = nullptr;
  Server* first_ = nullptr;
  std::string root_server_ = "root-1";
  std::vector<std::string> ended_;
  absl::Duration retry_timeout_ = absl::InfiniteDuration();
  SequenceSource sequences_;
  ManualClock clock_;
  SnapshotList snapshots_{&sequences_, &clock_};
  MetadataClient client_{this, &snapshots_};
};

TEST_F(MetadataClientTest, EachLevelIsQueriedOnce) {
  EXPECT_EQ(Lookups(), "0 0");
  ASSERT_OK(Mutate({"a"}));
  EXPECT_EQ(Lookups(), "1 1");
  ASSERT_OK(Mutate({"x"}));
  EXPECT_EQ(Read(), "ax");
  EXPECT_EQ(Lookups(), "1 1");
  EXPECT_THAT(root_->calls, ElementsAre("scan"));
  EXPECT_THAT(first_->calls, ElementsAre("mutate 1", "mutate 1", "scan"));
  client_.ForgetAll();
  EXPECT_EQ(Read(), "ax");
  EXPECT_EQ(Lookups(), "2 2");
}

TEST_F(MetadataClientTest, ASupersededTabletIsLookedUpOneLevelAbove) {
  Server* const second = Add("metadata-3");
  ASSERT_OK(Mutate({"a"}));
  Split("metadata-3");
  ASSERT_OK(Mutate({"x"}));
  EXPECT_EQ(second->applied, 1);
  EXPECT_EQ(Lookups(), "1 2");
  ASSERT_OK(Mutate({"a"}));  // which is in the rest of the cached tablet
  ASSERT_OK(Mutate({"x"}));
  ASSERT_OK(Mutate({"a"}));
  EXPECT_EQ(Lookups(), "1 3");
}

TEST_F(MetadataClientTest, CallsGoToTheSuccessorOfAServerThatHasEnded) {
  ASSERT_OK(Mutate({"a"}));
  Server* const next = Add("metadata-3");
  next->rows = first_->rows;
  first_->lost = {false, false, false};
  ended_ = {"metadata-2"};
  PutTablet(RowRange::StartingAt(*RootRows().end()), "metadata-3");
  ASSERT_OK(Mutate({"b"}));
  EXPECT_EQ(Read(), "ab");
  // The same for the root tablet.
  Server* const root = Add("root-4");
  root->rows = root_->rows;
  root->tablets = root_->tablets;
  root_->tablets.clear();
  root_server_ = "root-4";
  client_.ForgetAll();
  EXPECT_EQ(Read(), "ab");
  EXPECT_EQ(Lookups(), "2 3");
}

TEST_F(MetadataClientTest, ARequestWithoutResponseIsSentAgain) {
  first_->lost = {false, true, false};
  ASSERT_OK(Mutate({"a"}));
  EXPECT_THAT(first_->calls, ElementsAre("mutate 1", "mutate 1", "mutate 1", "mutate 1"));
  first_->lost = {false, false};
  EXPECT_EQ(Read(), "a");
  EXPECT_EQ(Lookups(), "1 1");
}

TEST_F(MetadataClientTest, AMutationOfALostServerIsAppliedByTheNext) {
  ASSERT_OK(Mutate({"a"}));
  Server* const next = Add("metadata-3");
  PutTablet(RowRange::StartingAt(*RootRows().end()), "metadata-3");
  first_->error = absl::UnavailableError("it has lost its lock");
  ended_ = {"metadata-2"};
  ASSERT_OK(Mutate({"b"}));
  EXPECT_EQ(next->applied, 1);
}

TEST_F(MetadataClientTest, AnErrorOfTheServerIsReturned) {
  first_->error = absl::UnavailableError("no sync");
  EXPECT_STATUS(kUnavailable, "no sync", Mutate({"a"}));
  first_->error = absl::ResourceExhaustedError("full");
  EXPECT_STATUS(kResourceExhausted, "full", Mutate({"a"}));
  // An error of a file: waiting for another server would not help.
  client_.ForgetAll();
  root_->error = absl::UnavailableError("no read");
  EXPECT_STATUS(kInternal, "no read", Mutate({"a"}));
  EXPECT_THAT(Read(), testing::HasSubstr("no read"));
}

TEST_F(MetadataClientTest, AnErrorOfTheSinkEndsTheRead) {
  for (const std::string end : {"a", "b"}) ASSERT_OK(Mutate({end}));
  int cells = 0;
  const absl::Status status = client_.Read({.range = MetadataRows(kTable)}, [&](const ReadCell&) {
    ++cells;
    return absl::CancelledError("enough");
  });
  EXPECT_STATUS(kCancelled, "enough", status);
  EXPECT_EQ(cells, 1);
}

TEST_F(MetadataClientTest, RowsOfTwoTabletsAreNotMutatedTogether) {
  Server* const second = Add("metadata-3");
  const auto are_together = [&](std::string_view a, std::string_view b) {
    const std::string rows[] = {MetadataRow({kTable, std::string(a)}),
                                MetadataRow({kTable, std::string(b)})};
    const EncodedMutation mutations[] = {{rows[0], ""}, {rows[1], ""}};
    return client_.AreTogether(mutations);
  };
  EXPECT_TRUE(are_together("a", "x"));
  ASSERT_OK(Mutate({"a", "x"}));
  Split("metadata-3");
  // Unknown before the server reports it.
  EXPECT_TRUE(are_together("a", "x"));
  EXPECT_STATUS(kFailedPrecondition, "different tablets", Mutate({"a", "x"}));
  EXPECT_FALSE(are_together("a", "x"));
  EXPECT_TRUE(are_together("a", "b"));
  EXPECT_EQ(first_->applied, 2);
  EXPECT_EQ(second->applied, 0);
}

TEST_F(MetadataClientTest, AReadOfSeveralPartsHasOneReadSequence) {
  Server* const second = Add("metadata-3");
  Split("metadata-3");
  for (const std::string end : {"a", "b", "x"}) ASSERT_OK(Mutate({end}));
  first_->calls.clear();
  second->calls.clear();
  EXPECT_EQ(Read(), "abx");
  EXPECT_THAT(first_->calls, ElementsAre("scan", "scan at a sequence"));
  EXPECT_THAT(second->calls, ElementsAre("scan at a sequence"));
  // All requested rows are in one part.
  first_->calls.clear();
  EXPECT_EQ(Read({.range = MetadataRows(kTable), .row_limit = 2}), "ab");
  EXPECT_THAT(first_->calls, ElementsAre("scan"));
  EXPECT_EQ(Read({.range = MetadataRows(kTable), .row_limit = 3}), "abx");
}

TEST_F(MetadataClientTest, AReadWithoutWaitsDoesNotWait) {
  ASSERT_OK(Mutate({"a"}));
  first_->tablets.clear();
  EXPECT_THAT(Read({.range = MetadataRows(kTable), .waits = false}),
              testing::HasSubstr("UNAVAILABLE"));
  client_.ForgetAll();
  root_server_ = "";
  EXPECT_THAT(Read({.range = MetadataRows(kTable), .waits = false}),
              testing::HasSubstr("root tablet is on no server"));
}

TEST_F(MetadataClientTest, NoCallWaitsForEverWhenTheServersEnd) {
  ASSERT_OK(Mutate({"a"}));
  retry_timeout_ = absl::Milliseconds(20);
  first_->lost = {false, false};
  EXPECT_OK(Mutate({"b"}));  // although a message is lost
  first_->tablets.clear();
  EXPECT_STATUS(kUnavailable, "no server", Mutate({"a"}));
  EXPECT_THAT(Read(), testing::HasSubstr("UNAVAILABLE"));
}

}  // namespace
}  // namespace bigtable
