#include "cluster/database_history.h"

#include "absl/random/random.h"
#include "absl/strings/str_format.h"

#include "base/coding.h"
#include "base/status.h"
#include "base/strings.h"

namespace bigtable {
namespace {

constexpr uint8_t kHistoryVersion = 1;

uint64_t NewIdentity() {
  absl::BitGen random;
  return absl::Uniform<uint64_t>(absl::IntervalClosed, random, 1, UINT64_MAX);
}

}  // namespace

SequenceNumber DatabaseHistory::SharedWith(uint64_t database) const {
  if (database == 0) return 0;
  if (database == identity) return kMaxSequence;
  // A copy that was never opened for writing has nothing but what was in the other one.
  if (identity == 0 && ancestors.back() == Ancestor{database, 0}) return kMaxSequence;
  for (const Ancestor& ancestor : ancestors) {
    if (ancestor.identity == database) return ancestor.last;
  }
  return 0;
}

DatabaseHistory DatabaseHistory::OfCopy(SequenceNumber last) const {
  DatabaseHistory copy = *this;
  // A copy that was never opened for writing is what its copy is.
  if (identity != 0) copy.ancestors.push_back({identity, last});
  copy.identity = 0;
  return copy;
}

std::string DatabaseHistory::Encode() const {
  std::string out(1, static_cast<char>(kHistoryVersion));
  AppendFixed64(&out, identity);
  AppendVarint64(&out, ancestors.size());
  for (const Ancestor& ancestor : ancestors) {
    AppendFixed64(&out, ancestor.identity);
    AppendVarint64(&out, ancestor.last);
  }
  return out;
}

absl::StatusOr<DatabaseHistory> DatabaseHistory::Decode(std::string_view bytes) {
  Decoder in(bytes);
  const uint8_t version = in.Byte();
  if (in.ok() && version != kHistoryVersion) {
    return absl::FailedPreconditionError(Cat("the identity of the database has format version ",
                                             int{version}, "; this program knows ",
                                             int{kHistoryVersion}));
  }
  DatabaseHistory history;
  history.identity = in.Fixed64();
  for (uint64_t n = in.Varint(); in.ok() && n > 0; --n) {
    const uint64_t ancestor = in.Fixed64();
    history.ancestors.push_back({ancestor, in.Varint()});
  }
  if (!in.ok() || !in.at_end() || (history.identity == 0 && history.ancestors.empty())) {
    return absl::DataLossError("the identity of the database cannot be read");
  }
  return history;
}

absl::StatusOr<DatabaseHistory> DatabaseHistory::Read(LockSession* session) {
  const absl::StatusOr<LockServiceFile> file = session->Read(kFile);
  if (absl::IsNotFound(file.status())) {
    return absl::NotFoundError(
        "the database has no identity yet: it gets one when it is opened for writing");
  }
  BT_RETURN_IF_ERROR(file.status());
  return Decode(file->contents);
}

absl::StatusOr<DatabaseHistory> DatabaseHistory::ReadOrBegin(LockSession* session) {
  absl::StatusOr<DatabaseHistory> history = Read(session);
  if (absl::IsNotFound(history.status()) || absl::IsDataLoss(history.status())) {
    history = DatabaseHistory();
  }
  BT_RETURN_IF_ERROR(history.status());
  if (history->identity == 0) {
    history->identity = NewIdentity();
    BT_RETURN_IF_ERROR(session->Write(kFile, history->Encode()).status());
  }
  return history;
}

std::string NameOfIdentity(uint64_t identity) { return absl::StrFormat("%016x", identity); }

}  // namespace bigtable
