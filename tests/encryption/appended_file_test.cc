// Encrypted files that are written once: their contents at every border of chunks and frames, and
// every way in which their bytes can be damaged.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "bigtable/testing/faulty_file_system.h"

#include "base/coding.h"
#include "encryption/appended_format.h"
#include "encryption/encrypted_fixture.h"
#include "encryption/file_header.h"
#include "reads/file_call_recorder.h"
#include "support/random.h"
#include "support/seeds.h"

namespace bigtable {
namespace {

using AppendedFileTest = EncryptedFixture;

std::string Joined(const std::vector<std::string>& parts) {
  std::string all;
  for (const std::string& part : parts) all += part;
  return all;
}

// --- Contents ---

TEST_F(AppendedFileTest, FilesOfEverySizeAroundChunkBordersAreReadAtEveryBorder) {
  for (const uint64_t size : {1ul, 15ul, 16ul, 4095ul, 4096ul, 4097ul, 8191ul, 8192ul, 8193ul,
                              16 * 4096ul, 16 * 4096ul + 1, 17 * 4096ul, 300'000ul}) {
    const std::string contents = Pattern(size);
    Put("/f", {contents});
    EXPECT_TRUE(Get("/f") == contents) << size;
    EXPECT_EQ(*fs_.FileSize("/f"), size);
    ASSERT_OK_AND_ASSIGN(const auto file,
                         fs_.NewRandomAccessFile("/f", FileSystem::ReadMode::kMapped));
    EXPECT_EQ(file->mapping(), nullptr);
    std::vector<uint64_t> borders = {0, size};
    for (const uint64_t chunk : {1ul, 2ul, 15ul, 16ul, 17ul}) {
      for (const uint64_t at : {chunk * 4096 - 1, chunk * 4096, chunk * 4096 + 1}) {
        if (at < size) borders.push_back(at);
      }
    }
    for (const uint64_t from : borders) {
      for (const uint64_t to : borders) {
        if (from > to) continue;
        std::string read(to - from, '\0');
        ASSERT_OK(file->Read(from, read.size(), read.data())) << size << " " << from << " " << to;
        ASSERT_TRUE(read == contents.substr(from, to - from)) << size << " " << from << " " << to;
      }
    }
  }
}

TEST_F(AppendedFileTest, AnyAppendsAndReadsGiveWhatAPlainFileGives) {
  // Few sizes, so that frames of one size follow each other, and each meets each.
  const std::vector<size_t> sizes = {0, 1, 7, 4096, 4097, 12'288};
  ForEachSeed(60, [&](uint64_t seed) {
    Random random(seed);
    std::vector<std::string> parts;
    for (uint64_t n = random.Below(12); n > 0; --n) {
      const size_t size = random.Pick(sizes);
      for (uint64_t repeat = random.Below(4); repeat > 0; --repeat) {
        parts.push_back(random.Bytes(size));
      }
    }
    Put("/f", parts);
    const std::string contents = Joined(parts);
    ASSERT_TRUE(Get("/f") == contents);
    ASSERT_OK_AND_ASSIGN(const auto file,
                         fs_.NewRandomAccessFile("/f", FileSystem::ReadMode::kPositional));
    ASSERT_EQ(file->size(), contents.size());
    for (int i = 0; i < 50; ++i) {
      const size_t from = random.Below(contents.size() + 1);
      std::string read(random.Below(contents.size() - from + 1), '\0');
      ASSERT_OK(file->Read(from, read.size(), read.data()));
      ASSERT_TRUE(read == contents.substr(from, read.size()));
    }
  });
}

TEST_F(AppendedFileTest, PiecesOfOneSizeAreOpenedWithFewReads) {
  std::vector<std::string> parts(500, Pattern(4096));
  parts.push_back("end");
  Put("/f", parts);
  const uint64_t bytes = base_.Contents("/f").size();
  EXPECT_EQ(bytes, kFileHeaderSize + 500 * StoredFrameSize(4096) + StoredFrameSize(3));
  // Without the middle of the file, it can still be opened.
  std::string damaged = base_.Contents("/f");
  std::fill(damaged.begin() + kFileHeaderSize, damaged.end() - 6000, 'x');
  base_.SetContents("/f", damaged);
  EXPECT_EQ(*fs_.FileSize("/f"), 500u * 4096 + 3);
}

TEST_F(AppendedFileTest, AFileWithoutAnAppendIsEmpty) {
  Put("/f", {});
  EXPECT_EQ(base_.Contents("/f"), "");
  EXPECT_EQ(Get("/f"), "");
  EXPECT_EQ(*fs_.FileSize("/f"), 0u);
}

TEST_F(AppendedFileTest, EqualFilesHaveNoEqualBytes) {
  Put("/a", {std::string(10'000, 'x')});
  Put("/b", {std::string(10'000, 'x')});
  const std::string a = base_.Contents("/a");
  const std::string b = base_.Contents("/b");
  // Nor equal chunks of one file.
  EXPECT_NE(a.substr(kFileHeaderSize, 64), b.substr(kFileHeaderSize, 64));
  EXPECT_NE(a.substr(kFileHeaderSize, 64), a.substr(kFileHeaderSize + kStoredChunkSize, 64));
  EXPECT_EQ(a.find("xxxx"), std::string::npos);
}

// --- Crashes ---

TEST_F(AppendedFileTest, WhatWasSyncedIsThereAfterAnyCutLaterAppend) {
  auto file = *fs_.NewWritableFile("/f");
  ASSERT_OK(file->Append("synced"));
  ASSERT_OK(file->Sync());
  const size_t synced = base_.Contents("/f").size();
  ASSERT_OK(file->Append(Pattern(5000)));
  const std::string all = base_.Contents("/f");
  for (size_t size = synced; size < all.size(); ++size) {
    base_.SetContents("/f", all.substr(0, size));
    ASSERT_EQ(Get("/f"), "synced") << size;
    // A disk that has the length, but not the bytes.
    const std::string torn = all.substr(0, size) + std::string(all.size() - size, '\0');
    if (torn == all) continue;  // the last bytes are 0
    base_.SetContents("/f", torn);
    ASSERT_EQ(Get("/f"), "synced") << size;
  }
  base_.SetContents("/f", all);
  EXPECT_EQ(Get("/f"), "synced" + Pattern(5000));
}

TEST_F(AppendedFileTest, ALongTailOfACrashIsSearched) {
  auto file = *fs_.NewWritableFile("/f");
  ASSERT_OK(file->Append("synced"));
  const size_t synced = base_.Contents("/f").size();
  ASSERT_OK(file->Append(Pattern(300'000)));
  const std::string all = base_.Contents("/f");
  // Each place of the frame end in the windows of the search.
  for (size_t tail = (64 << 10) - 60; tail < (64 << 10) + 60; ++tail) {
    base_.SetContents("/f", all.substr(0, synced + tail));
    ASSERT_EQ(Get("/f"), "synced") << tail;
  }
  base_.SetContents("/f", all.substr(0, all.size() - 1));
  EXPECT_EQ(Get("/f"), "synced");
}

TEST_F(AppendedFileTest, NothingIsWrittenAfterAFailedAppend) {
  for (const auto done : {FaultyFileSystem::Done::kNothing, FaultyFileSystem::Done::kHalf,
                          FaultyFileSystem::Done::kAll}) {
    FaultyFileSystem below(&base_);
    EncryptedFileSystem files(&below, &keys_);
    auto file = *files.NewWritableFile("/f");
    ASSERT_OK(file->Append("first"));
    ASSERT_OK(file->Sync());
    below.CountCalls({.kinds = {FileCall::kAppend, FileCall::kSync}});
    below.FailCall(1, absl::UnavailableError("I/O error"), FaultyFileSystem::Repeat::kOnce, done);
    EXPECT_STATUS(kUnavailable, "I/O error", file->Append("second"));
    const std::string bytes = base_.Contents("/f");
    EXPECT_STATUS(kUnavailable, "I/O error", file->Append("third"));
    EXPECT_STATUS(kUnavailable, "I/O error", file->Sync());
    EXPECT_EQ(below.calls(), 1u);  // a nonce is not used again
    EXPECT_EQ(base_.Contents("/f"), bytes);
    EXPECT_EQ(Get("/f"), done == FaultyFileSystem::Done::kAll ? "firstsecond" : "first");
  }
}

// --- Damage ---

TEST_F(AppendedFileTest, AFlippedBitOfAnyByteOfAFileIsAnError) {
  Put("/f", {Pattern(5000)});
  const std::string sound = base_.Contents("/f");
  for (size_t at = 0; at < sound.size(); ++at) {
    std::string damaged = sound;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << at % 8));
    base_.SetContents("/f", damaged);
    std::string contents;
    const absl::Status status = ReadAll("/f", &contents);
    // The magic, the version and the id of the key are read before they can be checked.
    const bool is_refused = at < 12 || (at >= 24 && at < 30);
    ASSERT_TRUE(
        IsStatus(is_refused ? absl::StatusCode::kFailedPrecondition : absl::StatusCode::kDataLoss,
                 status, "/f"))
        << at;
    if (!is_refused) {
      ASSERT_TRUE(IsStatus(absl::StatusCode::kDataLoss, status, "offset ")) << at;
    }
  }
}

TEST_F(AppendedFileTest, AFlippedBitOfAFileOfSeveralAppendsIsAnErrorOrAnEarlierEnd) {
  const std::vector<std::string> parts = {Pattern(10), Pattern(10, 2), Pattern(100, 3)};
  Put("/f", parts);
  const std::string sound = base_.Contents("/f");
  const size_t last_end = sound.size() - kFrameEndSize;
  for (size_t at = 30; at < sound.size(); ++at) {
    std::string damaged = sound;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x40);
    base_.SetContents("/f", damaged);
    std::string contents;
    const absl::Status status = ReadAll("/f", &contents);
    if (at >= last_end) {
      // As after a crash in the last Append.
      ASSERT_OK(status) << at;
      ASSERT_EQ(contents, parts[0] + parts[1]) << at;
    } else if (at >= kFileHeaderSize + 26 && at < kFileHeaderSize + StoredFrameSize(10)) {
      // The first of two frames of one size: its end is skipped.
      ASSERT_OK(status) << at;
      ASSERT_EQ(contents, Joined(parts)) << at;
    } else {
      ASSERT_TRUE(IsStatus(absl::StatusCode::kDataLoss, status, "/f", "offset ")) << at;
    }
  }
}

TEST_F(AppendedFileTest, AFileOfOneAppendThatIsCutOffAnywhereIsDataLoss) {
  Put("/f", {Pattern(9000)});
  const std::string sound = base_.Contents("/f");
  for (size_t size = 1; size < sound.size(); ++size) {
    base_.SetContents("/f", sound.substr(0, size));
    std::string contents;
    ASSERT_TRUE(IsStatus(absl::StatusCode::kDataLoss, ReadAll("/f", &contents), "/f", "offset "))
        << size;
  }
  base_.SetContents("/f", "");
  EXPECT_EQ(Get("/f"), "");  // as after a crash before the first Append
}

TEST_F(AppendedFileTest, AFileThatIsCutOffIsNeverMoreThanWholeAppends) {
  const std::vector<std::string> parts = {Pattern(100), Pattern(100, 2), Pattern(5000, 3)};
  Put("/f", parts);
  const std::string sound = base_.Contents("/f");
  for (size_t size = 1; size < sound.size(); ++size) {
    base_.SetContents("/f", sound.substr(0, size));
    std::string contents;
    const absl::Status status = ReadAll("/f", &contents);
    if (status.ok()) {
      ASSERT_TRUE(contents == parts[0] || contents == parts[0] + parts[1]) << size;
    } else {
      ASSERT_LT(size, kFileHeaderSize + StoredFrameSize(100));
      ASSERT_TRUE(IsStatus(absl::StatusCode::kDataLoss, status, "/f")) << size;
    }
  }
}

TEST_F(AppendedFileTest, ChunksThatChangePlacesAreDataLoss) {
  Put("/f", {Pattern(5 * 4096)});
  const std::string sound = base_.Contents("/f");
  std::string swapped = sound;
  std::swap_ranges(swapped.begin() + kFileHeaderSize,
                   swapped.begin() + kFileHeaderSize + kStoredChunkSize,
                   swapped.begin() + kFileHeaderSize + 2 * kStoredChunkSize);
  base_.SetContents("/f", swapped);
  ASSERT_OK_AND_ASSIGN(const auto file,
                       fs_.NewRandomAccessFile("/f", FileSystem::ReadMode::kPositional));
  char byte;
  EXPECT_STATUS(kDataLoss, "/f at offset 256:", file->Read(0, 1, &byte));
  EXPECT_OK(file->Read(4096, 1, &byte));  // the others are as they were
  EXPECT_STATUS(kDataLoss, "/f at offset 8480:", file->Read(8192, 1, &byte));
}

TEST_F(AppendedFileTest, AFrameThatIsTakenOutOrRepeatedIsDataLoss) {
  const std::string part = Pattern(200);
  Put("/f", {part, Pattern(300, 2), part});
  const std::string sound = base_.Contents("/f");
  const size_t first = StoredFrameSize(200);
  const size_t second = StoredFrameSize(300);
  std::string contents;
  std::string without = sound;
  without.erase(kFileHeaderSize + first, second);
  base_.SetContents("/f", without);
  // The frame end that is not at its place does not count, and the file ends before it.
  EXPECT_EQ(Get("/f"), part);
  std::string repeated = sound;
  repeated.insert(kFileHeaderSize, sound.substr(kFileHeaderSize, first));
  base_.SetContents("/f", repeated);
  EXPECT_EQ(Get("/f"), part);
  std::string without_first = sound;
  without_first.erase(kFileHeaderSize, first);
  base_.SetContents("/f", without_first);
  EXPECT_STATUS(kDataLoss, "/f at offset", ReadAll("/f", &contents));
}

TEST_F(AppendedFileTest, TheBodyOfAnotherFileIsDataLoss) {
  Put("/a", {Pattern(5000)});
  Put("/b", {Pattern(5000)});
  const std::string a = base_.Contents("/a");
  const std::string b = base_.Contents("/b");
  base_.SetContents("/a", a.substr(0, kFileHeaderSize) + b.substr(kFileHeaderSize));
  std::string contents;
  EXPECT_STATUS(kDataLoss, "/a at offset", ReadAll("/a", &contents));
}

TEST_F(AppendedFileTest, RandomDamageIsAnErrorOrAnEarlierEnd) {
  ForEachSeed(300, [&](uint64_t seed) {
    Random random(seed);
    std::vector<std::string> parts;
    for (uint64_t n = 1 + random.Below(5); n > 0; --n) {
      parts.push_back(random.Bytes(1 + random.Below(random.OneIn(3) ? 9000 : 20)));
    }
    Put("/f", parts);
    std::string bytes = base_.Contents("/f");
    for (uint64_t n = 1 + random.Below(3); n > 0 && !bytes.empty(); --n) {
      const size_t at = random.Below(bytes.size());
      switch (random.Below(4)) {
        case 0:
          bytes[at] = static_cast<char>(random.Next());
          break;
        case 1:
          bytes.erase(at, random.Below(100));
          break;
        case 2:
          bytes.insert(at, random.Bytes(random.Below(100)));
          break;
        default:  // a part of the file at another place of it
          bytes.replace(at, 48,
                        base_.Contents("/f").substr(random.Below(bytes.size() + 1) / 2, 48));
      }
    }
    base_.SetContents("/f", bytes);
    std::string contents;
    if (!ReadAll("/f", &contents).ok()) return;
    std::string prefix;
    bool is_whole = contents.empty();
    for (const std::string& part : parts) is_whole |= contents == (prefix += part);
    ASSERT_TRUE(is_whole) << contents.size() << " bytes that were never those of the file";
  });
}

// What a program that is not sound, but has the key, may have written.
TEST_F(AppendedFileTest, FrameEndsThatDoNotFitTheFileAreDataLoss) {
  const auto with_end = [&](const FrameEnd& end, uint64_t frames) {
    Put("/f", std::vector<std::string>(frames, "0123456789"));
    std::string bytes = base_.Contents("/f");
    const auto header = ReadFileHeader("/f", bytes, &keys_);
    EXPECT_OK(header);
    const uint64_t at = bytes.size() - kFrameEndSize;
    StoreFixed64(bytes.data() + at + 8, end.size);
    StoreFixed64(bytes.data() + at + 16, end.frame);
    StoreFixed64(bytes.data() + at + 24, end.repeated);
    std::string clear = bytes.substr(at, kFrameEndFields);
    AppendFixed64(&clear, at);
    Gcm gcm;
    EXPECT_OK(gcm.SetKey(header->key.gcm(), Direction::kEncrypt));
    EXPECT_OK(gcm.Seal(NonceOfFrameEnd(end.size), clear, {}, bytes.data() + at + kFrameEndFields));
    base_.SetContents("/f", bytes);
    return fs_.FileSize("/f").status();
  };
  EXPECT_OK(with_end({.size = 20, .frame = 10, .repeated = 2}, 2));
  EXPECT_OK(with_end({.size = 20, .frame = 10, .repeated = 1}, 2));
  const uint64_t large = uint64_t{1} << 63;
  for (const FrameEnd& end : std::vector<FrameEnd>{{.size = 20, .frame = 0, .repeated = 2},
                                                   {.size = 20, .frame = 10, .repeated = 0},
                                                   {.size = 20, .frame = 10, .repeated = 3},
                                                   {.size = 10, .frame = 10, .repeated = 1},
                                                   {.size = 30, .frame = 10, .repeated = 1},
                                                   {.size = 30, .frame = 10, .repeated = 2},
                                                   {.size = 20, .frame = 20, .repeated = 1},
                                                   {.size = 20, .frame = 5, .repeated = 4},
                                                   {.size = 20, .frame = 1, .repeated = 20},
                                                   {.size = large, .frame = large, .repeated = 1},
                                                   {.size = large, .frame = 10, .repeated = large},
                                                   {.size = 20, .frame = large, .repeated = 2}}) {
    EXPECT_STATUS(kDataLoss, "/f at offset", with_end(end, 2))
        << end.size << " " << end.frame << " " << end.repeated;
  }
}

TEST_F(AppendedFileTest, AReadOutsideIsDataLossThatNamesTheOffset) {
  Put("/f", {Pattern(5000)});
  ASSERT_OK_AND_ASSIGN(const auto file,
                       fs_.NewRandomAccessFile("/f", FileSystem::ReadMode::kPositional));
  char bytes[2];
  EXPECT_STATUS(kDataLoss, "offset 4999", file->Read(4999, 2, bytes));
  EXPECT_STATUS(kDataLoss, "/f", file->Read(UINT64_MAX, 2, bytes));
}

// What is asked for in advance is what the read then needs, and hardly more.
TEST_F(AppendedFileTest, RequestsReachTheFileBelow) {
  FileCallRecorder recorder(&base_);
  EncryptedFileSystem encrypted(&recorder, &keys_);
  constexpr size_t kSize = 300'000;
  {
    auto file = encrypted.NewWritableFile("f.sst");
    ASSERT_OK(file);
    for (size_t begin = 0; begin < kSize; begin += 70'001) {
      ASSERT_OK((*file)->Append(Pattern(std::min<size_t>(70'001, kSize - begin))));
    }
    ASSERT_OK((*file)->Close());
  }
  const auto file = encrypted.NewRandomAccessFile("f.sst", FileSystem::ReadMode::kPositional);
  ASSERT_OK(file);
  Random random(1);
  for (int i = 0; i < 500; ++i) {
    const auto n = static_cast<size_t>(random.Between(1, 9'000));
    const uint64_t offset = random.OneIn(5) ? kSize - n : random.Below(kSize - n + 1);
    (void)recorder.Take();
    (*file)->WillNeed(offset, n);
    std::string bytes(n, '\0');
    ASSERT_OK((*file)->Read(offset, n, bytes.data()));
    const auto calls = recorder.Take();
    ASSERT_GE(calls.size(), 2u);
    ASSERT_EQ(calls[0].kind, FileCallRecorder::Kind::kWillNeed);
    uint64_t read = 0;
    for (size_t k = 1; k < calls.size(); ++k) {
      ASSERT_EQ(calls[k].kind, FileCallRecorder::Kind::kRead);
      EXPECT_GE(calls[k].offset, calls[0].offset);
      EXPECT_LE(calls[k].offset + calls[k].size, calls[0].offset + calls[0].size);
      read += calls[k].size;
    }
    EXPECT_LE(calls[0].size, read + 5'000) << "no more than a chunk";
  }
  (*file)->WillNeed(kSize, 1);
  (*file)->WillNeed(0, 0);
  EXPECT_TRUE(recorder.Take().empty());
}

}  // namespace
}  // namespace bigtable
