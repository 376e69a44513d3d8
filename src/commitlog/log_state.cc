#include "commitlog/log_state.h"

#include <cstring>
#include <utility>

#include "base/checksum.h"
#include "base/coding.h"
#include "base/status.h"
#include "base/strings.h"

namespace bigtable {
namespace {

constexpr uint64_t kMagic = 0x41545347'4f4c5442;  // "BTLOGSTA"
constexpr size_t kSlotSize = 64;
constexpr uint64_t kSlots[] = {0, 4096};  // apart, so that no sector holds both
constexpr uint64_t kFileSize = 8192;

absl::Status WriteAt(LogFile* file, uint64_t position, std::string_view bytes) {
  if (char* mapping = file->mapping(); mapping != nullptr) {
    std::memcpy(mapping + position, bytes.data(), bytes.size());
    return absl::OkStatus();
  }
  return file->Write(position, bytes);
}

}  // namespace

std::string EncodeLogState(const LogState& state) {
  std::string body;
  for (const uint64_t field : {kMagic, state.version, state.generation, state.secret, state.low,
                               state.released, state.synced}) {
    AppendFixed64(&body, field);
  }
  std::string out;
  AppendFixed64(&out, Checksum(body));
  return out + body;
}

std::optional<LogState> DecodeLogState(std::string_view bytes) {
  if (bytes.size() < kSlotSize) return std::nullopt;
  Decoder in(bytes.substr(0, kSlotSize));
  const uint64_t checksum = in.Fixed64();
  if (checksum != Checksum(in.rest())) return std::nullopt;
  if (in.Fixed64() != kMagic) return std::nullopt;
  LogState state;
  state.version = in.Fixed64();
  state.generation = in.Fixed64();
  state.secret = in.Fixed64();
  state.low = in.Fixed64();
  state.released = in.Fixed64();
  state.synced = in.Fixed64();
  return state;
}

LogStateFile::LogStateFile(FileSystem* file_system, std::string directory)
    : file_system_(file_system), directory_(std::move(directory)) {}

absl::Status LogStateFile::Write(LogState state) {
  state.generation = ++generation_;
  if (file_ == nullptr) return Replace(state);
  const absl::Status status = WriteSlots(state);
  if (!status.ok()) file_ = nullptr;
  return status;
}

absl::Status LogStateFile::WriteSlots(const LogState& state) {
  const std::string bytes = EncodeLogState(state);
  for (const uint64_t slot : kSlots) {
    BT_RETURN_IF_ERROR(WriteAt(file_.get(), slot, bytes));
    BT_RETURN_IF_ERROR(file_->Sync());
  }
  return absl::OkStatus();
}

absl::Status LogStateFile::Replace(const LogState& state) {
  const std::string path = Cat(directory_, "/", kLogStateName);
  const std::string temporary = Cat(directory_, "/", kTemporaryLogStateName);
  if (file_system_->FileExists(temporary)) BT_RETURN_IF_ERROR(file_system_->RemoveFile(temporary));
  BT_ASSIGN_OR_RETURN(file_, file_system_->NewLogFile(temporary, kFileSize));
  absl::Status status = WriteSlots(state);
  if (status.ok()) status = file_system_->RenameFile(temporary, path);
  if (status.ok()) status = file_system_->SyncDirectory(directory_);
  if (!status.ok()) file_ = nullptr;
  return status;
}

absl::StatusOr<LogState> ReadLogState(FileSystem* file_system, std::string_view directory) {
  const std::string path = Cat(directory, "/", kLogStateName);
  BT_ASSIGN_OR_RETURN(const std::string bytes, file_system->ReadFile(path));
  std::optional<LogState> newest;
  for (const uint64_t slot : kSlots) {
    if (slot >= bytes.size()) break;
    const auto state = DecodeLogState(std::string_view(bytes).substr(slot));
    if (!state.has_value()) continue;
    if (state->version > kLogFormatVersion) {
      return absl::FailedPreconditionError(
          Cat(path, " has format version ", state->version,
              " of the commit log; this program knows versions up to ", kLogFormatVersion));
    }
    if (!newest.has_value() || state->generation > newest->generation) newest = state;
  }
  if (!newest.has_value()) {
    return absl::DataLossError(Cat(path, " at offset 0: no valid state of a commit log"));
  }
  return *newest;
}

}  // namespace bigtable
