// A database with a given content in a given place: in memory or in files, over some tablets and
// servers, written and read in place, by messages, through a service or through bigtable-server.
// One thread at a time.
#ifndef BIGTABLE_TESTS_CROSSINGS_CROSSED_DATABASE_H_
#define BIGTABLE_TESTS_CROSSINGS_CROSSED_DATABASE_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "base/status.h"
#include "base/strings.h"
#include "cluster/server_host.h"
#include "crossings/crossed_content.h"
#include "crossings/crossed_server.h"
#include "crossings/crossing.h"
#include "crossings/loopback_service.h"
#include "support/cold_file_system.h"
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

// Whether a tablet begins with the row of the content.
inline bool BeginsTablet(const Place& place, std::string_view row) {
  return place.tablets > 1 && row != CrossedContent::Rows().front();
}

class CrossedDatabase {
 public:
  static constexpr const char* kTable = "t";

  static absl::StatusOr<std::unique_ptr<CrossedDatabase>> Make(const Place& place,
                                                               const CrossedContent& content) {
    std::unique_ptr<CrossedDatabase> made(new CrossedDatabase(place));
    BT_RETURN_IF_ERROR(made->Create());
    BT_RETURN_IF_ERROR(made->Fill(content));
    BT_RETURN_IF_ERROR(made->OpenAgain());
    if (place.caller == InNameOf::kRefusedUser) BT_RETURN_IF_ERROR(made->RefuseUser());
    return made;
  }

  // For calls: of the service's database or the one over the server, if the place is connected.
  Table* table() const { return table_; }
  Database* database() const { return database_.get(); }
  // Only if the place is through a server.
  CrossedServer* server() const { return server_.get(); }
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
  static constexpr const char* kUser = "user";

  // That requests are traced must change no answer.
  class IgnoringSink final : public TraceSink {
   public:
    void OnTrace(const RequestTrace&) override {}
  };

  explicit CrossedDatabase(const Place& place) : place_(place) {}

