// Master keys: which file is under which, what happens without them, and their rotation.
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "bigtable/testing/faulty_file_system.h"

#include "encryption/encrypted_fixture.h"
#include "encryption/file_header.h"
#include "lockservice/small_files.h"

namespace bigtable {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using EncryptionKeysTest = EncryptedFixture;

TEST_F(EncryptionKeysTest, AKeyHasItsSizeAndAnId) {
  const std::string bytes(32, 'b');
  ASSERT_OK_AND_ASSIGN(const MasterKey key, MasterKey::Create("id", bytes));
  EXPECT_EQ(key.id(), "id");
  EXPECT_EQ(key.bytes(), bytes);
  EXPECT_OK(MasterKey::Create(std::string(127, 'i'), bytes));
  EXPECT_STATUS(kInvalidArgument, "128", MasterKey::Create(std::string(128, 'i'), bytes));
  EXPECT_STATUS(kInvalidArgument, "1 to 127", MasterKey::Create("", bytes));
  EXPECT_STATUS(kInvalidArgument, "31 bytes", MasterKey::Create("id", bytes.substr(1)));
  EXPECT_STATUS(kInvalidArgument, "33 bytes", MasterKey::Create("id", bytes + "b"));
  EXPECT_NE(MasterKey::Generate("id")->bytes(), MasterKey::Generate("id")->bytes());
}

TEST_F(EncryptionKeysTest, TheBytesOfAKeyAreOverwrittenWhenItEnds) {
  alignas(MasterKey) char memory[sizeof(MasterKey)];
  auto* const key = new (memory) MasterKey(KeyOf("id", 'Z'));
  ASSERT_NE(std::string_view(memory, sizeof memory).find("ZZZZ"), std::string_view::npos);
  key->~MasterKey();
  EXPECT_EQ(std::string_view(memory, sizeof memory).find("ZZZZ"), std::string_view::npos);
  alignas(DataKey) char of_file[sizeof(DataKey)];
  auto* const data = new (of_file) DataKey();
  std::fill_n(data->data(), DataKey::kSize, 'Z');
  data->~DataKey();
  EXPECT_EQ(std::string_view(of_file, sizeof of_file).find("ZZ"), std::string_view::npos);
}

TEST_F(EncryptionKeysTest, TheIdIsInTheFileAndTheKeyIsNot) {
  KeyRing keys(KeyOf(std::string(127, 'i'), 'Z'));
  EncryptedFileSystem files(&base_, &keys);
  ASSERT_OK((*files.NewWritableFile("/f"))->Append("x"));
  EXPECT_NE(base_.Contents("/f").find(std::string(127, 'i')), std::string::npos);
  EXPECT_EQ(base_.Contents("/f").find("ZZ"), std::string::npos);
  EXPECT_EQ(*files.ReadFile("/f"), "x");
}

TEST_F(EncryptionKeysTest, AnUnknownKeyIsFailedPreconditionWithItsId) {
  Put("/f", {"contents"});
  ASSERT_OK(fs_.NewLogFile("/log", 4096));
  KeyRing others(KeyOf("other"));
  EncryptedFileSystem files(&base_, &others);
  for (const std::string path : {"/f", "/log"}) {
    const auto refused = [&](const absl::Status& status) {
      return IsStatus(absl::StatusCode::kFailedPrecondition, status, path, "\"first\"");
    };
    EXPECT_TRUE(refused(files.ReadFile(path).status()));
    EXPECT_TRUE(refused(files.FileSize(path).status()));
    EXPECT_TRUE(refused(files.NewRandomAccessFile(path, FileSystem::ReadMode::kMapped).status()));
  }
}

// A schema that was left out would be a table that is gone.
TEST_F(EncryptionKeysTest, TheLockServiceListsNoDirectoryWithoutAFileThatIsRefused) {
  const SmallFiles files(&fs_, "/lockservice");
  ASSERT_OK(fs_.CreateDirectory("/lockservice"));
  ASSERT_OK(fs_.CreateDirectory("/lockservice/schema"));
  ASSERT_OK(fs_.CreateDirectory("/lockservice/schema/below"));
  Put("/lockservice/schema/old", {"contents"});
  EXPECT_THAT(*files.List("schema"), ElementsAre("old"));
  keys_.Rotate(KeyOf("second", 's'));
  Put("/lockservice/schema/new", {"contents"});
  EXPECT_THAT(*files.List("schema"), ElementsAre("new", "old"));
  ASSERT_OK(keys_.Remove("first"));
  EXPECT_TRUE(IsStatus(absl::StatusCode::kFailedPrecondition, files.List("schema").status(),
                       "/lockservice/schema/old", "\"first\""));
}

TEST_F(EncryptionKeysTest, OtherBytesUnderTheIdAreDataLoss) {
  Put("/f", {"contents"});
  KeyRing wrong(KeyOf("first", 'w'));
  EncryptedFileSystem files(&base_, &wrong);
  EXPECT_TRUE(IsStatus(absl::StatusCode::kDataLoss, files.ReadFile("/f").status(), "/f",
                       "\"first\" is not the one"));
}

TEST_F(EncryptionKeysTest, ErrorsOfTheProviderKeepTheirCode) {
  class Unreachable : public KeyProvider {
   public:
    absl::StatusOr<MasterKey> Current() override { return absl::UnavailableError("no network"); }
    absl::StatusOr<MasterKey> Find(std::string_view) override {
      return absl::UnavailableError("no network");
    }
  } unreachable;
  Put("/f", {"contents"});
  EncryptedFileSystem files(&base_, &unreachable);
  EXPECT_TRUE(IsStatus(absl::StatusCode::kUnavailable, files.ReadFile("/f").status(), "/f",
                       "\"first\"", "no network"));
  EXPECT_STATUS(kUnavailable, "/g", files.NewWritableFile("/g"));
  EXPECT_STATUS(kUnavailable, "/log", files.NewLogFile("/log", 10));
}

TEST_F(EncryptionKeysTest, AFileThatIsNotEncryptedIsRefused) {
  base_.SetContents("/f", "plain");
  base_.SetContents("/long", std::string(10'000, 'p'));
  base_.SetContents("/zeros", std::string(300, '\0'));
  for (const char* path : {"/f", "/long", "/zeros"}) {
    EXPECT_TRUE(IsStatus(absl::StatusCode::kFailedPrecondition, fs_.ReadFile(path).status(), path,
                         "not an encrypted file"));
  }
}

TEST_F(EncryptionKeysTest, AnUnknownVersionIsRefused) {
  Put("/f", {"contents"});
  std::string bytes = base_.Contents("/f");
  bytes[8] = 2;
  base_.SetContents("/f", bytes);
  EXPECT_TRUE(IsStatus(absl::StatusCode::kFailedPrecondition, fs_.ReadFile("/f").status(), "/f",
                       "version 2"));
}

TEST_F(EncryptionKeysTest, ARotationIsForNewFiles) {
  Put("/old", {"contents"});
  auto unfinished = *fs_.NewWritableFile("/unfinished");
  keys_.Rotate(KeyOf("second", 's'));
  ASSERT_OK(unfinished->Append("x"));
  Put("/new", {"contents"});
  EXPECT_EQ(Get("/old"), "contents");
  EXPECT_EQ(Get("/new"), "contents");
  EXPECT_EQ(Get("/unfinished"), "x");
  EXPECT_THAT(*fs_.KeysInUse("/"), ElementsAre(Pair("first", 2), Pair("second", 1)));
  EXPECT_STATUS(kFailedPrecondition, "second", keys_.Remove("second"));
  ASSERT_OK_AND_ASSIGN(const auto open,
                       fs_.NewRandomAccessFile("/old", FileSystem::ReadMode::kMapped));
  EXPECT_OK(keys_.Remove("first"));
  EXPECT_OK(keys_.Remove("never"));
  EXPECT_STATUS(kFailedPrecondition, "\"first\"", fs_.ReadFile("/old"));
  char byte;
  EXPECT_OK(open->Read(0, 1, &byte));
  EXPECT_EQ(Get("/new"), "contents");
  keys_.Add(KeyOf("first"));
  EXPECT_EQ(Get("/old"), "contents");
}

TEST_F(EncryptionKeysTest, KeysInUseNeedsNoKeyAndCountsAllFiles) {
  ASSERT_OK(fs_.CreateDirectory("/db"));
  ASSERT_OK(fs_.CreateDirectory("/db/log"));
  Put("/db/f", {"contents"});
  ASSERT_OK(fs_.NewLogFile("/db/log/1", 4096));
  base_.SetContents("/db/LOCK", "pid 1");
  keys_.Rotate(KeyOf("second", 's'));
  Put("/db/log/g", {"contents"});
  KeyRing none(KeyOf("none"));
  EncryptedFileSystem files(&base_, &none);
  EXPECT_THAT(*files.KeysInUse("/db"),
              ElementsAre(Pair("", 1), Pair("first", 2), Pair("second", 1)));
  EXPECT_STATUS(kNotFound, "/missing", files.KeysInUse("/missing"));
}

TEST_F(EncryptionKeysTest, FilesAreWrittenAgainUnderTheCurrentKey) {
  ASSERT_OK(fs_.CreateDirectory("/db"));
  ASSERT_OK(fs_.CreateDirectory("/db/log"));
  Put("/db/f", {Pattern(600'000)});
  base_.SetContents("/db/LOCK", "pid 1");
  {
    ASSERT_OK_AND_ASSIGN(const auto log, fs_.NewLogFile("/db/log/1", 8192));
    ASSERT_OK(log->Write(100, Pattern(5000)));
  }
  const std::string log = Get("/db/log/1");
  keys_.Rotate(KeyOf("second", 's'));
  Put("/db/g", {"contents"});
  EXPECT_EQ(*fs_.RewriteUnderCurrentKey("/db"), 2u);
  EXPECT_THAT(*fs_.KeysInUse("/db"), ElementsAre(Pair("", 1), Pair("second", 3)));
  ASSERT_OK(keys_.Remove("first"));
  EXPECT_TRUE(Get("/db/f") == Pattern(600'000));
  EXPECT_TRUE(Get("/db/log/1") == log);
  EXPECT_EQ(base_.Contents("/db/LOCK"), "pid 1");
  EXPECT_EQ(*fs_.RewriteUnderCurrentKey("/db"), 0u);
  EXPECT_EQ(base_.AllFiles().size(), 4u);
}

TEST_F(EncryptionKeysTest, AnInterruptedRewriteLeavesEachFileWhole) {
  ASSERT_OK(fs_.CreateDirectory("/db"));
  for (const char* path : {"/db/a", "/db/b"}) Put(path, {Pattern(10'000)});
  ASSERT_OK(fs_.SyncDirectory("/db"));
  ASSERT_OK(fs_.SyncDirectory("/"));
  keys_.Rotate(KeyOf("second", 's'));
  for (uint64_t n = 1;; ++n) {
    const auto before = base_.CrashClone(n, Unsynced::kEverything);
    FaultyFileSystem faulty(before.get());
    EncryptedFileSystem files(&faulty, &keys_);
    faulty.CountCalls();
    faulty.FailCall(n, absl::UnavailableError("I/O error"), FaultyFileSystem::Repeat::kOnce,
                    FaultyFileSystem::Done::kHalf);
    const absl::Status status = files.RewriteUnderCurrentKey("/db").status();
    if (faulty.faults() == 0) {
      EXPECT_OK(status);
      break;
    }
    const auto after = before->CrashClone(n);
    EncryptedFileSystem later(after.get(), &keys_);
    for (const char* path : {"/db/a", "/db/b"}) {
      ASSERT_OK_AND_ASSIGN(const std::string contents, later.ReadFile(path));
      ASSERT_TRUE(contents == Pattern(10'000)) << n;
    }
    ASSERT_OK(later.RewriteUnderCurrentKey("/db"));
    EXPECT_EQ((*later.KeysInUse("/db"))["first"], 0u);
  }
}

TEST_F(EncryptionKeysTest, FilesAreOpenedByThreadsWhileKeysRotate) {
  Put("/f", {Pattern(20'000)});
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        EXPECT_TRUE(Get("/f") == Pattern(20'000));
        Put("/t" + std::to_string(t), {"x"});
      }
    });
  }
  for (int i = 0; i < 50; ++i) keys_.Rotate(KeyOf("key" + std::to_string(i), 'r'));
  for (std::thread& thread : threads) thread.join();
}

TEST_F(EncryptionKeysTest, OneOpenFileIsReadByThreads) {
  Put("/f", {Pattern(100'000)});
  Put("/g", {Pattern(100'000, 2)});
  ASSERT_OK_AND_ASSIGN(const auto f, fs_.NewRandomAccessFile("/f", FileSystem::ReadMode::kMapped));
  ASSERT_OK_AND_ASSIGN(const auto g, fs_.NewRandomAccessFile("/g", FileSystem::ReadMode::kMapped));
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::string read(9000, '\0');
      for (size_t i = 0; i < 200; ++i) {
        const size_t at = (i * 7919 + t * 1013) % 90'000;
        EXPECT_OK(f->Read(at, read.size(), read.data()));
        EXPECT_TRUE(read == Pattern(100'000).substr(at, read.size()));
        EXPECT_OK(g->Read(at, read.size(), read.data()));
        EXPECT_TRUE(read == Pattern(100'000, 2).substr(at, read.size()));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace bigtable
