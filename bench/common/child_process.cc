#include "common/child_process.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include "common/interrupt.h"
#include "common/strings.h"

extern char** environ;

namespace bench {

void DieWithParent() { prctl(PR_SET_PDEATHSIG, SIGKILL); }

ChildProcess::ChildProcess(std::string description) : description_(std::move(description)) {}

ChildProcess::~ChildProcess() {
  if (output_ >= 0) close(output_);
  if (process_ > 0) {  // an error of the parent: the results are not needed
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
}

absl::Status ChildProcess::Start(const std::vector<std::string>& arguments) {
  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) return absl::ErrnoToStatus(errno, "pipe");
  output_ = pipe_ends[0];
  std::vector<char*> argv;
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
  const int error =
      posix_spawn(&process_, "/proc/self/exe", &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_ends[1]);
  if (error != 0) {
    process_ = -1;
    return absl::ErrnoToStatus(error, "posix_spawn /proc/self/exe");
  }
  return absl::OkStatus();
}

absl::Status ChildProcess::ReadLines(const std::function<absl::Status(std::string_view)>& line) {
  std::string text;
  char buffer[4096];
  for (;;) {
    const ssize_t n = read(output_, buffer, sizeof(buffer));
    if (InterruptHandler::interrupted()) return absl::CancelledError("interrupted");
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return absl::ErrnoToStatus(errno, "read");
    if (n == 0) break;
    text.append(buffer, static_cast<size_t>(n));
    for (size_t end; (end = text.find('\n')) != std::string::npos; text.erase(0, end + 1)) {
      if (absl::Status s = line(std::string_view(text).substr(0, end)); !s.ok()) return s;
    }
  }
  return Wait();
}

absl::Status ChildProcess::Wait() {
  int status = 0;
  while (waitpid(process_, &status, 0) < 0) {
    if (InterruptHandler::interrupted()) return absl::CancelledError("interrupted");
    if (errno != EINTR) return absl::ErrnoToStatus(errno, "waitpid");
  }
  process_ = -1;
  if (WIFSIGNALED(status)) {
    return absl::InternalError(Concat(description_, " died of signal ", WTERMSIG(status), ", ",
                                      std::string(strsignal(WTERMSIG(status)))));
  }
  if (WEXITSTATUS(status) != 0) return absl::InternalError(Concat(description_, " failed"));
  return absl::OkStatus();
}

}  // namespace bench
