// A process that appends to a log on a real file system is killed at a random time.
#include <random>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commitlog/log_directory.h"
#include "commitlog/log_test_util.h"

namespace bigtable {
namespace {

// Appends until it is killed, and writes each sequence number to `acknowledge` after Append has
// returned.
[[noreturn]] void AppendForEver(const std::string& directory, int acknowledge) {
  FileSystem* fs = FileSystem::Posix();
  auto log = CommitLog::Create(fs, directory, {.segment_size = 65536});
  if (!log.ok()) _exit(1);
  std::mt19937 random(7);
  for (SequenceNumber s = 1;; ++s) {
    if (!Add(log->get(), s, Payload(s, random() % 3000)).ok()) _exit(2);
    if (s % 50 == 0 && !(*log)->Sync().ok()) _exit(3);
    if (s % 100 == 0) (*log)->ReleaseThrough(s - 60);
    if (s % 100 == 0 && !(*log)->PrepareSpare().ok()) _exit(4);
    if (write(acknowledge, &s, sizeof s) != sizeof s) _exit(5);
  }
}

TEST(LogProcessCrashTest, AcknowledgedRecordsAreFoundAfterAKill) {
  std::mt19937 random(std::random_device{}());
  for (int round = 0; round < 12; ++round) {
    char pattern[] = "/tmp/bigtable_log_XXXXXX";
    const std::string parent = mkdtemp(pattern);
    const std::string directory = parent + "/log";
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) AppendForEver(directory, ends[1]);
    close(ends[1]);
    SequenceNumber acknowledged = 0;
    SequenceNumber read_now;
    const SequenceNumber kill_at = 1 + random() % 400;
    while (read(ends[0], &read_now, sizeof read_now) == sizeof read_now) {
      acknowledged = read_now;
      if (acknowledged == kill_at) kill(child, SIGKILL);
    }
    close(ends[0]);
    int status;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << WEXITSTATUS(status);

    for (const auto mode : {FileSystem::ReadMode::kMapped, FileSystem::ReadMode::kPositional}) {
      const Replayed found = ReplayAll(FileSystem::Posix(),
                                       {.must_reach = acknowledged, .read_mode = mode}, directory);
      ASSERT_OK(found.status);
      ASSERT_FALSE(found.sequences.empty());
      const SequenceNumber last = found.sequences.back();
      EXPECT_EQ(found.sequences, Range(found.sequences.front(), last));
      EXPECT_GE(last, acknowledged);
      EXPECT_LE(last, acknowledged + 1);
      for (size_t i = 0; i < found.sequences.size(); ++i) {
        const std::string& payload = found.payloads[i];
        EXPECT_EQ(payload, Payload(found.sequences[i], payload.size()));
      }
    }
    EXPECT_OK(RemoveLog(FileSystem::Posix(), directory));
    rmdir(parent.c_str());
  }
}

}  // namespace
}  // namespace bigtable
