// A database with a given content in a given place: in memory or in files, over some tablets and
// servers, read in place, by messages or through a service. One thread at a time.
#ifndef BIGTABLE_TESTS_CROSSINGS_CROSSED_DATABASE_H_
#define BIGTABLE_TESTS_CROSSINGS_CROSSED_DATABASE_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "base/status.h"
#include "cluster/server_host.h"
#include "crossings/crossed_content.h"
#include "crossings/crossing.h"
#include "crossings/loopback_service.h"
#include "support/database_peer.h"
#include "support/test_clock.h"

namespace bigtable {

// Calls what a test has armed it with, and refuses that mutation. Passes all others.
class CrossingObserver final : public MutationObserver {
 public:
  static constexpr const char* kName = "crossing-observer";
  using Reads = absl::FunctionRef<void(ObserverContext*)>;

  static void Register() {
    static const absl::Status registered =
        RegisterMutationObserver(kName, std::make_unique<CrossingObserver>());
    registered.IgnoreError();
  }
  // Runs `reads` in the turn of the mutation, which is not applied.
  static absl::Status Run(Transaction* transaction, Table* table, const RowMutation& mutation,
                          Reads reads) {
    Armed() = &reads;
    const absl::Status status = transaction->Apply(table, mutation);
    Armed() = nullptr;
    if (absl::IsAborted(status)) return absl::OkStatus();
    return status.ok() ? absl::InternalError("the observer was not called") : status;
  }

  absl::Status Before(const ObservedMutation&, ObserverContext* context) override {
    if (Armed() == nullptr) return absl::OkStatus();
    (*Armed())(context);
    return absl::AbortedError("refused");
  }
  bool ObservesCommits() const override { return false; }

 private:
  static Reads*& Armed() {
    static Reads* armed = nullptr;
    return armed;
  }
};

class CrossedDatabase {
 public:
  static absl::StatusOr<std::unique_ptr<CrossedDatabase>> Make(const Place& place,
                                                               const CrossedContent& content) {
    std::unique_ptr<CrossedDatabase> made(new CrossedDatabase(place));
    BT_RETURN_IF_ERROR(made->Open());
    BT_RETURN_IF_ERROR(made->Fill(content));
    return made;
  }

  // For calls: of the service's database, if the place is connected.
  Table* table() const { return table_; }
  Database* database() const { return database_.get(); }
  std::shared_ptr<const Snapshot> old_snapshot() const { return old_snapshot_; }
  // The options of the case's read, with its snapshot.
  absl::StatusOr<ReadOptions> OptionsOf(const Crossing& crossing) {
    ReadOptions options = crossing.options;
    if (crossing.at == At::kOldSnapshot) options.snapshot = old_snapshot_;
    if (crossing.at == At::kNewSnapshot) {
      BT_ASSIGN_OR_RETURN(options.snapshot, database_->TakeSnapshot());
    }
    return options;
  }

 private:
  static constexpr const char* kTable = "t";

  explicit CrossedDatabase(const Place& place) : place_(place) {}

  absl::Status Open() {
    DatabaseOptions options;
    options.memory_budget = 16 << 20;
    options.log_segment_size = 64 << 10;
    options.tablet_servers = place_.servers;
    options.balance_interval = absl::InfiniteDuration();
    options.scan_cache = place_.scan_cache;
    options.file_system = &files_;
    options.clock = &clock_;
    BT_ASSIGN_OR_RETURN(database_, Database::Open("/db", options));
    TableSchema schema = CrossedContent::MakeSchema();
    if (place_.is_observed) {
      CrossingObserver::Register();
      schema.observers = {CrossingObserver::kName};
    }
    CreateTableOptions create;
    if (place_.tablets > 1) create.split_rows = {"ab", "b"};
    BT_RETURN_IF_ERROR(database_->CreateTable(kTable, schema, create));
    for (int i = 0; i < 3 && place_.servers > 1; ++i) {
      BT_RETURN_IF_ERROR(database_->MoveTablet(
          kTable, CrossedContent::Rows()[static_cast<size_t>(i)], i % place_.servers));
    }
    if (place_.way == Way::kMessages) {
      DatabasePeer(database_.get()).UseServices([](ServerHost* host) -> DataService* {
        return host->data_service();
      });
    }
    BT_ASSIGN_OR_RETURN(table_, database_->OpenTable(kTable));
    if (place_.way != Way::kConnected) return absl::OkStatus();
    connected_ = ConnectedTo(std::make_unique<LoopbackDatabase>(database_.get()));
    BT_ASSIGN_OR_RETURN(table_, connected_->OpenTable(kTable));
    return absl::OkStatus();
  }
  absl::Status Fill(const CrossedContent& content) {
    for (size_t i = 0; i < content.mutations().size(); ++i) {
      if (i == content.begins_late()) BT_RETURN_IF_ERROR(EndEarlyPart());
      BT_RETURN_IF_ERROR(table_->Apply(content.mutations()[i].Make()));
    }
    if (place_.storage == Storage::kFiles || place_.storage == Storage::kCompacted) {
      BT_RETURN_IF_ERROR(database_->Flush(kTable));
    }
    return place_.storage == Storage::kCompacted ? database_->Compact(kTable) : absl::OkStatus();
  }
  absl::Status EndEarlyPart() {
    if (place_.storage != Storage::kMemory) BT_RETURN_IF_ERROR(database_->Flush(kTable));
    BT_ASSIGN_OR_RETURN(old_snapshot_, database_->TakeSnapshot());
    clock_.Set(CrossedContent::kLastMicros);
    return absl::OkStatus();
  }

  const Place place_;
  TestClock clock_{CrossedContent::kFirstMicros};
  InMemoryFileSystem files_;
  std::unique_ptr<Database> database_;
  std::unique_ptr<Database> connected_;
  std::shared_ptr<const Snapshot> old_snapshot_;
  Table* table_ = nullptr;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_CROSSINGS_CROSSED_DATABASE_H_
