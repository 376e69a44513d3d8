// How METADATA is opened: its tablet as the lock service's file "root" says, with what the logs of
// earlier METADATA servers have beyond that, which is written out before they are removed. So a
// crash at any point leaves everything to be done again. A database that is only read keeps in
// memory what was replayed.
#include <algorithm>

#include "base/status.h"
#include "base/strings.h"
#include "cluster/cluster.h"
#include "cluster/server_directory.h"
#include "commitlog/log_replay.h"
#include "metadata/metadata_format.h"
#include "tablet/mutation_format.h"

namespace bigtable {

absl::Status Cluster::OpenMetadata() {
  BT_RETURN_IF_ERROR(root_.Load());
  const TabletState state = root_.state();
  NoteSequences(state);
  metadata_server_ = MakeServer(true, &root_);
  BT_ASSIGN_OR_RETURN(std::shared_ptr<Tablet> tablet,
                      Tablet::Open(metadata_server_->environment(), MetadataLayout(), state));
  metadata_server_->AddTablet(tablet);
  metadata_service_ =
      std::make_unique<DataServer>(metadata_server_.get(), nullptr, options_.read_only);
  metadata_ = std::make_unique<MetadataTable>(metadata_server_.get(), options_.clock);

  BT_ASSIGN_OR_RETURN(const auto session, lock_service_->OpenSession({.owner = "cluster"}));
  ServerDirectory servers(file_system_, session.get(), directory_);
  BT_RETURN_IF_ERROR(servers.Load());
  const std::vector<std::string> dead = servers.Servers(ServerDirectory::Kind::kMetadata);
  for (const std::string& name : dead) {
    if (!options_.read_only) BT_RETURN_IF_ERROR(servers.Seal(name));
    ReplayOptions replay_options;
    for (const auto& [id, group] : state.groups) {
      if (group.redo.server != name) continue;
      replay_options.must_reach = std::max(replay_options.must_reach, group.redo.log_synced);
    }
    replay_options.must_exist = servers.HasFile(name);
    replay_options.read_mode = options_.read_mode;
    BT_RETURN_IF_ERROR(ReplayMetadata(name, replay_options, tablet.get()));
  }
  metadata_server_->SetVisible(sequences_.last());
  if (!options_.read_only) BT_RETURN_IF_ERROR(FlushAll(metadata_server_.get()));
  BT_RETURN_IF_ERROR(StartServer(metadata_server_.get()));
  if (options_.read_only) return absl::OkStatus();
  for (const std::string& name : dead) BT_RETURN_IF_ERROR(servers.Remove(name));
  return absl::OkStatus();
}

absl::Status Cluster::ReplayMetadata(const std::string& server, const ReplayOptions& options,
                                     Tablet* tablet) {
  const uint64_t most_memory = options_.shared_memory_budget->limit() / 4;
  const std::string log = directory_.log_of(server);
  std::vector<MutationRecord> mutations;
  const auto replay = [&](RecordType type, SequenceNumber sequence,
                          std::string_view payload) -> absl::Status {
    mutations.resize(1);
    const bool is_sound = type == RecordType::kBatch
                              ? ParseBatchRecord(payload, sequence, &mutations)
                              : ParseMutationRecord(payload, &mutations.front());
    if (!is_sound) {
      return absl::DataLossError(
          Cat(log, ": the record with sequence number ", sequence, " is no mutation"));
    }
    sequences_.AdvanceTo(sequence);
    SequenceNumber next = sequence - mutations.size();
    for (const MutationRecord& record : mutations) {
      tablet->Replay(record.row, record.operations, ++next, record.server_timestamp);
    }
    // What is written out has the whole of a batch.
    if (tablet->ActiveBytes() <= most_memory || options_.read_only) return absl::OkStatus();
    metadata_server_->SetVisible(sequences_.last());
    return FlushAll(metadata_server_.get());
  };
  BT_ASSIGN_OR_RETURN(const LogEnd end, ReplayLog(file_system_, log, options, replay));
  sequences_.AdvanceTo(end.last_sequence);
  info_log_.Info("recovered ", end.records, " records of server ", server);
  return absl::OkStatus();
}

}  // namespace bigtable
