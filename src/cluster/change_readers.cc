#include "cluster/change_readers.h"

#include <algorithm>
#include <utility>

#include "base/coding.h"
#include "base/status.h"
#include "base/strings.h"

namespace bigtable {
namespace {

constexpr uint8_t kReadersVersion = 1;

}  // namespace

std::string ChangeReaderSet::Encode() const {
  std::string out(1, static_cast<char>(kReadersVersion));
  AppendVarint64(&out, readers.size());
  for (const auto& [key, sequence] : readers) {
    AppendVarint64(&out, key.first);
    AppendLengthPrefixed(&out, key.second);
    AppendVarint64(&out, sequence);
  }
  return out;
}

absl::StatusOr<ChangeReaderSet> ChangeReaderSet::Decode(std::string_view bytes) {
  Decoder in(bytes);
  const uint8_t version = in.Byte();
  if (in.ok() && version != kReadersVersion) {
    return absl::FailedPreconditionError(Cat("the readers of changes have format version ",
                                             int{version}, "; this program knows ",
                                             int{kReadersVersion}));
  }
  ChangeReaderSet set;
  for (uint64_t n = in.Varint(); in.ok() && n > 0; --n) {
    const uint64_t table_id = in.Varint();
    std::string name(in.LengthPrefixed());
    set.readers[{table_id, std::move(name)}] = in.Varint();
  }
  if (!in.ok() || !in.at_end()) {
    return absl::DataLossError("the readers of changes cannot be read");
  }
  return set;
}

absl::Status ChangeReaders::Read(LockSession* session) {
  absl::StatusOr<ChangeReaderSet> read = ChangeReaderSet();
  const absl::StatusOr<LockServiceFile> file = session->Read(kFile, {});
  if (file.ok()) {
    read = ChangeReaderSet::Decode(file->contents);
  } else if (!absl::IsNotFound(file.status())) {
    read = file.status();
  }
  MutexLock lock(&mutex_);
  readers_ = std::move(read);
  return readers_.status();
}

absl::Status ChangeReaders::Write(LockSession* session, ChangeReaderSet readers) {
  const std::string bytes = readers.Encode();
  if (bytes.size() > LockSession::kMaxFileSize) {
    return absl::InvalidArgumentError(Cat("all readers of changes together must have at most ",
                                          LockSession::kMaxFileSize, " bytes, and would have ",
                                          bytes.size()));
  }
  BT_RETURN_IF_ERROR(session->Write(kFile, bytes).status());
  MutexLock lock(&mutex_);
  readers_ = std::move(readers);
  return absl::OkStatus();
}

absl::StatusOr<ChangeReaderSet> ChangeReaders::Get() const {
  MutexLock lock(&mutex_);
  return readers_;
}

SequenceNumber ChangeReaders::SlowestOf(uint64_t table_id) const {
  MutexLock lock(&mutex_);
  if (!readers_.ok()) return 0;
  SequenceNumber slowest = kMaxSequence;
  for (auto reader = readers_->readers.lower_bound({table_id, ""});
       reader != readers_->readers.end() && reader->first.first == table_id; ++reader) {
    slowest = std::min(slowest, reader->second);
  }
  return slowest;
}

}  // namespace bigtable
