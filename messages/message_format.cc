#include "messages/message_format.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "base/checksum.h"
#include "base/coding.h"
#include "base/status.h"
#include "base/strings.h"
#include "rpc/cell_block.h"

namespace bigtable {
namespace {

constexpr char kVersion = 1;
enum class Kind : uint8_t {
  kMutateRequest = 1,
  kMutateResponse = 2,
  kScanRequest = 3,
  kScanResponse = 4,
};
constexpr const char* kKindNames[] = {"", "MutateRequest", "MutateResponse", "ScanRequest",
                                      "ScanResponse"};

enum MutateRequestFlag : uint8_t {
  kBatch = 1,
  kMutateHasCaller = 2,
  kHasUnchangedSince = 4,
  kAllMutateRequestFlags = 7,
};
enum ScanRequestFlag : uint8_t {
  kReverse = 1,
  kVerify = 2,
  kFillCache = 4,
  kHasEnd = 8,
  kHasSequence = 16,
  kHasNow = 32,
  kScanHasCaller = 64,
  kAllScanRequestFlags = 127,
};
enum ScanResponseFlag : uint8_t {
  kSuperseded = 1,
  kHasRest = 2,
  kRestHasEnd = 4,
  kAllScanResponseFlags = 7,
};

// --- To bytes ---

std::string Begin(Kind kind) { return {kVersion, static_cast<char>(kind)}; }

std::string Finish(std::string message) {
  AppendFixed64(&message, Checksum(message));
  return message;
}

void AppendTimeout(std::string* out, absl::Duration timeout) {
  // A negative timeout becomes 0; infinity becomes the largest number.
  const int64_t micros = absl::ToInt64Microseconds(std::max(timeout, absl::ZeroDuration()));
  AppendFixed64(out, static_cast<uint64_t>(micros));
}

void AppendStatus(std::string* out, const absl::Status& status) {
  out->push_back(static_cast<char>(status.code()));
  if (!status.ok()) AppendLengthPrefixed(out, ToStd(status.message()));
}

// --- From bytes ---

absl::Status Bad(Kind kind, std::string_view what) {
  return absl::InvalidArgumentError(
      Cat("a bad message, ", kKindNames[static_cast<int>(kind)], ": ", what));
}

// Returns the fields between the head and the checksum.
absl::StatusOr<std::string_view> Open(Kind kind, std::string_view bytes) {
  constexpr size_t kHead = 2;
  constexpr size_t kTail = 8;
  if (bytes.size() < kHead + kTail) {
    return Bad(kind, Cat("it is cut short, and has ", bytes.size(), " bytes"));
  }
  if (bytes[0] != kVersion) {
    return Bad(kind, Cat("its version is ", int{static_cast<uint8_t>(bytes[0])}, ", and not ",
                         int{kVersion}));
  }
  if (static_cast<uint8_t>(bytes[1]) != static_cast<uint8_t>(kind)) {
    return Bad(kind, Cat("its kind is ", int{static_cast<uint8_t>(bytes[1])}));
  }
  const std::string_view all = bytes.substr(0, bytes.size() - kTail);
  if (LoadFixed64(bytes.data() + all.size()) != Checksum(all)) {
    return Bad(kind, "its checksum is not that of its bytes");
  }
  return all.substr(kHead);
}

absl::Status CheckEnd(Kind kind, const Decoder& in) {
  if (!in.ok()) return Bad(kind, "a field is cut short");
  if (!in.at_end()) return Bad(kind, Cat(in.rest().size(), " bytes are left over"));
  return absl::OkStatus();
}

absl::Status ReadTimeout(Kind kind, Decoder* in, absl::Duration* timeout) {
  const auto micros = static_cast<int64_t>(in->Fixed64());
  if (micros < 0) return Bad(kind, Cat("its timeout is ", micros, " microseconds"));
  *timeout = micros == std::numeric_limits<int64_t>::max() ? absl::InfiniteDuration()
                                                           : absl::Microseconds(micros);
  return absl::OkStatus();
}

absl::Status ReadStatus(Kind kind, Decoder* in, absl::Status* status) {
  const uint8_t code = in->Byte();
  if (code > static_cast<uint8_t>(absl::StatusCode::kUnauthenticated)) {
    return Bad(kind, Cat("there is no status with the code ", int{code}));
  }
  *status = code == 0
                ? absl::OkStatus()
                : absl::Status(static_cast<absl::StatusCode>(code), ToAbsl(in->LengthPrefixed()));
  return absl::OkStatus();
}

}  // namespace

// --- MutateRequest ---

std::string EncodeMessage(const MutateRequest& request) {
  std::string out = Begin(Kind::kMutateRequest);
  AppendLengthPrefixed(&out, request.server);
  AppendVarint64(&out, request.table_id);
  AppendFixed64(&out, request.id.client);
  AppendVarint64(&out, request.id.slot);
  AppendVarint64(&out, request.id.number);
  out.push_back(static_cast<char>(request.durability));
  out.push_back(static_cast<char>((request.is_batch ? kBatch : 0) |
                                  (request.caller.has_value() ? kMutateHasCaller : 0) |
                                  (request.unchanged_since.has_value() ? kHasUnchangedSince : 0)));
  AppendTimeout(&out, request.timeout);
  if (request.caller.has_value()) AppendLengthPrefixed(&out, *request.caller);
  if (request.unchanged_since.has_value()) AppendVarint64(&out, *request.unchanged_since);
  AppendVarint64(&out, request.mutations.size());
  for (const EncodedMutation& mutation : request.mutations) {
    AppendLengthPrefixed(&out, mutation.row);
    AppendLengthPrefixed(&out, mutation.operations);
  }
  return Finish(std::move(out));
}

absl::StatusOr<MutateRequest> DecodeMutateRequest(std::string_view bytes) {
  constexpr Kind kKind = Kind::kMutateRequest;
  BT_ASSIGN_OR_RETURN(const std::string_view fields, Open(kKind, bytes));
  Decoder in(fields);
  MutateRequest request;
  request.server = in.LengthPrefixed();
  request.table_id = in.Varint();
  request.id.client = in.Fixed64();
  const uint64_t slot = in.Varint();
  request.id.number = in.Varint();
  const uint8_t durability = in.Byte();
  const uint8_t flags = in.Byte();
  BT_RETURN_IF_ERROR(ReadTimeout(kKind, &in, &request.timeout));
  if (in.ok() && slot > std::numeric_limits<uint32_t>::max()) {
    return Bad(kKind, Cat("there is no slot ", slot));
  }
  if (in.ok() && durability > static_cast<uint8_t>(Durability::kSync)) {
    return Bad(kKind, Cat("there is no durability ", int{durability}));
  }
  if (in.ok() && flags > kAllMutateRequestFlags) {
    return Bad(kKind, Cat("there are no flags ", int{flags}));
  }
  request.is_batch = (flags & kBatch) != 0;
  if ((flags & kMutateHasCaller) != 0) request.caller = in.LengthPrefixed();
  if ((flags & kHasUnchangedSince) != 0) request.unchanged_since = in.Varint();
  request.id.slot = static_cast<uint32_t>(slot);
  request.durability = static_cast<Durability>(durability);
  const uint64_t count = in.Varint();
  // At most as many as there are bytes for, whatever the count is.
  for (uint64_t i = 0; i < count && in.ok(); ++i) {
    const std::string_view row = in.LengthPrefixed();
    request.mutations.push_back({row, in.LengthPrefixed()});
  }
  BT_RETURN_IF_ERROR(CheckEnd(kKind, in));
  return request;
}

// --- MutateResponse ---

std::string EncodeMessage(const MutateResponse& response) {
  std::string out = Begin(Kind::kMutateResponse);
  out.push_back(static_cast<char>(response.verdict));
  AppendVarint64(&out, response.statuses.size());
  for (const absl::Status& status : response.statuses) AppendStatus(&out, status);
  return Finish(std::move(out));
}

absl::StatusOr<MutateResponse> DecodeMutateResponse(std::string_view bytes) {
  constexpr Kind kKind = Kind::kMutateResponse;
  BT_ASSIGN_OR_RETURN(const std::string_view fields, Open(kKind, bytes));
  Decoder in(fields);
  MutateResponse response;
  const uint8_t verdict = in.Byte();
  if (verdict > static_cast<uint8_t>(MutateResponse::Verdict::kConflict)) {
    return Bad(kKind, Cat("there is no verdict ", int{verdict}));
  }
  response.verdict = static_cast<MutateResponse::Verdict>(verdict);
  const uint64_t count = in.Varint();
  for (uint64_t i = 0; i < count && in.ok(); ++i) {
    BT_RETURN_IF_ERROR(ReadStatus(kKind, &in, &response.statuses.emplace_back()));
  }
  BT_RETURN_IF_ERROR(CheckEnd(kKind, in));
  return response;
}

// --- ScanRequest ---

std::string EncodeMessage(const ScanRequest& request) {
  std::string out = Begin(Kind::kScanRequest);
  AppendLengthPrefixed(&out, request.server);
  AppendVarint64(&out, request.table_id);
  const std::optional<std::string>& end = request.range.end();
  out.push_back(static_cast<char>(
      (request.reverse ? kReverse : 0) | (request.verify_checksums ? kVerify : 0) |
      (request.fill_cache ? kFillCache : 0) | (end.has_value() ? kHasEnd : 0) |
      (request.sequence.has_value() ? kHasSequence : 0) | (request.now.has_value() ? kHasNow : 0) |
      (request.caller.has_value() ? kScanHasCaller : 0)));
  AppendLengthPrefixed(&out, request.range.begin());
  if (end.has_value()) AppendLengthPrefixed(&out, *end);
  AppendLengthPrefixed(&out, request.filter);
  if (request.sequence.has_value()) AppendVarint64(&out, *request.sequence);
  if (request.now.has_value()) AppendFixed64(&out, static_cast<uint64_t>(*request.now));
  AppendVarint64(&out, request.row_limit);
  AppendVarint64(&out, request.max_bytes);
  AppendTimeout(&out, request.timeout);
  if (request.caller.has_value()) AppendLengthPrefixed(&out, *request.caller);
  return Finish(std::move(out));
}

absl::StatusOr<ScanRequest> DecodeScanRequest(std::string_view bytes) {
  constexpr Kind kKind = Kind::kScanRequest;
  BT_ASSIGN_OR_RETURN(const std::string_view fields, Open(kKind, bytes));
  Decoder in(fields);
  ScanRequest request;
  request.server = in.LengthPrefixed();
  request.table_id = in.Varint();
  const uint8_t flags = in.Byte();
  if (flags > kAllScanRequestFlags) return Bad(kKind, Cat("its flags are ", int{flags}));
  request.reverse = (flags & kReverse) != 0;
  request.verify_checksums = (flags & kVerify) != 0;
  request.fill_cache = (flags & kFillCache) != 0;
  const std::string_view begin = in.LengthPrefixed();
  request.range = (flags & kHasEnd) != 0 ? RowRange::RightOpen(begin, in.LengthPrefixed())
                                         : RowRange::StartingAt(begin);
  request.filter = in.LengthPrefixed();
  if ((flags & kHasSequence) != 0) request.sequence = in.Varint();
  if ((flags & kHasNow) != 0) request.now = static_cast<int64_t>(in.Fixed64());
  request.row_limit = in.Varint();
  request.max_bytes = in.Varint();
  BT_RETURN_IF_ERROR(ReadTimeout(kKind, &in, &request.timeout));
  if ((flags & kScanHasCaller) != 0) request.caller = in.LengthPrefixed();
  BT_RETURN_IF_ERROR(CheckEnd(kKind, in));
  return request;
}

// --- ScanResponse ---

std::string EncodeMessage(const ScanResponse& response) {
  std::string out = Begin(Kind::kScanResponse);
  const bool has_end = response.rest.has_value() && response.rest->end().has_value();
  out.push_back(static_cast<char>((response.superseded ? kSuperseded : 0) |
                                  (response.rest.has_value() ? kHasRest : 0) |
                                  (has_end ? kRestHasEnd : 0)));
  AppendStatus(&out, response.status);
  AppendVarint64(&out, response.sequence);
  if (response.rest.has_value()) AppendLengthPrefixed(&out, response.rest->begin());
  if (has_end) AppendLengthPrefixed(&out, *response.rest->end());
  AppendLengthPrefixed(&out, response.cells);
  return Finish(std::move(out));
}

absl::StatusOr<ScanResponse> DecodeScanResponse(std::string_view bytes) {
  constexpr Kind kKind = Kind::kScanResponse;
  BT_ASSIGN_OR_RETURN(const std::string_view fields, Open(kKind, bytes));
  Decoder in(fields);
  ScanResponse response;
  const uint8_t flags = in.Byte();
  if (flags > kAllScanResponseFlags || ((flags & kRestHasEnd) != 0 && (flags & kHasRest) == 0)) {
    return Bad(kKind, Cat("its flags are ", int{flags}));
  }
  response.superseded = (flags & kSuperseded) != 0;
  BT_RETURN_IF_ERROR(ReadStatus(kKind, &in, &response.status));
  response.sequence = in.Varint();
  if ((flags & kHasRest) != 0) {
    const std::string_view begin = in.LengthPrefixed();
    response.rest = (flags & kRestHasEnd) != 0 ? RowRange::RightOpen(begin, in.LengthPrefixed())
                                               : RowRange::StartingAt(begin);
  }
  response.cells = in.LengthPrefixed();
  BT_RETURN_IF_ERROR(CheckEnd(kKind, in));
  CellBlockReader cells(response.cells);
  while (cells.Next()) {
  }
  if (!cells.ok()) return Bad(kKind, "a cell is not well formed");
  return response;
}

}  // namespace bigtable
