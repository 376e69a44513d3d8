// METADATA read and written through the servers that have its tablets: the hierarchy of section 5.1
// of the paper, from the top.
//
//   the lock service's file "root"    names the server of the root tablet (root_tablet.h)
//   the root tablet                   METADATA's rows for its own tablets: which server has each
//   METADATA's other tablets          its rows for the tablets of all other tables
//
// What was found is remembered, and true until a server says that it does not have a row, or is
// gone: then it is looked for one level above. So most calls are one message to one server. The
// tablets of METADATA are found as any others are, by MetadataTable.
//
// Messages may be lost, damaged, late, or delivered more than once. A mutation is sent until there
// is an answer, or its server is gone, and then to who has taken over. That server may have carried
// it out before, so a mutation may be carried out twice: those of METADATA are such that it does
// not matter, as long as whoever sends one waits for it before he, or anybody else, writes to the
// same row.
#ifndef BIGTABLE_METADATA_METADATA_CLIENT_H_
#define BIGTABLE_METADATA_METADATA_CLIENT_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

#include "base/mutex.h"
#include "metadata/metadata_service.h"
#include "metadata/metadata_table.h"
#include "rpc/data_service.h"
#include "rpc/request_slots.h"
#include "tablet/snapshot_list.h"

namespace bigtable {

// The servers that there are. Thread-safe.
class MetadataServers {
 public:
  virtual ~MetadataServers() = default;
  // The server that has the root tablet, or had it last; "": none ever had.
  virtual std::string RootServer() = 0;
  // What a server is asked through, for as long as this lives; null: there is no such server.
  virtual DataService* FindService(std::string_view server) = 0;
  // Whether it will never serve again.
  virtual bool HasEnded(std::string_view server) = 0;
  // How long a call may still wait for an answer, or for who takes over from a server that is gone:
  // infinitely, unless the servers are to end.
  virtual absl::Duration RetryTimeout() = 0;
  // Looked at before each mutation: an error if the database may be somebody else's by now.
  virtual absl::Status CheckDirectory() { return absl::OkStatus(); }
  // Whether one of them refuses mutations, because it does not know what its log holds.
  virtual bool HaveFailed() = 0;
};

// How often each level above the tablets of METADATA was asked where something is. Reads of
// METADATA's tablets are the callers' to count.
struct MetadataLookups {
  uint64_t root_file = 0;
  uint64_t root_tablet = 0;
};

// Thread-safe.
class MetadataClient final : public MetadataService {
 public:
  // Both outlive this.
  MetadataClient(MetadataServers* servers, SnapshotList* snapshots)
      : servers_(servers), snapshots_(snapshots) {}
  MetadataClient(const MetadataClient&) = delete;
  MetadataClient& operator=(const MetadataClient&) = delete;

  // Unavailable or DeadlineExceeded: it has waited long enough (MetadataServers::StallTimeout).
  absl::Status Mutate(absl::Span<const EncodedMutation> mutations, Durability durability) override;
  // A server that had no room for a mutation in its log takes others; one whose log has failed
  // takes none until it resumes, or is replaced, without what had failed.
  bool IsInDoubt(const absl::Status& failed) const override {
    return !absl::IsResourceExhausted(failed) || servers_->HaveFailed();
  }
  bool AreTogether(absl::Span<const EncodedMutation> mutations) override;
  // A read that one message answers is of that message's moment. Others hold a snapshot.
  absl::Status Read(const MetadataRead& read,
                    absl::FunctionRef<absl::Status(const ReadCell&)> sink) override;

  MetadataLookups lookups() const;
  // All is looked for anew.
  void ForgetAll();

 private:
  // Tablets of METADATA that are looked up at a time.
  static constexpr size_t kPrefetched = 16;

  struct Location {
    RowRange rows;
    std::string server;
    DataService* service;
  };

  // Unavailable if there is no server that has the row, as far as is known.
  absl::StatusOr<Location> Locate(std::string_view row, bool waits);
  absl::StatusOr<Location> LocateRoot();
  absl::StatusOr<Location> LocateInRoot(std::string_view row, bool waits);
  void Forget(const Location& location);
  // One try. Nothing: it is to be tried again.
  std::optional<absl::Status> TryMutate(absl::Span<const EncodedMutation> mutations,
                                        Durability durability, RequestSlots::Lease* slot);
  // The next part of a read. Unavailable as Locate, or if there was no answer.
  absl::StatusOr<ScanResponse> TryScan(const RowRange& range, uint64_t row_limit,
                                       std::optional<SequenceNumber> moment, bool waits);
  absl::StatusOr<ScanResponse> Scan(const MetadataRead& read, const RowRange& range,
                                    uint64_t row_limit, std::optional<SequenceNumber> moment);

  MetadataServers* const servers_;
  SnapshotList* const snapshots_;
  MetadataTable table_{this};
  RequestSlots slots_;
  std::atomic<uint64_t> root_file_lookups_{0};
  std::atomic<uint64_t> root_tablet_lookups_{0};
  Mutex mutex_;
  std::optional<Location> root_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, Location, std::less<>> tablets_ ABSL_GUARDED_BY(mutex_);  // by first row
};

}  // namespace bigtable

#endif  // BIGTABLE_METADATA_METADATA_CLIENT_H_
