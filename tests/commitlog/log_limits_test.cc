// The parts of a log at their limits: what it appends, what it releases, which files and states it
// recognizes.
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "bigtable/file_system_wrapper.h"

#include "base/checksum.h"
#include "commitlog/log_directory.h"
#include "commitlog/log_state.h"
#include "commitlog/log_test_util.h"
#include "recovery/log_piece.h"
#include "recovery/log_sorter.h"
#include "recovery/sorted_log.h"
#include "recovery/sorted_log_format.h"

namespace bigtable {
namespace {

// --- What is appended ---

TEST(LogLimitsTest, ASegmentIsOfWholePagesAndNotTooSmall) {
  for (const uint64_t size : {uint64_t{16384}, uint64_t{20480}}) {
    InMemoryFileSystem fs;
    EXPECT_OK(CommitLog::Create(&fs, "log", {.segment_size = size}));
  }
  for (const uint64_t size : {uint64_t{0}, uint64_t{12288}, uint64_t{16383}, uint64_t{16385}}) {
    InMemoryFileSystem fs;
    EXPECT_STATUS(kInvalidArgument, Cat("segment_size is ", size),
                  CommitLog::Create(&fs, "log", {.segment_size = size}));
  }
}

TEST(LogLimitsTest, SequenceNumbersAscendUpToTheLargest) {
  InMemoryFileSystem fs;
  const auto log = NewLog(&fs);
  EXPECT_STATUS(kInvalidArgument, "sequence number 0 must be above 0", Add(log.get(), 0, "v"));
  EXPECT_OK(Add(log.get(), 5, "v"));
  EXPECT_STATUS(kInvalidArgument, "sequence number 5 must be above 5", Add(log.get(), 5, "v"));
  log->ReleaseThrough(8);
  EXPECT_STATUS(kInvalidArgument, "sequence number 8 must be above 8", Add(log.get(), 8, "v"));
  EXPECT_OK(Add(log.get(), 9, "v"));
  EXPECT_STATUS(kInvalidArgument, "at most", Add(log.get(), kMaxSequence + 1, "v"));
  EXPECT_OK(Add(log.get(), kMaxSequence, "v"));
  EXPECT_EQ(log->last_sequence(), kMaxSequence);
  EXPECT_EQ(log->statistics().records, 3u);
  EXPECT_EQ(log->statistics().bytes, 3 * RecordSize(1));
}

TEST(LogLimitsTest, ARecordIsOfAUserAndNotTooLarge) {
  InMemoryFileSystem fs;
  const auto log = NewLog(&fs);
  const std::string_view payload = "v";
  EXPECT_STATUS(kInvalidArgument, "is not one that a log's user appends",
                log->Append(RecordType::kEnd, 1, {&payload, 1}, nullptr));
  EXPECT_STATUS(kInvalidArgument, "is not one that a log's user appends",
                log->Append(RecordType::kSwitch, 1, {&payload, 1}, nullptr));
  // It is not read.
  const std::string_view large(payload.data(), kMaxPayloadSize + 1);
  EXPECT_STATUS(kInvalidArgument, "bytes; at most 1073741824 are allowed",
                log->Append(RecordType::kMutation, 1, {&large, 1}, nullptr));
  ASSERT_OK(Add(log.get(), 1, "v"));
  ASSERT_OK(log->Close());
  EXPECT_OK(log->Close());
  EXPECT_STATUS(kFailedPrecondition, "is closed", Add(log.get(), 2, "v"));
}

// A record that leaves no byte before the end record, and one that is a word larger.
TEST(LogLimitsTest, ASegmentIsFilledToItsLastByte) {
  InMemoryFileSystem fs;
  const auto log = NewLog(&fs);
  const uint64_t most = kSmallSegment - kEndRecordSize - kRecordHeaderSize;
  ASSERT_OK(Add(log.get(), 1, Payload(1, most)));
  EXPECT_EQ(log->end_offset() >> kSegmentShift, 1u);
  ASSERT_OK(log->Reserve(most));
  EXPECT_EQ(log->end_offset() >> kSegmentShift, 2u);
  ASSERT_OK(Add(log.get(), 2, Payload(2, most)));
  EXPECT_EQ(log->end_offset() >> kSegmentShift, 2u);
  // Larger ones get a segment of their own.
  ASSERT_OK(Add(log.get(), 3, Payload(3, most + 1)));
  EXPECT_EQ(log->end_offset() >> kSegmentShift, 3u);
  ASSERT_OK(Add(log.get(), 4, "v"));
  ASSERT_OK(log->Close());
  const Replayed replayed = ReplayAll(&fs);
  ASSERT_OK(replayed.status);
  EXPECT_EQ(replayed.sequences, Range(1, 4));
  EXPECT_EQ(replayed.payloads[2], Payload(3, most + 1));
}

// --- What is released ---

TEST(LogLimitsTest, ASegmentIsReleasedWithItsLastRecord) {
  InMemoryFileSystem fs;
  const auto log = NewLog(&fs);
  EXPECT_EQ(log->OldestNeeded(), 0u);
  for (SequenceNumber sequence = 11; sequence <= 13; ++sequence) {
    ASSERT_OK(Add(log.get(), sequence, Payload(sequence, 15000)));  // a segment each
    ASSERT_OK(log->PrepareSpare());
  }
  EXPECT_EQ(log->NeededBytes(), 3 * kSmallSegment);
  EXPECT_EQ(log->OldestNeeded(), 11u);
  EXPECT_FALSE(log->ReleasesSegment(10));
  log->ReleaseThrough(10);
  EXPECT_EQ(log->NeededBytes(), 3 * kSmallSegment);
  EXPECT_TRUE(log->ReleasesSegment(11));
  log->ReleaseThrough(11);
  EXPECT_EQ(log->NeededBytes(), 2 * kSmallSegment);
  EXPECT_EQ(log->OldestNeeded(), 12u);
  EXPECT_TRUE(log->NeedsUpkeep());
  ASSERT_OK(log->PrepareSpare());
  log->ReleaseThrough(5);  // nothing is needed again
  EXPECT_EQ(log->OldestNeeded(), 12u);
  EXPECT_FALSE(log->ReleasesSegment(11));
  log->ReleaseThrough(13);
  EXPECT_EQ(log->NeededBytes(), kSmallSegment);  // the active one stays
  EXPECT_EQ(log->OldestNeeded(), 0u);
  EXPECT_FALSE(log->ReleasesSegment(13));
  ASSERT_OK(Add(log.get(), 14, "v"));
  EXPECT_EQ(log->OldestNeeded(), 13u);  // with what is in its segment
  ASSERT_OK(log->PrepareSpare());
  ASSERT_OK(log->RemoveFreeSegments());
  EXPECT_EQ(SegmentNumbers(&fs), (std::vector<uint64_t>{3, 4}));
}

// Each of them needs the files' names, which another thread is changing.
TEST(LogLimitsTest, AnotherThreadsUpkeepIsAwaitedUntilTheDeadline) {
  InMemoryFileSystem base;
  FaultyFileSystem fs(&base);
  auto created = CommitLog::Create(&fs, "log", {.segment_size = 16384});
  ASSERT_OK(created);
  CommitLog& log = **created;
  ASSERT_OK(Add(&log, 1, "v"));
  ASSERT_OK(log.Sync());
  fs.StallCalls({{FileCall::kNewLogFile}, ""});
  std::thread upkeep([&] { EXPECT_OK(log.PrepareSpare()); });
  ASSERT_TRUE(fs.WaitUntilStalled(1));
  const auto soon = [] { return CallLimits{.deadline = Deadline::In(absl::Milliseconds(10))}; };
  EXPECT_STATUS(kDeadlineExceeded, "", log.PrepareSpare(soon()));
  EXPECT_STATUS(kDeadlineExceeded, "", log.RemoveFreeSegments(soon()));
  EXPECT_STATUS(kDeadlineExceeded, "", log.PrepareFreshSpare(soon()).status());
  EXPECT_STATUS(kDeadlineExceeded, "", log.Attest(soon()));
  EXPECT_STATUS(kDeadlineExceeded, "", log.StartNewSegment(soon()));
  EXPECT_STATUS(kDeadlineExceeded, "", log.Reserve(20000, soon()));
  const std::string large(20000, 'v');
  const std::string_view part = large;
  EXPECT_STATUS(kDeadlineExceeded, "",
                log.Append(RecordType::kMutation, 2, {&part, 1}, nullptr, soon()));
  EXPECT_EQ(log.last_sequence(), 1u);
  fs.ReleaseCalls();
  upkeep.join();
  EXPECT_OK(log.Append(RecordType::kMutation, 2, {&part, 1}, nullptr, soon()));
  EXPECT_OK(log.Attest(soon()));
}

TEST(LogLimitsTest, AnAttestationIsWrittenOnceForWhatIsSynced) {
  InMemoryFileSystem base;
  FaultyFileSystem fs(&base);
  const auto log = NewLog(&fs);
  ASSERT_OK(Add(log.get(), 1, "v"));
  ASSERT_OK(log->Attest());  // that there is nothing
  fs.CountCalls({{FileCall::kLogSync}, "STATE"});
  ASSERT_OK(log->Attest());
  EXPECT_EQ(fs.calls(), 0u);  // nothing is synced
  ASSERT_OK(log->Sync());
  ASSERT_OK(log->Attest());
  const uint64_t once = fs.calls();
  EXPECT_GT(once, 0u);
  ASSERT_OK(log->Attest());
  EXPECT_EQ(fs.calls(), once);
}

// --- Its state ---

class LogStateFileTest : public testing::Test {
 protected:
  void WriteFile(const std::string& bytes) {
    ASSERT_OK_AND_ASSIGN(const auto file, fs_.NewWritableFile(Cat("log/", kLogStateName)));
    ASSERT_OK(file->Append(bytes));
    ASSERT_OK(file->Close());
  }
  void WriteSlots(const std::string& one, const std::string& other) {
    std::string bytes = one;
    bytes.resize(4096, '\0');
    bytes += other;
    bytes.resize(8192, '\0');
    ASSERT_NO_FATAL_FAILURE(WriteFile(bytes));
  }
  static std::string Slot(uint64_t generation, uint64_t version = kLogFormatVersion) {
    return EncodeLogState({.version = version, .generation = generation, .low = generation});
  }
  absl::StatusOr<LogState> Read() { return ReadLogState(&fs_, "log"); }