  absl::Status Create() {
    BT_ASSIGN_OR_RETURN(database_, Database::Open("/db", MakeOptions()));
    if (is_user()) BT_RETURN_IF_ERROR(PermitUser());
    BT_RETURN_IF_ERROR(CreateTable());
    return OpenTable();
  }
  absl::Status OpenAgain() {
    if (place_.opened == Opened::kOnce) return absl::OkStatus();
    old_snapshot_ = nullptr;
    server_ = nullptr;
    connected_ = nullptr;
    if (place_.opened == Opened::kFollowed) {
      BT_RETURN_IF_ERROR(Follow());
    } else if (place_.opened == Opened::kRestored) {
      BT_RETURN_IF_ERROR(Restore());
    } else {
      BT_RETURN_IF_ERROR(Reopen());
    }
    return OpenTable();
  }
  absl::Status Reopen() {
    if (place_.opened == Opened::kAgain) BT_RETURN_IF_ERROR(database_->Close());
    // Otherwise the process has died.
    std::unique_ptr<InMemoryFileSystem> found = files_->CrashClone(1, Unsynced::kEverything);
    database_ = nullptr;
    files_ = std::move(found);
    DatabaseOptions options = MakeOptions();
    options.read_only = place_.opened == Opened::kReadOnlyAfterCrash;
    BT_ASSIGN_OR_RETURN(database_, Database::Open("/db", options));
    return absl::OkStatus();
  }
  absl::Status Follow() {
    DatabaseOptions options = MakeOptions();
    options.follow = true;
    options.follow_interval = absl::InfiniteDuration();
    writer_ = std::move(database_);
    BT_ASSIGN_OR_RETURN(database_, Database::Open("/db", options));
    return absl::OkStatus();
  }
  absl::Status Restore() {
    BT_ASSIGN_OR_RETURN(const std::unique_ptr<BackupEngine> backups,
                        BackupEngine::Open("/backups", files_.get()));
    BT_ASSIGN_OR_RETURN(const BackupInfo made,
                        backups->Create(database_.get(), {.tables = {kTable}}));
    BT_RETURN_IF_ERROR(database_->DeleteTable(kTable));
    return backups->RestoreTable(made.id, kTable, database_.get(), kTable);
  }
  // On the way of the place.
  absl::Status OpenTable() {
    if (place_.way == Way::kMessages) {
      DatabasePeer(database_.get()).UseServices([](ServerHost* host) -> DataService* {
        return host->data_service();
      });
    }
    OpenTableOptions options;
    if (is_user()) options.caller = kUser;
    BT_ASSIGN_OR_RETURN(table_, database_->OpenTable(kTable, options));
    front_ = database_.get();
    if (place_.way == Way::kConnected) {
      connected_ = ConnectedTo(std::make_unique<LoopbackDatabase>(database_.get()));
      front_ = connected_.get();
    }
    if constexpr (kCrossesServer) {
      if (place_.way == Way::kServer) {
        BT_ASSIGN_OR_RETURN(server_, CrossedServer::Start(database_.get(), is_user() ? kUser : ""));
        front_ = server_->connected();
      }
    }
    if (front_ == database_.get()) return absl::OkStatus();
    BT_ASSIGN_OR_RETURN(table_, front_->OpenTable(kTable));
    return absl::OkStatus();
  }
  DatabaseOptions MakeOptions() {
    DatabaseOptions options;
    options.memory_budget = 16 << 20;
    options.log_segment_size = 64 << 10;
    options.tablet_servers = place_.servers;
    options.balance_interval = absl::InfiniteDuration();
    options.scan_cache = place_.scan_cache;
    options.read_mode = place_.files == Files::kByPosition ? FileSystem::ReadMode::kPositional
                                                           : FileSystem::ReadMode::kMapped;
    options.trace_one_of = place_.is_traced ? 1 : 0;
    options.trace_sink = &traces_;
    if (place_.recorded.has_value()) {
      options.recorder =
          CallRecorder::Create(Cat("/calls", ++recordings_),
                               {.keys = *place_.recorded, .file_system = &recording_files_})
              .value();
    }
    options.file_system = files_.get();
    if (place_.files == Files::kCold) {
      cold_.push_back(std::make_unique<ColdFileSystem>(files_.get()));
      options.file_system = cold_.back().get();
    }
    options.clock = &clock_;
    return options;
  }
  // Quotas that are set, and never reached.
  absl::Status PermitUser() {
    const Quota quota{.storage_bytes = uint64_t{1} << 40,
                      .requests_per_second = uint64_t{1} << 40,
                      .bytes_per_second = uint64_t{1} << 40};
    BT_RETURN_IF_ERROR(database_->SetCallerQuota(kUser, quota));
    return database_->SetAccessList("list", {.readers = {kUser}, .writers = {kUser}});
  }
  // After the user has read everything into the caches.
  absl::Status RefuseUser() {
    for (const std::string& row : CrossedContent::Rows()) {
      BT_RETURN_IF_ERROR(table_->ReadRow(row).status());
    }
    return database_->SetAccessList("list", {});
  }
  bool is_user() const { return place_.caller != InNameOf::kProgram; }
  static LocalityGroup GroupOf(Groups groups) {
    switch (groups) {
      case Groups::kPlain:
        break;
      case Groups::kRowAndColumnFilters:
        return {.compression = Compression::kZstd, .filter = FilterKind::kRowAndColumn};
      case Groups::kRowIndexes:
        return {.filter = FilterKind::kRowIndex};
      case Groups::kInMemory:
        return {.filter = FilterKind::kNone, .in_memory = true};
    }
    return {};
  }
  absl::Status CreateTable() {
    TableSchema schema = CrossedContent::MakeSchema();
    if (place_.is_observed) {
      CrossingObserver::Register();
      schema.observers = {CrossingObserver::kName};
    }
    if (place_.has_changes) schema.changes.retention = absl::Hours(1);
    for (auto& [name, group] : schema.locality_groups) group = GroupOf(place_.groups);
    if (is_user()) {
      for (auto& [name, family] : schema.families) family.access_list = "list";
    }
    CreateTableOptions create;
    if (place_.tablets > 1) create.split_rows = {"ab", "b"};
    BT_RETURN_IF_ERROR(database_->CreateTable(kTable, schema, create));
    for (int i = 0; i < 3 && place_.servers > 1; ++i) {
      BT_RETURN_IF_ERROR(database_->MoveTablet(
          kTable, CrossedContent::Rows()[static_cast<size_t>(i)], i % place_.servers));
    }
    return absl::OkStatus();
  }
  absl::Status Fill(const CrossedContent& content) {
    const absl::Span<const ModelMutation> all = content.mutations();
    BT_RETURN_IF_ERROR(Write(all.first(content.begins_late())));
    BT_RETURN_IF_ERROR(EndEarlyPart());
    BT_RETURN_IF_ERROR(Write(all.subspan(content.begins_late())));
    if (place_.storage == Storage::kFiles || place_.storage == Storage::kCompacted) {
      BT_RETURN_IF_ERROR(database_->Flush(kTable));
    }
    return place_.storage == Storage::kCompacted ? database_->Compact(kTable) : absl::OkStatus();
  }
  absl::Status Write(absl::Span<const ModelMutation> mutations) {
    if (place_.written == Written::kBatch) return WriteInBatch(mutations);
    if (place_.written == Written::kRequest) return server_->MutateRows(kTable, mutations);
    if (place_.written == Written::kFiles) return WriteInFiles(mutations);
    for (const ModelMutation& mutation : mutations) {
      BT_RETURN_IF_ERROR(WriteOne(mutation.Make()));
    }
    return absl::OkStatus();
  }
  absl::Status WriteOne(const RowMutation& mutation) {
    if (place_.written == Written::kApply) return table_->Apply(mutation);
    if (place_.written == Written::kWriteBatch) {
      WriteBatch batch;
      batch.Apply(table_, mutation);
      return front_->Apply(batch);
    }
    return WriteIf(mutation);
  }
  // By a condition that nothing matches, or by one that is met if the row has anything: that one
  // has the mutation on both sides.
  absl::Status WriteIf(const RowMutation& mutation) {
    is_all_ = !is_all_;
    if (is_all_) {
      return table_->CheckAndMutateRow(mutation.row(), Filter::PassAll(), mutation, mutation)
          .status();
    }
    RowMutation never(mutation.row());
    never.DeleteRow();
    BT_ASSIGN_OR_RETURN(
        const bool matches,
        table_->CheckAndMutateRow(mutation.row(), Filter::BlockAll(), never, mutation));
    return matches ? absl::InternalError("nothing matches a condition") : absl::OkStatus();
  }
  // Between them are mutations that are refused.
  absl::Status WriteInBatch(absl::Span<const ModelMutation> mutations) {
    std::vector<RowMutation> batch;
    for (const ModelMutation& mutation : mutations) {
      batch.push_back(mutation.Make());
      batch.push_back(RowMutation(mutation.row).Set("none:q", Timestamp(1000), "refused"));
      batch.push_back(RowMutation(""));
    }
    const std::vector<absl::Status> statuses = table_->ApplyBatch(batch);
    if (statuses.size() != batch.size()) return absl::InternalError("a status for each mutation");
    constexpr absl::StatusCode kCodes[] = {absl::StatusCode::kOk, absl::StatusCode::kNotFound,
                                           absl::StatusCode::kInvalidArgument};
    for (size_t i = 0; i < statuses.size(); ++i) {
      if (statuses[i].code() == kCodes[i % 3]) continue;
      return absl::InternalError(Cat("mutation ", i, " of a batch: ", statuses[i].ToString()));
    }
    return absl::OkStatus();
  }
  // By the program, whoever reads.
  absl::Status WriteInFiles(absl::Span<const ModelMutation> mutations) {
    BT_RETURN_IF_ERROR(files_->CreateDirectory("/files"));
    BT_ASSIGN_OR_RETURN(const TableSchema schema, database_->GetSchema(kTable));
    BT_ASSIGN_OR_RETURN(
        const std::unique_ptr<SSTableSorter> sorter,
        SSTableSorter::Create("/files", schema, {.clock = &clock_, .file_system = files_.get()}));
    for (const ModelMutation& mutation : mutations) {
      BT_RETURN_IF_ERROR(sorter->Add(mutation.Make()));
    }
    BT_ASSIGN_OR_RETURN(const std::vector<std::string> files, sorter->Finish());
    BT_ASSIGN_OR_RETURN(Table* const table, database_->OpenTable(kTable));
    return table->Ingest(files, {.moves_files = true}).status();
  }
  absl::Status EndEarlyPart() {
    if (place_.storage != Storage::kMemory) BT_RETURN_IF_ERROR(database_->Flush(kTable));
    BT_ASSIGN_OR_RETURN(old_snapshot_, database_->TakeSnapshot());
    clock_.Set(CrossedContent::kLastMicros);
    return absl::OkStatus();
  }

  const Place place_;
  TestClock clock_{CrossedContent::kFirstMicros};
  std::unique_ptr<InMemoryFileSystem> files_ = std::make_unique<InMemoryFileSystem>();
  std::vector<std::unique_ptr<ColdFileSystem>> cold_;  // one for each opening
  InMemoryFileSystem recording_files_;
  int recordings_ = 0;
  IgnoringSink traces_;
  std::unique_ptr<Database> writer_;  // if another object reads beside it
  std::unique_ptr<Database> database_;
  std::unique_ptr<Database> connected_;
  std::unique_ptr<CrossedServer> server_;
  std::shared_ptr<const Snapshot> old_snapshot_;
  Database* front_ = nullptr;  // of table_
  Table* table_ = nullptr;
  bool is_all_ = false;  // the condition of the last write by WriteIf
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_CROSSINGS_CROSSED_DATABASE_H_
