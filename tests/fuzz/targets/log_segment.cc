// A commit log of two segments: any bytes, or records with valid checksums.
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"

#include "bigtable/testing/in_memory_file_system.h"

#include "commitlog/log_format.h"
#include "commitlog/log_state.h"
#include "fuzz/input.h"
#include "fuzz/target.h"
#include "recovery/log_replay.h"
#include "schema/mutation_format.h"

namespace bigtable {
namespace {

constexpr uint64_t kSecret = 5;

std::string Segment(uint64_t number, FuzzInput* input) {
  const uint64_t salt = SegmentSalt(kSecret, number);
  std::string bytes;
  for (int records = input->Below(8); records > 0; --records) {
    RecordHeader header{.type = input->Byte(),
                        .sequence = input->Number(2),
                        .synced = input->Below(4) == 0 ? input->Number() : 0};
    const std::string_view payload = input->Piece();
    header.payload_size = input->Below(8) == 0 ? static_cast<uint32_t>(input->Number(4))
                                               : static_cast<uint32_t>(payload.size());
    const size_t at = bytes.size();
    bytes.resize(at + RecordSize(payload.size()));
    payload.copy(bytes.data() + at + kRecordHeaderSize, payload.size());
    // A size that is not in the file has no checksum that could be computed.
    if (header.payload_size > payload.size())
      header.payload_size = static_cast<uint32_t>(payload.size());
    FinishRecord(bytes.data() + at, header, RecordSeed(salt, at));
  }
  bytes.append(input->Piece());
  return bytes;
}

void FuzzLogSegment(std::string_view bytes) {
  FuzzInput input(bytes);
  InMemoryFileSystem files;
  const bool is_mapped = input.Below(2) == 0;
  const std::string state = EncodeLogState({.generation = 1, .secret = kSecret, .low = 1});
  std::string slots(8192, '\0');
  state.copy(slots.data(), state.size());
  state.copy(slots.data() + 4096, state.size());
  files.SetContents("/log/STATE", slots);
  for (const uint64_t number : {1, 2}) {
    files.SetContents("/log/" + SegmentName(number), Segment(number, &input));
  }
  SequenceNumber last = 0;
  const auto replayed = [&](RecordType type, SequenceNumber sequence, std::string_view payload) {
    Require(sequence > last, "sequence numbers ascend");
    last = sequence;
    MutationRecord record;
    std::vector<MutationRecord> records;
    std::vector<OtherBatchPart> others;
    std::string_view batch;
    if (type == RecordType::kMutation) static_cast<void>(ParseMutationRecord(payload, &record));
    if (type == RecordType::kBatch)
      static_cast<void>(ParseBatchRecord(payload, sequence, &records));
    if (type == RecordType::kBatchPart) static_cast<void>(ParseBatchPart(payload, &others, &batch));
    return absl::OkStatus();
  };
  ReplayLog(
      &files, "/log",
      {.read_mode = is_mapped ? FileSystem::ReadMode::kMapped : FileSystem::ReadMode::kPositional},
      replayed)
      .IgnoreError();
}

const FuzzTargetRegistration log_segment_target("log_segment", FuzzLogSegment);

}  // namespace
}  // namespace bigtable
