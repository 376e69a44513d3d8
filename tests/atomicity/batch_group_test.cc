// A group of batches over several servers, of which only one requires kSync, and a link to a log
// that cannot be synced: the part of an earlier batch that is not durable there.
#include <array>
#include <cstddef>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/faulty_file_system.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "atomicity/batch_machine.h"
#include "cluster/environment.h"
#include "commit/batch_commit.h"
#include "support/database_peer.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

// A batch for a group: what BatchCommit refers to, and the outcome.
class GroupedBatch {
 public:
  GroupedBatch(BatchMachine* machine, const BatchOperation& operation, size_t number,
               Durability durability) {
    mutations_.reserve(operation.places.size());  // the requests point into them
    for (const size_t place : operation.places) {
      TabletServer* const server = ServerOf(machine, place);
      tablets_.push_back(TabletOf(*server, kBatchPlaces[place]));
      if (tablets_.back() == nullptr) return;
      layouts_.push_back(tablets_.back()->Layout());
      mutations_.push_back(RowMutation(kBatchPlaces[place].row)
                               .Set("f:q", Timestamp(static_cast<int64_t>(number) + 1), "x"));
      encoded_.push_back({&server->writer(), tablets_.back().get(), layouts_.back().get(),
                          EncodedMutation::Of(mutations_.back())});
    }
    request_.mutations = encoded_;
    request_.durability = durability;
  }
  GroupedBatch(const GroupedBatch&) = delete;
  GroupedBatch& operator=(const GroupedBatch&) = delete;

  BatchCommit::Write* write() { return &write_; }
  const absl::Status& status() const { return write_.status; }

 private:
  static TabletServer* ServerOf(BatchMachine* machine, size_t place) {
    const auto hosts = DatabasePeer(machine->database()).Hosts();
    return hosts[static_cast<size_t>(machine->server_of(place))]->server();
  }
  static std::shared_ptr<Tablet> TabletOf(const TabletServer& server, const BatchPlace& place) {
    for (std::shared_ptr<Tablet>& tablet : server.tablets().All()) {
      if (tablet->Layout()->name == place.table && tablet->rows().Contains(place.row)) {
        return std::move(tablet);
      }
    }
    ADD_FAILURE() << "no tablet of table " << place.table << " has row " << place.row;
    return nullptr;
  }

  std::vector<std::shared_ptr<Tablet>> tablets_;
  std::vector<std::shared_ptr<const TableLayout>> layouts_;
  std::vector<RowMutation> mutations_;
  std::vector<BatchMutation> encoded_;
  BatchRequest request_;
  BatchCommit::Write write_{request_};
};

class BatchGroupTest : public testing::Test {
 protected:
  static constexpr size_t kLinking = 0, kSynced = 1, kBuffered = 2, kLater = 3;

  // Places on three servers, one on each.
  void FindPlaces() {
    for (int server = 0; server < 3; ++server) {
      for (size_t place = 0; place < kBatchPlaceCount; ++place) {
        if (machine_.server_of(place) == server) places_[static_cast<size_t>(server)] = place;
      }
    }
    ASSERT_NE(places_[0], places_[1]);
    ASSERT_NE(places_[0], places_[2]);
    ASSERT_NE(places_[1], places_[2]);
  }
  // Two batches over the first two servers, one of which requires kSync, in one group. The log of
  // the third server cannot be synced, and shares a batch that is not durable with that of the
  // first.
  void CommitGroupWithoutItsLink() {
    ASSERT_OK(machine_.Start(3));
    ASSERT_NO_FATAL_FAILURE(FindPlaces());
    operations_ = {{.places = {places_[0], places_[2]}},
                   {.places = {places_[0], places_[1]}},
                   {.places = {places_[0], places_[1]}},
                   {.places = {places_[1]}}};
    ASSERT_OK(machine_.Apply(&operations_[kLinking], kLinking, Durability::kBuffered));
    machine_.faults().FailCalls(
        {.kinds = {FileCall::kLogSync}, .path_contains = machine_.log_of(places_[2])},
        absl::UnavailableError("sync fault"));
    ClusterEnvironment* const environment =
        DatabasePeer(machine_.database()).cluster()->environment();
    shared_.sequences = &environment->sequences;
    shared_.void_batches = environment->batches.void_batches.get();
    shared_.unsynced = &environment->batches.log_sync;
    GroupedBatch synced(&machine_, operations_[kSynced], kSynced, Durability::kSync);
    GroupedBatch buffered(&machine_, operations_[kBuffered], kBuffered, Durability::kBuffered);
    ASSERT_FALSE(HasFailure());
    BatchCommit group(&shared_);
    const std::array<BatchCommit::Write*, 2> writes = {synced.write(), buffered.write()};
    ASSERT_TRUE(group.Run(writes, {}, absl::InfiniteDuration()));
    EXPECT_STATUS(kUnavailable, "sync fault", synced.status());
    EXPECT_OK(buffered.status());
    operations_[kBuffered].is_acknowledged = buffered.status().ok();
  }
  // What is found after a loss of power: batches as a whole, and what was promised.
  std::vector<std::set<size_t>> FindAfterPowerLoss() {
    BatchMachine after(machine_.Crash(1, Unsynced::kNothing), true);
    EXPECT_OK(after.Start(3));
    std::vector<std::set<size_t>> found = after.Read();
    ExpectWhole(operations_, found);
    ExpectPrefix(operations_, found, false, [](size_t place) { return static_cast<int>(place); });
    EXPECT_FALSE(found[places_[0]].contains(kSynced));  // it has failed, and is void
    return found;
  }

  BatchCommit::Shared shared_;  // the servers refer to it
  BatchMachine machine_{std::make_unique<InMemoryFileSystem>(), true};
  std::array<size_t, 3> places_ = {};
  std::vector<BatchOperation> operations_;
};

// The second server's log is durable with the buffered batch. After a loss of power it ends before
// that batch all the same: the first server's log ends before its part, because of the link.
TEST_F(BatchGroupTest, ASyncedWriteBehindTheBufferedBatchNeedsTheLinkToo) {
  ASSERT_NO_FATAL_FAILURE(CommitGroupWithoutItsLink());
  EXPECT_STATUS(kUnavailable, "sync fault",
                machine_.Apply(&operations_[kLater], kLater, Durability::kSync));
  const auto found = FindAfterPowerLoss();
  EXPECT_FALSE(found[places_[0]].contains(kLinking));
  EXPECT_FALSE(found[places_[1]].contains(kBuffered));
}

TEST_F(BatchGroupTest, AfterResumeTheWriteIsAcknowledgedAndFound) {
  ASSERT_NO_FATAL_FAILURE(CommitGroupWithoutItsLink());
  machine_.faults().ClearFaults();
  ASSERT_OK(machine_.database()->Resume());
  ASSERT_OK(machine_.Apply(&operations_[kLater], kLater, Durability::kSync));
  const auto found = FindAfterPowerLoss();
  EXPECT_TRUE(found[places_[0]].contains(kLinking));
  EXPECT_TRUE(found[places_[1]].contains(kBuffered));
  EXPECT_TRUE(found[places_[1]].contains(kLater));
}

}  // namespace
}  // namespace bigtable
