// Reads and writes METADATA through the servers that have its tablets, down the hierarchy of
// section 5.1 of the paper:
//
//   the lock service's file "root"    names the server of the root tablet (root_tablet.h)
//   the root tablet                   METADATA's rows for its own tablets: which server has each
//   METADATA's other tablets          its rows for the tablets of all other tables
//
// Locations that were found are cached until a server reports that it does not have a row, or has
// ended. Then the location is looked up one level above. So most calls are one message to one
// server. MetadataTable finds the tablets of METADATA, like any others.
//
// Messages may be lost, damaged, late, or delivered more than once. A mutation is sent until there
// is a response, or until its server has ended, and then to the server that has taken over. The
// first server may have applied it, so a mutation may be applied twice. The mutations of METADATA
// allow this, as long as the caller waits for one before it, or another caller, writes to the same
// row.
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

#include "base/call_limits.h"
#include "base/mutex.h"
#include "metadata/metadata_service.h"
#include "metadata/metadata_table.h"
#include "rpc/data_service.h"
#include "rpc/request_slots.h"
#include "tablet/snapshot_list.h"

namespace bigtable {

// The servers of the database. Thread-safe.
class MetadataServers {
 public:
  virtual ~MetadataServers() = default;
  // The server that has the root tablet, or had it last; "" if none ever had.
  virtual std::string RootServer() = 0;
  // The interface for requests to a server, valid as long as this lives; null if there is no such
  // server.
  virtual DataService* FindService(std::string_view server) = 0;
  // Whether it will never serve again.
  virtual bool HasEnded(std::string_view server) = 0;
  // How long a call may still wait for a response, or for the server that takes over from one that
  // has ended: infinitely, unless the servers are to end.
  virtual absl::Duration RetryTimeout() = 0;
  // Called before each mutation: an error if another process may have opened the database.
  virtual absl::Status CheckDirectory() { return absl::OkStatus(); }
  // Whether one of them refuses mutations because it does not know the contents of its log.
  virtual bool HaveFailed() = 0;
};

// The number of lookups in each level above the tablets of METADATA. The callers count reads of
// METADATA's tablets.
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

  // Unavailable or DeadlineExceeded after the longest wait (MetadataServers::RetryTimeout).
  absl::Status Mutate(absl::Span<const EncodedMutation> mutations, Durability durability) override;
  // A server whose log had no room for a mutation accepts others. A server whose log has failed
  // accepts none until it resumes, or is replaced without the failed mutations.
  bool IsInDoubt(const absl::Status& failed) const override {
    return !absl::IsResourceExhausted(failed) || servers_->HaveFailed();
  }
  bool AreTogether(absl::Span<const EncodedMutation> mutations) override;
  // A read that one message answers sees the data of that message's read sequence. Other reads hold
  // a snapshot.
  absl::Status Read(const MetadataRead& read,
                    absl::FunctionRef<absl::Status(const ReadCell&)> sink) override;

  MetadataLookups lookups() const;
  // Clears the cache of locations.
  void ForgetAll();

 private:
  // The number of METADATA's tablets in one lookup.
  static constexpr size_t kPrefetched = 16;

  struct Location {
    RowRange rows;
    std::string server;
    DataService* service;
  };

  // Unavailable if no server is known to have the row.
  absl::StatusOr<Location> Locate(std::string_view row, bool waits, const CallLimits& limits = {});
  absl::StatusOr<Location> LocateRoot();
  absl::StatusOr<Location> LocateInRoot(std::string_view row, bool waits, const CallLimits& limits);
  void Forget(const Location& location);
  // One try. nullopt: try again.
  std::optional<absl::Status> TryMutate(absl::Span<const EncodedMutation> mutations,
                                        Durability durability, RequestSlots::Lease* slot);
  // The next part of a read. Unavailable as in Locate, or if there was no response.
  absl::StatusOr<ScanResponse> TryScan(const MetadataRead& read, const RowRange& range,
                                       uint64_t row_limit, std::optional<SequenceNumber> sequence);
  absl::StatusOr<ScanResponse> Scan(const MetadataRead& read, const RowRange& range,
                                    uint64_t row_limit, std::optional<SequenceNumber> sequence);

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
