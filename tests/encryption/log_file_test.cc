// Encrypted log files: written in place in any order, again and under another name, cut off by a
// power loss, over files that are mapped and over files that are not.
#include <algorithm>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "bigtable/testing/faulty_file_system.h"

#include "encryption/encrypted_fixture.h"
#include "encryption/file_header.h"
#include "encryption/log_format.h"
#include "support/random.h"
#include "support/seeds.h"

namespace bigtable {
namespace {

// The parameter: whether the files below are mapped.
class EncryptedLogTest : public EncryptedFixture, public testing::WithParamInterface<bool> {
 protected:
  EncryptedLogTest() : below_(&base_, {.hide_log_mappings = !GetParam()}), fs_(&below_, &keys_) {}

  std::string GetLog(std::string_view path = "/log") {
    const auto contents = fs_.ReadFile(path);
    return contents.ok() ? *contents : std::string(contents.status().ToString());
  }

  FaultyFileSystem below_;
  EncryptedFileSystem fs_;
};

INSTANTIATE_TEST_SUITE_P(Below, EncryptedLogTest, testing::Bool(), [](const auto& parameter) {
  return parameter.param ? "Mapped" : "Written";
});

TEST_P(EncryptedLogTest, AnyWritesGiveWhatAPlainFileGives) {
  ForEachSeed(30, [&](uint64_t seed) {
    Random random(seed);
    const uint64_t size =
        random.Pick(std::vector<uint64_t>{1, 15, 16, 17, 512, 1000, 5000, 70'000});
    ASSERT_OK_AND_ASSIGN(const auto log, fs_.NewLogFile("/log", size));
    std::string expected(size, '\0');
    for (int i = 0; i < 100; ++i) {
      const uint64_t at = random.Below(size + 1);
      std::string bytes(
          random.Below(random.OneIn(4) ? size - at + 1 : std::min(size - at, uint64_t{40}) + 1),
          '\0');
      for (char& byte : bytes) byte = static_cast<char>(random.Below(3));
      ASSERT_OK(log->Write(at, bytes));
      expected.replace(at, bytes.size(), bytes);
      if (random.OneIn(10)) {
        ASSERT_TRUE(GetLog() == expected);
      }
    }
    ASSERT_TRUE(GetLog() == expected);
    ASSERT_OK_AND_ASSIGN(const auto file,
                         fs_.NewRandomAccessFile("/log", FileSystem::ReadMode::kMapped));
    EXPECT_EQ(file->mapping(), nullptr);
    ASSERT_EQ(file->size(), size);
    for (int i = 0; i < 50; ++i) {
      const uint64_t from = random.Below(size + 1);
      std::string read(random.Below(size - from + 1), '\0');
      ASSERT_OK(file->Read(from, read.size(), read.data()));
      ASSERT_TRUE(read == expected.substr(from, read.size()));
    }
  });
}

TEST_P(EncryptedLogTest, ARecycledFileIsWrittenUnderItsNewName) {
  ASSERT_OK_AND_ASSIGN(const auto log, fs_.NewLogFile("/1.log", 8192));
  ASSERT_OK(log->Write(0, Pattern(8000)));
  ASSERT_OK(fs_.RenameFile("/1.log", "/2.log"));
  ASSERT_OK(log->Write(0, Pattern(100, 2)));
  ASSERT_OK(log->Write(100, Pattern(37, 3)));
  std::string expected = Pattern(100, 2) + Pattern(37, 3) + Pattern(8000).substr(137);
  expected.resize(8192);
  EXPECT_TRUE(GetLog("/2.log") == expected);
}

TEST_P(EncryptedLogTest, TheWritesOfASwitchKeepEachOther) {
  ASSERT_OK_AND_ASSIGN(const auto log, fs_.NewLogFile("/log", 4096));
  ASSERT_OK(log->Write(0, Pattern(4096, 9)));  // of an earlier use
  ASSERT_OK(log->Write(40, Pattern(96)));
  ASSERT_OK(log->Write(0, Pattern(40, 2)));
  EXPECT_TRUE(GetLog() == Pattern(40, 2) + Pattern(96) + Pattern(4096, 9).substr(136));
}

TEST_P(EncryptedLogTest, NothingOfTheContentsIsInTheFileBelow) {
  ASSERT_OK_AND_ASSIGN(const auto log, fs_.NewLogFile("/log", 8192));
  ASSERT_OK(log->Write(8, std::string(4000, 'x')));
  EXPECT_EQ(base_.Contents("/log").find("xxxx"), std::string::npos);
  // Each block is encrypted, and equal ones of one unit differ.
  const std::string below = base_.Contents("/log").substr(kLogContentsAt);
  EXPECT_NE(below.substr(16, 16), below.substr(32, 16));
  EXPECT_NE(below.substr(16, 16), below.substr(16 + Xts::kUnit, 16));
  // What was never written is zeros.
  EXPECT_EQ(below.substr(4096 - 80), std::string(below.size() - 4096 + 80, '\0'));
}

// --- Crashes ---

TEST_P(EncryptedLogTest, APowerLossDamagesNothingThatWasSynced) {
  ForEachSeed(40, [&](uint64_t seed) {
    Random random(seed);
    ASSERT_OK_AND_ASSIGN(const auto log, fs_.NewLogFile("/log", 4096));
    ASSERT_OK(fs_.SyncDirectory("/"));
    std::string synced;
    for (int i = 0; i < 5; ++i) {
      const std::string record = random.Bytes(8 * (1 + random.Below(40)));
      ASSERT_OK(log->Write(synced.size(), record));
      ASSERT_OK(log->Sync());
      synced += record;
    }
    // Begins in a block that has synced bytes.
    ASSERT_OK(log->Write(synced.size(), random.Bytes(1000)));
    for (uint64_t crash = 0; crash < 20; ++crash) {
      const auto after = base_.CrashClone(seed * 100 + crash);
      EncryptedFileSystem files(after.get(), &keys_);
      ASSERT_OK_AND_ASSIGN(const std::string contents, files.ReadFile("/log"));
      ASSERT_TRUE(contents.starts_with(synced));
    }
  });
}

TEST_P(EncryptedLogTest, AFileThatWasNotSyncedReadsAsZerosAfterAPowerLoss) {
  // The length and the name are on the disk, and no byte.
  base_.SetContents("/log", std::string(kLogContentsAt + 8192, '\0'));
  ASSERT_OK_AND_ASSIGN(const auto file,
                       fs_.NewRandomAccessFile("/log", FileSystem::ReadMode::kMapped));
  ASSERT_EQ(file->size(), 8192u);
  std::string contents(8192, 'x');
  ASSERT_OK(file->Read(0, contents.size(), contents.data()));
  EXPECT_EQ(contents, std::string(8192, '\0'));
  EXPECT_STATUS(kDataLoss, "/log", file->Read(8192, 1, contents.data()));
}

TEST_P(EncryptedLogTest, WhatWasNeverSyncedIsZerosOrWhatWasWrittenAfterAPowerLoss) {
  ASSERT_OK_AND_ASSIGN(const auto log, fs_.NewLogFile("/log", 8192));
  const std::string written = Pattern(4096);
  ASSERT_OK(log->Write(0, written));
  ASSERT_OK(fs_.SyncDirectory("/"));
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const auto after = base_.CrashClone(seed);
    EncryptedFileSystem files(after.get(), &keys_);
    ASSERT_OK_AND_ASSIGN(const std::string contents, files.ReadFile("/log"));
    for (size_t at = 0; at < std::min(contents.size(), written.size()); at += Xts::kUnit) {
      const std::string unit = contents.substr(at, Xts::kUnit);
      ASSERT_TRUE(unit == written.substr(at, Xts::kUnit) || unit == std::string(Xts::kUnit, '\0'))
          << seed << " " << at;
    }
  }
}

TEST_P(EncryptedLogTest, OnlyTheDirtyBlocksOfAWriteChange) {
  ASSERT_OK_AND_ASSIGN(const auto log, fs_.NewLogFile("/log", 8192));
  ASSERT_OK(log->Write(0, Pattern(8192)));
  const std::string before = base_.Contents("/log");
  ASSERT_OK(log->Write(1000, Pattern(24, 2)));  // the blocks from 992 to 1024
  const std::string after = base_.Contents("/log");
  for (size_t at = 0; at < before.size(); ++at) {
    if (at >= kLogContentsAt + 992 && at < kLogContentsAt + 1024) continue;
    ASSERT_EQ(before[at], after[at]) << at;
  }
  EXPECT_NE(before.substr(kLogContentsAt + 992, 16), after.substr(kLogContentsAt + 992, 16));
}

// --- Damage ---

TEST_P(EncryptedLogTest, AFlippedBitOfTheHeaderIsAnErrorAndOneOfABlockIsAnotherBlock) {
  ASSERT_OK_AND_ASSIGN(auto log, fs_.NewLogFile("/log", 64));
  const std::string contents = Pattern(64);
  ASSERT_OK(log->Write(0, contents));
  log.reset();
  const std::string sound = base_.Contents("/log");
  for (size_t at = 0; at < sound.size(); ++at) {
    std::string damaged = sound;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << at % 8));
    base_.SetContents("/log", damaged);
    std::string read;
    const auto file = fs_.NewRandomAccessFile("/log", FileSystem::ReadMode::kMapped);
    if (at < kFileHeaderSize) {
      ASSERT_FALSE(file.ok()) << at;
      ASSERT_TRUE(absl::IsDataLoss(file.status()) || absl::IsFailedPrecondition(file.status()))
          << file.status();
      continue;
    }
    ASSERT_OK(file) << at;
    read.resize((*file)->size());
    ASSERT_OK((*file)->Read(0, read.size(), read.data()));
    if (at < kLogContentsAt) {
      ASSERT_EQ(read, contents) << at;
    } else {
      const size_t block = (at - kLogContentsAt) / 16 * 16;
      for (size_t i = 0; i < read.size(); i += 16) {
        ASSERT_EQ(read.substr(i, 16) == contents.substr(i, 16), i != block) << at;
      }
    }
  }
}

TEST_P(EncryptedLogTest, AFileThatIsCutOffIsDataLoss) {
  ASSERT_OK_AND_ASSIGN(auto log, fs_.NewLogFile("/log", 100));
  ASSERT_OK(log->Write(0, Pattern(100)));
  log.reset();
  const std::string sound = base_.Contents("/log");
  EXPECT_EQ(sound.size(), kLogContentsAt + 112);
  for (size_t size = 1; size < kLogContentsAt + 100; ++size) {
    base_.SetContents("/log", sound.substr(0, size));
    ASSERT_TRUE(IsStatus(absl::StatusCode::kDataLoss, fs_.FileSize("/log").status(), "/log",
                         "offset " + std::to_string(size)))
        << size;
  }
}

// --- The base ---

TEST_P(EncryptedLogTest, ErrorsOfTheBaseAreReturned) {
  const absl::Status error = absl::UnavailableError("I/O error");
  // Creating, writing and syncing a file; each call fails once.
  const auto work = [&]() -> absl::Status {
    auto log = fs_.NewLogFile("/log", 4096);
    if (!log.ok()) return log.status();
    absl::Status status = (*log)->Write(8, Pattern(100));
    if (status.ok()) status = (*log)->Sync();
    return status;
  };
  below_.CountCalls();
  ASSERT_OK(work());
  const uint64_t calls = below_.calls();
  ASSERT_GE(calls, 2u);
  for (uint64_t n = 1; n <= calls; ++n) {
    for (const auto done : {FaultyFileSystem::Done::kNothing, FaultyFileSystem::Done::kHalf,
                            FaultyFileSystem::Done::kAll}) {
      below_.CountCalls();
      below_.FailCall(n, error, FaultyFileSystem::Repeat::kOnce, done);
      EXPECT_STATUS(kUnavailable, "I/O error", work());
    }
  }
  below_.ClearFaults();
  EXPECT_OK(work());
}

}  // namespace
}  // namespace bigtable
