// The quotas of a database: the file "quotas" of the lock service. As bytes:
//
//   format version 1 | tables:  count, then each: table id, name, quota
//                    | callers: count, then each: name, quota
//
// A quota is its storage bytes, requests a second and bytes a second. Numbers are varints. Texts
// have their length before them. Tables are sorted by id, and callers by name. A quota without a
// limit is not there. The id decides which table a quota is of; a table that was deleted and
// created again has another one.
//
// One file, and not one for each quota as for access lists, because the names of callers cannot be
// names of files, and because servers read all of them when they begin.
//
// Worked example: table 5, "t", may have 300 bytes, and caller a may make one request a second:
// 01 01 05 01 74 ac 02 00 00 01 01 61 00 01 00.
#ifndef BIGTABLE_ADMISSION_QUOTA_STORE_H_
#define BIGTABLE_ADMISSION_QUOTA_STORE_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/quota.h"

#include "base/call_limits.h"
#include "lockservice/lock_service.h"

namespace bigtable {

// Plain value.
struct QuotaSet {
  struct OfTable {
    std::string name;
    Quota quota;

    friend bool operator==(const OfTable&, const OfTable&) = default;
  };

  std::map<uint64_t, OfTable> tables;  // by id
  std::map<std::string, Quota, std::less<>> callers;

  // A quota without a limit is removed.
  void SetTable(uint64_t table_id, std::string_view name, const Quota& quota);
  void SetCaller(std::string_view caller, const Quota& quota);

  std::string Encode() const;
  // DataLoss; FailedPrecondition if the format version is a later one.
  static absl::StatusOr<QuotaSet> Decode(std::string_view bytes);

  friend bool operator==(const QuotaSet&, const QuotaSet&) = default;
};

// Thread-safe. Writes fail once the session is lost.
class QuotaStore {
 public:
  static constexpr std::string_view kFile = "quotas";

  // `session` outlives this.
  explicit QuotaStore(LockSession* session) : session_(session) {}

  // No quotas if there is no file. The limits end a wait for a write of the lock service.
  absl::StatusOr<QuotaSet> Read(const CallLimits& limits = {}) const;
  // InvalidArgument if they do not fit into a file.
  absl::Status Write(const QuotaSet& quotas);

 private:
  LockSession* const session_;
};

}  // namespace bigtable

#endif  // BIGTABLE_ADMISSION_QUOTA_STORE_H_
