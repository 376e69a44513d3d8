// A bigtable-server of its own for a test. It ends with the test, whatever becomes of it.
#ifndef BIGTABLE_TESTS_TOOLS_SERVER_PROCESS_H_
#define BIGTABLE_TESTS_TOOLS_SERVER_PROCESS_H_

#ifdef BIGTABLE_SERVER_PROGRAM

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "gtest/gtest.h"

namespace bigtable {

// One thread.
class ServerProcess {
 public:
  // Serves the directory on a port that is free.
  explicit ServerProcess(const std::string& directory, std::vector<std::string> options = {}) {
    options.insert(options.begin(), {BIGTABLE_SERVER_PROGRAM, directory, "--address", "127.0.0.1:0",
                                     "--http", "", "--memory", "64MB", "--drain", "1"});
    int output[2];
    EXPECT_EQ(pipe(output), 0);
    process_ = fork();
    if (process_ == 0) Execute(options, output[1]);
    close(output[1]);
    std::string line;
    for (char byte; read(output[0], &byte, 1) == 1 && byte != '\n';) line.push_back(byte);
    output_ = output[0];
    const size_t address = line.find("127.0.0.1:");
    EXPECT_NE(address, std::string::npos) << "the server said: " << line;
    if (address != std::string::npos) address_ = line.substr(address);
  }
  ~ServerProcess() {
    if (process_ > 0) Stop();
    close(output_);
  }
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  const std::string& address() const { return address_; }

  // Ends the server as a crash does.
  void Kill() {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
    process_ = -1;
  }

 private:
  [[noreturn]] static void Execute(const std::vector<std::string>& words, int output) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(output, STDOUT_FILENO);
    setenv("GRPC_VERBOSITY", "NONE", 0);  // callers that are refused are part of the tests
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    execv(arguments[0], arguments.data());
    _exit(127);
  }

  void Stop() {
    kill(process_, SIGTERM);
    int status = 0;
    for (int i = 0; i < 3000; ++i) {
      if (waitpid(process_, &status, WNOHANG) == process_) {
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
        return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ADD_FAILURE() << "the server does not end";
    Kill();
  }

  pid_t process_ = -1;
  int output_ = -1;
  std::string address_;
};

}  // namespace bigtable

#endif  // BIGTABLE_SERVER_PROGRAM

#endif  // BIGTABLE_TESTS_TOOLS_SERVER_PROCESS_H_