  void SetUp() override { ASSERT_OK(fs_.CreateDirectory("log")); }
  InMemoryFileSystem fs_;
};

TEST_F(LogStateFileTest, TheNewerSlotIsRead) {
  WriteSlots(Slot(5), Slot(6));
  EXPECT_EQ(Read()->low, 6u);
  WriteSlots(Slot(6), Slot(5));
  EXPECT_EQ(Read()->low, 6u);
}

TEST_F(LogStateFileTest, OneSlotSuffices) {
  WriteSlots(Slot(5), "damaged");
  EXPECT_EQ(Read()->low, 5u);
  WriteSlots("damaged", Slot(5));
  EXPECT_EQ(Read()->low, 5u);
  WriteFile(Slot(5));
  EXPECT_EQ(Read()->low, 5u);
  WriteFile(Slot(5).substr(0, 63));
  EXPECT_STATUS(kDataLoss, "no valid state of a commit log", Read());
  WriteSlots("damaged", "damaged");
  EXPECT_STATUS(kDataLoss, "no valid state of a commit log", Read());
  WriteFile("");
  EXPECT_STATUS(kDataLoss, "no valid state of a commit log", Read());
}

TEST_F(LogStateFileTest, AStateOfALaterVersionIsFailedPrecondition) {
  WriteSlots(Slot(5), Slot(6, kLogFormatVersion + 1));
  EXPECT_STATUS(kFailedPrecondition, Cat("format version ", kLogFormatVersion + 1), Read());
  WriteSlots(Slot(5), Slot(6, kLogFormatVersion));
  EXPECT_OK(Read());
}

// --- Its directory ---

// Notes which directories are synced.
class DirectoryNotes final : public FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  absl::Status SyncDirectory(std::string_view path) override {
    synced.emplace_back(path);
    return absl::OkStatus();
  }
  absl::Status CreateDirectory(std::string_view) override { return absl::OkStatus(); }
  absl::StatusOr<std::vector<std::string>> ListDirectory(std::string_view) override {
    return names;
  }
  std::vector<std::string> names;
  std::vector<std::string> synced;
};

TEST(LogDirectoryTest, ANewDirectoryIsDurableInItsParent) {
  const struct {
    std::string_view directory, parent;
  } cases[] = {{"log", "."}, {"/log", "/"},    {"a/log", "a"}, {"/a/b/log", "/a/b"},
               {"/", "/"},   {"a/log//", "a"}, {"/log/", "/"}, {"log/", "."}};
  for (const auto& [directory, parent] : cases) {
    InMemoryFileSystem base;
    DirectoryNotes fs(&base);
    fs.names = {"STATE", "1.log"};  // no segment has such a name
    ASSERT_OK(CreateLogDirectory(&fs, directory));
    EXPECT_EQ(fs.synced, std::vector<std::string>{std::string(parent)}) << directory;
    for (const std::string name : {"00000001.log", "REMOVED"}) {
      if (name == "REMOVED") {
        fs.names = {std::string(kRemovedMarker)};
      } else {
        fs.names = {name};
      }
      EXPECT_STATUS(kAlreadyExists, "", CreateLogDirectory(&fs, directory));
    }
  }
}

TEST(LogDirectoryTest, ACopyHasAllBytesOfTheSegmentsFromTheFirstOn) {
  InMemoryFileSystem base;
  FaultyFileSystem fs(&base);
  ASSERT_OK(fs.CreateDirectory("log"));
  ASSERT_OK(fs.SyncDirectory("."));
  const auto write = [&](uint64_t number, size_t size) {
    const auto file = fs.NewWritableFile(SegmentPath(number));
    EXPECT_OK(file.status());
    EXPECT_OK((*file)->Append(Payload(number, size)));
    EXPECT_OK((*file)->Close());
  };
  constexpr size_t kMebibyte = 1 << 20;
  const size_t sizes[] = {100, kMebibyte - 1, kMebibyte, kMebibyte + 1, 2 * kMebibyte, 0};
  for (uint64_t i = 0; i < std::size(sizes); ++i) write(i + 1, sizes[i]);
  fs.CountCalls({{FileCall::kNewWritableFile}, ""});
  ASSERT_OK(CopyLog(&fs, "log", 2));
  EXPECT_EQ(fs.calls(), std::size(sizes) - 1);
  const auto after = base.CrashClone(1, Unsynced::kNothing);
  for (uint64_t i = 1; i < std::size(sizes); ++i) {
    EXPECT_EQ(*after->ReadFile(SegmentPath(i + 1)), Payload(i + 1, sizes[i])) << i;
  }
  // A copy that fails leaves nothing behind, and the segment as it was.
  fs.FailCalls({{FileCall::kSync}, ""}, absl::UnavailableError("no sync"));
  EXPECT_STATUS(kUnavailable, "no sync", CopyLog(&fs, "log", 2));
  EXPECT_FALSE(base.FileExists(Cat("log/", kTemporarySegmentName)));
  EXPECT_EQ(*base.ReadFile(SegmentPath(2)), Payload(2, kMebibyte - 1));
  for (const FileCall call : {FileCall::kRenameFile, FileCall::kSyncDirectory, FileCall::kAppend,
                              FileCall::kClose, FileCall::kRead}) {
    fs.ClearFaults();
    fs.FailCalls({{call}, ""}, absl::UnavailableError("failed"));
    EXPECT_STATUS(kUnavailable, "failed", CopyLog(&fs, "log", 2));
  }
}

TEST(LogDirectoryTest, OnlyFilesOfALogAreRemoved) {
  InMemoryFileSystem fs;
  ASSERT_OK(fs.CreateDirectory("log"));
  const std::vector<std::string> of_log = {SegmentName(1),
                                           std::string(kTemporarySegmentName),
                                           std::string(kLogStateName),
                                           std::string(kTemporaryLogStateName),
                                           std::string(kSortedManifestName),
                                           std::string(kSortedManifestTemporaryName),
                                           SortedPieceName(1)};
  const auto write = [&](const std::string& name) {
    EXPECT_OK((*fs.NewWritableFile(Cat("log/", name)))->Close());
  };
  for (const std::string& name : of_log) write(name);
  write("notes.txt");
  ASSERT_OK(RemoveLog(&fs, "log"));
  EXPECT_EQ(*fs.ListDirectory("log"), std::vector<std::string>{"notes.txt"});
  ASSERT_OK(fs.RemoveFile("log/notes.txt"));
  write(SegmentName(2));
  ASSERT_OK(RemoveLog(&fs, "log"));
  EXPECT_STATUS(kNotFound, "", fs.ListDirectory("log").status());
  EXPECT_OK(RemoveLog(&fs, "log"));
  EXPECT_OK(SyncLog(&fs, "log"));
}

TEST(LogDirectoryTest, AnErrorOfAnyCallIsReturned) {
  using Work = absl::Status (*)(FileSystem*);
  const struct {
    Work work;
    int least;  // calls
  } cases[] = {
      {[](FileSystem* fs) { return CreateLogDirectory(fs, "other"); }, 3},
      {[](FileSystem* fs) { return SyncLog(fs, "log"); }, 5},
      {[](FileSystem* fs) { return CopyLog(fs, "log", 2); }, 14},
      {[](FileSystem* fs) { return RemoveLog(fs, "log"); }, 10},
      {[](FileSystem* fs) {
         return CommitLog::Create(fs, "other", {.segment_size = 16384}).status();
       },
       10},
  };
  for (const auto& [work, least] : cases) {
    int failed = 0;
    for (uint64_t call = 1;; ++call) {
      SCOPED_TRACE(Cat("work ", &work - &cases[0].work, ", call ", call));
      InMemoryFileSystem base;
      FaultyFileSystem fs(&base);
      ASSERT_OK(fs.CreateDirectory("log"));
      for (uint64_t number = 1; number <= 3; ++number) {
        const auto file = fs.NewWritableFile(SegmentPath(number));
        ASSERT_OK(file);
        ASSERT_OK((*file)->Append(Payload(number, 100)));
        ASSERT_OK((*file)->Close());
      }
      fs.CountCalls();
      fs.FailCall(call, absl::UnavailableError("a fault"));
      const absl::Status status = work(&fs);
      const bool is_hit = fs.faults() > 0;
      fs.ClearFaults();
      if (!is_hit) {
        EXPECT_OK(status);
        break;
      }
      ++failed;
      EXPECT_STATUS(kUnavailable, "a fault", status);
    }
    EXPECT_GE(failed, least);
  }
}

// --- Sorted logs ---

TEST(SortedLogLimitsTest, OptionsAreChecked) {
  InMemoryFileSystem fs;
  const auto key_of = [](RecordType, std::string_view, RecordKey*) { return absl::OkStatus(); };
  const auto sort = [&](const SortLogOptions& options) {
    return SortLog(&fs, "log", {}, key_of, "sorted", options).status();
  };
  EXPECT_STATUS(kInvalidArgument, "threads is 0", sort({.threads = 0}));
  EXPECT_STATUS(kInvalidArgument, "is 0; it must be from 1", sort({.piece_size = 0}));
  EXPECT_STATUS(kInvalidArgument, "is 4294967297; it must be",
                sort({.piece_size = (uint64_t{4} << 30) + 1}));
}

TEST(SortedLogLimitsTest, TheRowOfARecordIsAPartOfItsPayload) {
  const std::string bytes = "xpayloadx";
  const std::string_view payload = std::string_view(bytes).substr(1, 7);
  const auto add = [&](std::string_view row) {
    InMemoryFileSystem fs;
    EXPECT_OK(fs.CreateDirectory("sorted"));
    const auto key_of = [&](RecordType, std::string_view, RecordKey* key) {
      *key = {5, row};
      return absl::OkStatus();
    };
    LogSorter sorter(&fs, "sorted", key_of, {.piece_size = 1000, .threads = 1});
    return sorter.Add(RecordType::kMutation, 1, payload);
  };
  EXPECT_OK(add(payload));
  EXPECT_OK(add(payload.substr(6)));
  EXPECT_OK(add(""));
  EXPECT_STATUS(kInvalidArgument, "not a part of its payload", add({bytes.data(), 2}));
  EXPECT_STATUS(kInvalidArgument, "not a part of its payload", add({payload.data() + 6, 2}));
  EXPECT_STATUS(kInvalidArgument, "not a part of its payload", add(bytes));
}

TEST(SortedLogLimitsTest, RecordsRoundTripAtTheirLimits) {
  const std::string_view payload = "payload";
  for (const auto& [row, whole] : std::vector<std::pair<std::string_view, std::string_view>>{
           {payload, payload}, {payload.substr(4), payload}, {"", payload}, {"", ""}}) {
    for (const SequenceNumber batch : {uint64_t{0}, uint64_t{7}, uint64_t{8}, UINT64_MAX}) {
      std::string block;
      AppendSortedRecord(
          &block, {.sequence = 7, .table_id = 3, .row = row, .payload = whole, .batch = batch});
      Decoder decoder(block);
      SortedRecord record;
      ASSERT_TRUE(ParseSortedRecord(&decoder, &record));
      EXPECT_EQ(record.sequence, 7u);
      EXPECT_EQ(record.row, row);
      EXPECT_EQ(record.payload, whole);
      EXPECT_EQ(record.batch, batch);
      EXPECT_TRUE(decoder.at_end());
    }
  }
}

TEST(SortedLogLimitsTest, ABatchDoesNotEndAfterTheLastNumber) {
  // The type, the sequence number, what is left of the batch, and no row and payload.
  const auto parse = [](uint64_t left, SortedRecord* record) {
    std::string block(1, '\1');
    AppendVarint64(&block, UINT64_MAX - 1);
    AppendVarint64(&block, left);
    block.append(4, '\0');
    Decoder decoder(block);
    return ParseSortedRecord(&decoder, record);
  };
  SortedRecord record;
  ASSERT_TRUE(parse(2, &record));
  EXPECT_EQ(record.batch, UINT64_MAX);
  EXPECT_FALSE(parse(3, &record));
  EXPECT_FALSE(parse(UINT64_MAX, &record));
}

TEST(SortedLogLimitsTest, ABatchThatEndsBeforeItsRecordOrFarBehindItIsRefused) {
  constexpr SequenceNumber kSequence = 10, kFurthest = kSequence + LogPiece::kMaxLeftOfBatch;
  const auto key_of = [](RecordType, std::string_view, RecordKey*) { return absl::OkStatus(); };
  for (const SequenceNumber batch : {SequenceNumber{0}, kSequence, kSequence + 1, kFurthest}) {
    InMemoryFileSystem fs;
    ASSERT_OK(fs.CreateDirectory("sorted"));
    LogSorter sorter(&fs, "sorted", key_of, {.piece_size = 1000, .threads = 1});
    ASSERT_OK(sorter.Add(RecordType::kMutation, kSequence, "payload", batch));
    ASSERT_OK(sorter.Finish({}));
    ASSERT_OK_AND_ASSIGN(const auto log,
                         SortedLog::Open(&fs, "sorted", {.read_mode = TestReadMode()}));
    std::vector<SequenceNumber> read;
    ASSERT_OK(log->Read({}, [&](const SortedRecord& record) {
      read.push_back(record.batch);
      return absl::OkStatus();
    }));
    EXPECT_EQ(read, std::vector<SequenceNumber>{batch});
  }
  for (const SequenceNumber batch : {SequenceNumber{1}, kSequence - 1, kFurthest + 1, UINT64_MAX}) {
    InMemoryFileSystem fs;
    ASSERT_OK(fs.CreateDirectory("sorted"));
    LogSorter sorter(&fs, "sorted", key_of, {.piece_size = 1000, .threads = 1});
    EXPECT_STATUS(kDataLoss, "sequence number 10: its batch ends with the sequence number",
                  sorter.Add(RecordType::kMutation, kSequence, "payload", batch));
  }
}

TEST(SortedLogLimitsTest, ABlockOfAnIndexIsNotEmpty) {
  const auto index = [](const std::vector<uint64_t>& sizes) {
    std::string bytes;
    for (const uint64_t size : sizes) {
      AppendSortedIndexEntry(&bytes, {.table_id = 3, .row = "r", .size = size, .checksum = 1});
    }
    return bytes;
  };
  const auto blocks = ParseSortedIndex(index({60, 40}), 100);
  ASSERT_TRUE(blocks.has_value());
  ASSERT_EQ(blocks->size(), 2u);
  EXPECT_EQ((*blocks)[1].offset, 60u);
  EXPECT_FALSE(ParseSortedIndex(index({60, 0, 40}), 100).has_value());
  EXPECT_FALSE(ParseSortedIndex(index({60, 41}), 100).has_value());
  EXPECT_FALSE(ParseSortedIndex(index({60, 39}), 100).has_value());
}

TEST(SortedLogLimitsTest, AManifestIsCheckedToItsLastByte) {
  const std::vector<SortedPieceSummary> pieces = {{64, 1, 1, 1, 1}, {64, 1, 1, 2, 9}};
  const std::string bytes = EncodeSortedManifest({.pieces = pieces});
  const auto decode = [](const std::string& manifest) {
    return DecodeSortedManifest(manifest, "m").status();
  };
  const auto with_checksum = [](std::string manifest) {
    StoreFixed64(manifest.data() + 16,
                 Checksum(std::string_view(manifest).substr(24), LoadFixed64(manifest.data() + 8)));
    return manifest;
  };
  EXPECT_OK(decode(bytes));
  for (size_t size = 0; size < bytes.size(); ++size) {
    const char* const what = size < 8    ? "not the manifest"
                             : size < 24 ? "truncated"
                                         : "wrong checksum";
    EXPECT_STATUS(kDataLoss, what, decode(bytes.substr(0, size)));
  }
  EXPECT_STATUS(kDataLoss, "impossible size",
                decode(with_checksum(bytes.substr(0, bytes.size() - 1))));
  EXPECT_STATUS(kDataLoss, "impossible size", decode(with_checksum(bytes + "x")));
  std::string earlier = bytes;
  --earlier[8];
  EXPECT_STATUS(kDataLoss, "format version 1, of an earlier program",
                decode(with_checksum(earlier)));
}

TEST(SortedLogLimitsTest, AFooterIsCheckedToItsLastByte) {
  constexpr uint64_t kSize = SortedPieceFooter::kSize;
  const auto bytes_of = [](uint64_t index_size) {
    std::string bytes;
    AppendSortedPieceFooter(&bytes, {.index_size = index_size, .records = 3});
    return bytes;
  };
  const auto decode = [](std::string_view bytes, uint64_t file_size, uint64_t checksum) {
    return DecodeSortedPieceFooter(bytes, "p", file_size, checksum).status();
  };
  const auto checksum_of = [](const std::string& bytes) {
    return Checksum(std::string_view(bytes).substr(0, kSize - 16));
  };
  const std::string footer = bytes_of(36);
  const uint64_t checksum = checksum_of(footer);
  EXPECT_OK(decode(footer, kSize + 36, checksum));
  EXPECT_STATUS(kDataLoss, "p at offset 35: the footer has impossible values",
                decode(footer, kSize + 35, checksum));
  EXPECT_STATUS(kDataLoss, "impossible values", decode(footer, kSize, checksum));
  EXPECT_STATUS(kDataLoss, "truncated", decode(footer, kSize - 1, checksum));
  EXPECT_STATUS(kDataLoss, "truncated", decode(footer.substr(1), 1000, checksum));
  EXPECT_STATUS(kDataLoss, "truncated", decode(footer + "x", 1000, checksum));
  EXPECT_OK(decode(bytes_of(0), kSize, checksum_of(bytes_of(0))));
  EXPECT_STATUS(kDataLoss, "not the piece that the manifest names",
                decode(footer, 1000, checksum + 1));
  for (size_t i = 0; i < footer.size(); ++i) {
    std::string flipped = footer;
    flipped[i] ^= 1;
    EXPECT_STATUS(kDataLoss, "", decode(flipped, 1000, checksum));
  }
  for (const auto& [at, error] : std::vector<std::pair<size_t, std::string>>{
           {40, "format version 1, of an earlier program"}, {44, "impossible values"}}) {
    std::string other = footer;
    --other[at];
    StoreFixed64(other.data() + kSize - 16, checksum_of(other));
    EXPECT_STATUS(kDataLoss, error, decode(other, 1000, checksum_of(other)));
  }
}

// Pieces are in the order of the log, and only those with later records are read.
TEST(SortedLogLimitsTest, APieceWithoutLaterRecordsIsNotRead) {
  InMemoryFileSystem fs;
  LogPiece piece;
  piece.Clear(1000);
  const std::string_view payload = "row";
  for (const SequenceNumber sequence : {3, 4, 5}) {
    piece.Add({.type = RecordType::kMutation,
               .sequence = sequence,
               .table_id = sequence,
               .row = payload,
               .payload = payload});
  }
  ASSERT_OK_AND_ASSIGN(const SortedPieceSummary summary, piece.Write(&fs, "piece"));
  ASSERT_OK_AND_ASSIGN(const auto read, SortedPiece::Open(&fs, "piece", summary, TestReadMode()));
  const auto rows = [&](uint64_t table_id, SequenceNumber after, const char* end_row = nullptr) {
    uint64_t bytes_read = 0;
    int records = 0;
    SortedRange range;
    range.table_id = table_id;
    range.after = after;
    if (end_row != nullptr) range.end_row = end_row;
    EXPECT_OK(read->Read(
        range,
        [&](const SortedRecord&) {
          ++records;
          return absl::OkStatus();
        },
        &bytes_read));
    return bytes_read == 0 ? -1 : records;
  };
  EXPECT_EQ(rows(4, 0), 1);
  EXPECT_EQ(rows(4, 3), 1);
  EXPECT_EQ(rows(4, 4), 0);
  EXPECT_EQ(rows(5, 4), 1);
  EXPECT_EQ(rows(5, 5), -1);
  EXPECT_EQ(rows(6, 0), -1);  // behind the last record of the last block
  EXPECT_EQ(rows(2, 0), 0);
  EXPECT_EQ(rows(4, 0, "row"), 0);
  EXPECT_EQ(rows(4, 0, "rowa"), 1);
}

}  // namespace
}  // namespace bigtable
