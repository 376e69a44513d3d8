#include "server/served_process.h"

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <fcntl.h>
#include <fstream>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/strings.h"

namespace bench {

absl::StatusOr<std::unique_ptr<ServedProcess>> ServedProcess::Start(
    const std::vector<std::string>& arguments) {
  int output[2];
  if (pipe2(output, O_CLOEXEC) != 0) return absl::UnavailableError("pipe: no descriptors");
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  std::unique_ptr<ServedProcess> process(new ServedProcess());
  process->process_ = fork();
  if (process->process_ < 0) return absl::UnavailableError("fork: no processes");
  if (process->process_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(output[1], STDOUT_FILENO);
    dup2(output[1], STDERR_FILENO);
    execv(argv[0], argv.data());
    std::perror(argv[0]);
    _exit(127);
  }
  close(output[1]);
  process->output_ = output[0];
  std::string text;
  char byte;
  while (read(output[0], &byte, 1) == 1) {
    if (byte != '\n') {
      text.push_back(byte);
      continue;
    }
    const size_t at = text.find("127.0.0.1:");
    if (at != std::string::npos) {
      process->address_ = text.substr(at);
      return process;
    }
    text.clear();
  }
  return absl::UnavailableError(Concat(arguments[0], " ended without an address: ", text));
}

ServedProcess::~ServedProcess() {
  if (process_ > 0) {
    kill(process_, SIGTERM);
    waitpid(process_, nullptr, 0);
  }
  if (output_ >= 0) close(output_);
}

absl::StatusOr<absl::Duration> ServedProcess::CpuTime() const {
  clockid_t clock;
  timespec time;
  if (clock_getcpuclockid(process_, &clock) != 0 || clock_gettime(clock, &time) != 0) {
    return absl::UnavailableError("the server has ended");
  }
  return absl::DurationFromTimespec(time);
}

absl::StatusOr<uint64_t> ServedProcess::Memory() const {
  std::ifstream file(Concat("/proc/", process_, "/statm"));
  uint64_t size = 0;
  uint64_t resident = 0;
  if (!(file >> size >> resident)) return absl::UnavailableError("the server has ended");
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace bench
