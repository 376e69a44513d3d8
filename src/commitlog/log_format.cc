#include "commitlog/log_format.h"

#include <atomic>
#include <charconv>

#include "absl/base/macros.h"
#include "absl/strings/str_cat.h"

#include "base/strings.h"

namespace bigtable {

uint64_t SegmentSalt(uint64_t secret, uint64_t number) {
  char bytes[8];
  StoreFixed64(bytes, number);
  return Checksum({bytes, sizeof bytes}, secret);
}

std::string SegmentName(uint64_t number) {
  return absl::StrCat(absl::Dec(number, absl::kZeroPad8), ".log");
}

std::optional<uint64_t> ParseSegmentName(std::string_view name) {
  uint64_t number = 0;
  std::from_chars(name.data(), name.data() + name.size(), number);
  if (SegmentName(number) != name) return {};  // also another spelling of the same number
  return number;
}

constexpr std::string_view kPiecePrefix = "sorted-";

std::string SortedPieceName(uint64_t number) {
  return absl::StrCat(ToAbsl(kPiecePrefix), absl::Dec(number, absl::kZeroPad8));
}

std::optional<uint64_t> ParseSortedPieceName(std::string_view name) {
  if (!name.starts_with(kPiecePrefix)) return {};
  const std::string_view digits = name.substr(kPiecePrefix.size());
  uint64_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (SortedPieceName(number) != name) return {};
  return number;
}

namespace {

uint32_t HeaderCheck(const char* at, uint64_t seed) {
  return static_cast<uint32_t>(Checksum({at + 12, kRecordHeaderSize - 12}, seed));
}

uint64_t RecordChecksum(const char* at, uint32_t payload_size, uint64_t seed) {
  return Checksum({at + 8, kRecordHeaderSize - 8 + payload_size}, seed);
}

}  // namespace

void FinishRecord(char* at, const RecordHeader& header, uint64_t seed) {
  ABSL_ASSERT(header.sequence <= kMaxSequence && "the type is above the sequence number");
  StoreFixed32(at + 12, header.payload_size);
  StoreFixed64(at + 16, uint64_t{header.type} << 56 | header.sequence);
  StoreFixed64(at + 24, header.synced);
  StoreFixed32(at + 8, HeaderCheck(at, seed));
  const uint64_t checksum = RecordChecksum(at, header.payload_size, seed);
  // A signal may kill the process between any two stores: keep the compiler from moving this store.
  std::atomic_signal_fence(std::memory_order_release);
  StoreFixed64(at, checksum);
}

bool DecodeRecordHeader(const char* at, uint64_t seed, RecordHeader* header) {
  const uint64_t type_and_sequence = LoadFixed64(at + 16);
  header->type = static_cast<uint8_t>(type_and_sequence >> 56);
  if (header->type == 0) return false;  // the common case: zeros after the end
  if (LoadFixed32(at + 8) != HeaderCheck(at, seed)) return false;
  header->payload_size = LoadFixed32(at + 12);
  header->sequence = type_and_sequence & kMaxSequence;
  header->synced = LoadFixed64(at + 24);
  return true;
}

bool IsRecordIntact(const char* at, const RecordHeader& header, uint64_t seed) {
  return LoadFixed64(at) == RecordChecksum(at, header.payload_size, seed);
}

}  // namespace bigtable
