#include "recovery/log_replay.h"

#include "commitlog/log_state.h"
#include "commitlog/log_test_util.h"

namespace bigtable {
namespace {

using testing::HasSubstr;

bool IsPrefix(const std::vector<SequenceNumber>& sequences, SequenceNumber last) {
  return sequences.size() <= last && sequences == Range(1, sequences.size());
}

// The record follows seven others, so that nothing after the torn one is ever valid.
TEST(LogReplayTest, ATornTailOfAnyLengthIsTheEndOfTheLog) {
  InMemoryFileSystem fs;
  auto log = NewLog(&fs);
  for (SequenceNumber s = 1; s <= 7; ++s) ASSERT_OK(Add(log.get(), s, Payload(s, 50)));
  const size_t begin = log->end_offset() - LogOffset(1, 0);
  const std::string before = fs.Contents(SegmentPath(1));
  ASSERT_OK(Add(log.get(), 8, Payload(8, 60)));
  const size_t end = begin + kRecordHeaderSize + 60;
  const std::string after = fs.Contents(SegmentPath(1));
  for (size_t torn = begin; torn <= end; ++torn) {
    // The rest is unchanged, or the file is truncated there.
    for (const std::string& rest : {before.substr(torn), std::string()}) {
      fs.SetContents(SegmentPath(1), after.substr(0, torn) + rest);
      const Replayed read = ReplayAll(&fs);
      ASSERT_OK(read.status);
      ASSERT_EQ(read.sequences, Range(1, torn == end ? 8 : 7)) << torn;
    }
  }
}

// A log of `count` records in two segments, synced after number `synced`.
std::unique_ptr<InMemoryFileSystem> TwoSegments(SequenceNumber count, SequenceNumber synced) {
  auto fs = std::make_unique<InMemoryFileSystem>();
  auto log = NewLog(fs.get());
  for (SequenceNumber s = 1; s <= count; ++s) {
    EXPECT_OK(Add(log.get(), s, Payload(s, s == 4 ? 16000 : 30)));
    if (s == synced) {
      EXPECT_OK(log->Sync());
    }
  }
  EXPECT_EQ(SegmentNumbers(fs.get()).size(), 2u);
  return fs;
}

TEST(LogReplayTest, AFlippedBitInARecordLeavesAPrefixOrIsDataLoss) {
  constexpr SequenceNumber kCount = 7;
  constexpr SequenceNumber kSynced = 3;
  auto fs = TwoSegments(kCount, kSynced);
  size_t losses = 0;
  for (const uint64_t number : {uint64_t{1}, uint64_t{2}}) {
    const std::string sound = fs->Contents(SegmentPath(number));
    for (size_t i = 0; i < sound.size(); i += i < 700 || i > 16000 ? 1 : 97) {
      std::string broken = sound;
      broken[i] ^= static_cast<char>(1 << i % 8);
      fs->SetContents(SegmentPath(number), broken);
      const Replayed read = ReplayAll(fs.get());
      ASSERT_TRUE(IsPrefix(read.sequences, kCount)) << number << " " << i;
      if (!read.status.ok()) {
        ASSERT_EQ(read.status.code(), absl::StatusCode::kDataLoss);
        ASSERT_THAT(read.status.ToString(), HasSubstr(SegmentName(number)));
        ++losses;
      } else {
        ASSERT_GE(read.sequences.size(), kSynced) << number << " " << i;
        for (SequenceNumber s = 1; s <= read.sequences.size(); ++s) {
          ASSERT_EQ(read.payloads[s - 1], Payload(s, s == 4 ? 16000 : 30));
        }
      }
    }
    fs->SetContents(SegmentPath(number), sound);
  }
  // Every byte of the three synced records, except the two bytes of padding in each.
  EXPECT_EQ(losses, 3 * (kRecordHeaderSize + 30));
}

TEST(LogReplayTest, AFlippedBitInAClosedLogIsDataLoss) {
  InMemoryFileSystem fs;
  auto log = NewLog(&fs);
  for (SequenceNumber s = 1; s <= 3; ++s) ASSERT_OK(Add(log.get(), s, Payload(s, 32)));
  const size_t end = log->end_offset() - LogOffset(1, 0);
  ASSERT_OK(log->Close());
  const std::string sound = fs.Contents(SegmentPath(1));
  for (size_t i = 0; i < end; ++i) {
    std::string broken = sound;
    broken[i] ^= static_cast<char>(1 << i % 8);
    fs.SetContents(SegmentPath(1), broken);
    ASSERT_EQ(ReplayAll(&fs).status.code(), absl::StatusCode::kDataLoss) << i;
  }
}

TEST(LogReplayTest, AFlippedBitInAnAttestedRecordIsDataLossEvenInTheLastOne) {
  InMemoryFileSystem fs;
  auto log = NewLog(&fs);
  for (SequenceNumber s = 1; s <= 3; ++s) ASSERT_OK(Add(log.get(), s, Payload(s, 32)));
  ASSERT_OK(log->Sync());
  ASSERT_OK(log->Attest());
  const size_t attested = log->end_offset() - LogOffset(1, 0);
  ASSERT_OK(Add(log.get(), 4, Payload(4, 32)));
  const size_t end = log->end_offset() - LogOffset(1, 0);
  log.reset();
  EXPECT_EQ(ReplayAll(&fs).sequences, Range(1, 4));
  const std::string sound = fs.Contents(SegmentPath(1));
  for (size_t i = 0; i < end; ++i) {
    std::string broken = sound;
    broken[i] ^= static_cast<char>(1 << i % 8);
    fs.SetContents(SegmentPath(1), broken);
    const Replayed read = ReplayAll(&fs);
    if (i < attested) {
      ASSERT_EQ(read.status.code(), absl::StatusCode::kDataLoss) << i;
    } else {
      ASSERT_OK(read.status) << i;
      ASSERT_EQ(read.sequences, Range(1, 3)) << i;
    }
  }
}

TEST(LogReplayTest, AttestingTwiceWritesOnce) {
  InMemoryFileSystem fs;
  auto log = NewLog(&fs);
  ASSERT_OK(Add(log.get(), 1, Payload(1, 32)));
  ASSERT_OK(log->Attest());  // nothing is synced
  const std::string before = fs.Contents(Cat("log/", kLogStateName));
  ASSERT_OK(log->Sync());
  ASSERT_OK(log->Attest());
  const std::string after = fs.Contents(Cat("log/", kLogStateName));
  EXPECT_NE(after, before);
  ASSERT_OK(log->Attest());
  EXPECT_EQ(fs.Contents(Cat("log/", kLogStateName)), after);
}

TEST(LogReplayTest, AFlippedBitInStateIsHarmlessAndTwoLostSlotsAreDataLoss) {
  auto fs = TwoSegments(7, 3);
  const std::string path = Cat("log/", kLogStateName);
  const std::string sound = fs->Contents(path);
  for (size_t i = 0; i < sound.size(); ++i) {
    std::string broken = sound;
    broken[i] ^= static_cast<char>(1 << i % 8);
    fs->SetContents(path, broken);
    const Replayed read = ReplayAll(fs.get());
    ASSERT_OK(read.status);
    ASSERT_EQ(read.sequences, Range(1, 7));
  }
  std::string broken = sound;
  broken[20] ^= 1;
  broken[4096 + 20] ^= 1;
  fs->SetContents(path, broken);
  EXPECT_EQ(ReplayAll(fs.get()).status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(ReplayAll(fs.get()).status.ToString(), HasSubstr(path));
  ASSERT_OK(fs->RemoveFile(path));
  EXPECT_EQ(ReplayAll(fs.get()).status.code(), absl::StatusCode::kDataLoss);
}

TEST(LogReplayTest, TheErrorForANewerFormatNamesTheFile) {
  auto fs = TwoSegments(7, 3);
  const std::string path = Cat("log/", kLogStateName);
  auto state = ReadLogState(fs.get(), "log");
  ASSERT_OK(state.status());
  state->version = kLogFormatVersion + 1;
  ++state->generation;
  fs->SetContents(path, EncodeLogState(*state));
  const absl::Status status = ReplayAll(fs.get()).status;
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.ToString(), HasSubstr(path));
}

TEST(LogReplayTest, TheDataLossOfAMissingSegmentNamesIt) {
  for (const uint64_t missing : {1, 2, 3, 4}) {
    InMemoryFileSystem fs;
    auto log = NewLog(&fs);
    for (SequenceNumber s = 1; s <= 4; ++s) ASSERT_OK(Add(log.get(), s, Payload(s, 16000)));
    ASSERT_EQ(SegmentNumbers(&fs), Range(1, 4));
    ASSERT_OK(fs.RemoveFile(SegmentPath(missing)));
    const Replayed read = ReplayAll(&fs);
    EXPECT_EQ(read.status.code(), absl::StatusCode::kDataLoss) << missing;
    EXPECT_THAT(read.status.ToString(), HasSubstr(SegmentName(missing)));
  }
}

TEST(LogReplayTest, AMissingSegmentIsDataLossEvenIfTheEndRecordBeforeItIsDamaged) {
  InMemoryFileSystem fs;
  auto log = NewLog(&fs);
  for (SequenceNumber s = 1; s <= 3; ++s) ASSERT_OK(Add(log.get(), s, Payload(s, 16000)));
  std::string broken = fs.Contents(SegmentPath(1));
  broken[RecordSize(16000)] ^= 1;
  fs.SetContents(SegmentPath(1), broken);
  EXPECT_OK(ReplayAll(&fs).status);  // nothing was synced
  ASSERT_OK(fs.RemoveFile(SegmentPath(2)));
  EXPECT_THAT(ReplayAll(&fs).status.ToString(), HasSubstr(SegmentName(2)));
}

TEST(LogReplayTest, AMissingLogThatMustExistIsDataLoss) {
  InMemoryFileSystem fs;
  EXPECT_EQ(ReplayAll(&fs).status.code(), absl::StatusCode::kDataLoss);
  EXPECT_OK(ReplayAll(&fs, {.must_exist = false}).status);
  ASSERT_OK(fs.CreateDirectory("log"));
  EXPECT_EQ(ReplayAll(&fs).status.code(), absl::StatusCode::kDataLoss);
  EXPECT_OK(ReplayAll(&fs, {.must_exist = false}).status);
}

TEST(LogReplayTest, AnEndBeforeAKnownSequenceNumberIsDataLoss) {
  auto fs = TwoSegments(7, 0);
  EXPECT_OK(ReplayAll(fs.get(), {.must_reach = 7}).status);
  const absl::Status status = ReplayAll(fs.get(), {.must_reach = 8}).status;
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(status.ToString(), HasSubstr(SegmentName(2)));
}

TEST(LogReplayTest, ReleasedSequenceNumbersCountAsReached) {
  InMemoryFileSystem fs;
  auto log = NewLog(&fs);
  for (SequenceNumber s = 1; s <= 4; ++s) ASSERT_OK(Add(log.get(), s, Payload(s, 16000)));
  log->ReleaseThrough(9);
  ASSERT_OK(log->PrepareSpare());
  const Replayed read = ReplayAll(&fs, {.must_reach = 9});
  ASSERT_OK(read.status);
  EXPECT_EQ(read.end.last_sequence, 9u);
}

// Writes a record with this header after the last one, with this log's salt.
void Forge(InMemoryFileSystem* fs, size_t position, RecordHeader header) {
  auto state = ReadLogState(fs, "log");
  ASSERT_OK(state.status());
  std::string bytes = fs->Contents(SegmentPath(1));
  FinishRecord(bytes.data() + position, header,
               RecordSeed(SegmentSalt(state->secret, 1), position));
  fs->SetContents(SegmentPath(1), bytes);
}

TEST(LogReplayTest, ARecordOfAnUnknownTypeIsAnErrorAndNotSkipped) {
  for (const uint8_t type : {4, 5, 6, 200}) {
    InMemoryFileSystem fs;
    auto log = NewLog(&fs);
    ASSERT_OK(Add(log.get(), 1, "x"));
    Forge(&fs, log->end_offset() - LogOffset(1, 0), {.type = type, .sequence = 2});
    const Replayed read = ReplayAll(&fs);
    EXPECT_EQ(read.status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(read.status.ToString(), HasSubstr(Cat("type ", int{type})));
  }
}

TEST(LogReplayTest, ASequenceNumberThatDoesNotAscendIsDataLoss) {
  for (const SequenceNumber sequence : {4, 5}) {
    InMemoryFileSystem fs;
    auto log = NewLog(&fs);
    ASSERT_OK(Add(log.get(), 5, "x"));
    Forge(&fs, log->end_offset() - LogOffset(1, 0), {.type = 1, .sequence = sequence});
    EXPECT_EQ(ReplayAll(&fs).status.code(), absl::StatusCode::kDataLoss);
  }
}

// Of a segment whose records were all before it.
TEST(LogReplayTest, ASequenceNumberThatDoesNotFollowAnEndRecordIsDataLoss) {
  for (const SequenceNumber sequence : {6, 7}) {
    InMemoryFileSystem fs;
    auto log = NewLog(&fs);
    ASSERT_OK(Add(log.get(), 6, "x"));
    ASSERT_OK(log->StartNextSegment());
    ASSERT_OK(Add(log.get(), 7, "y"));
    ASSERT_OK_AND_ASSIGN(const LogState state, ReadLogState(&fs, "log"));
    std::string bytes = fs.Contents(SegmentPath(1));
    StoreFixed64(bytes.data() + kRecordHeaderSize, 2);  // the next segment
    FinishRecord(bytes.data(),
                 {.payload_size = kEndPayloadSize,
                  .type = static_cast<uint8_t>(RecordType::kEnd),
                  .sequence = sequence},
                 RecordSeed(SegmentSalt(state.secret, 1), 0));
    fs.SetContents(SegmentPath(1), bytes);
    const Replayed read = ReplayAll(&fs);
    if (sequence == 6) {
      ASSERT_OK(read.status);
      EXPECT_EQ(read.sequences, Range(7, 7));
    } else {
      EXPECT_EQ(read.status.code(), absl::StatusCode::kDataLoss);
    }
  }
}

TEST(LogReplayTest, LogBytesStoredAsAValueAreNeverTakenForRecords) {
  InMemoryFileSystem fs;
  auto log = NewLog(&fs);
  for (SequenceNumber s = 1; s <= 3; ++s) ASSERT_OK(Add(log.get(), s, Payload(s, 100)));
  ASSERT_OK(log->Sync());
  const std::string bytes = fs.Contents(SegmentPath(1)).substr(0, 1000);
  const size_t begin = log->end_offset() - LogOffset(1, 0);
  ASSERT_OK(Add(log.get(), 4, bytes));
  std::string broken = fs.Contents(SegmentPath(1));
  broken[begin] ^= 1;  // so that the search runs through the value
  fs.SetContents(SegmentPath(1), broken);
  const Replayed read = ReplayAll(&fs);
  ASSERT_OK(read.status);
  EXPECT_EQ(read.sequences, Range(1, 3));
}

TEST(LogReplayTest, NoRecordAfterADamagedOneIsDelivered) {
  auto fs = TwoSegments(7, 0);
  std::string bytes = fs->Contents(SegmentPath(1));
  bytes[RecordSize(30)] ^= 1;  // the second record
  fs->SetContents(SegmentPath(1), bytes);
  const Replayed read = ReplayAll(fs.get());
  ASSERT_OK(read.status);
  EXPECT_EQ(read.sequences, Range(1, 1));
  EXPECT_FALSE(read.end.clean);
}

TEST(LogReplayTest, AnErrorOfTheCallbackEndsTheReplay) {
  auto fs = TwoSegments(7, 0);
  int calls = 0;
  const auto end =
      ReplayLog(fs.get(), "log", TestReplayOptions{}, [&](RecordType, SequenceNumber s, auto) {
        ++calls;
        return s == 3 ? absl::CancelledError("enough") : absl::OkStatus();
      });
  EXPECT_EQ(end.status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(calls, 3);
}

// Its segments may be gone in part.
TEST(LogReplayTest, OfALogThatIsBeingRemovedNothingIsMissing) {
  auto fs = TwoSegments(7, 3);
  fs->SetContents(Cat("log/", kRemovedMarker), "");
  const Replayed read = ReplayAll(fs.get());
  ASSERT_OK(read.status);
  EXPECT_TRUE(read.sequences.empty());
  EXPECT_TRUE(read.end.clean);
}

}  // namespace
}  // namespace bigtable
