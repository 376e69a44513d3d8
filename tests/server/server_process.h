// The program bigtable-server as a child process, for tests of what its whole process does: its
// memory, its threads, its end. On a free port of loopback.
//
// One thread starts and ends it; any thread may connect to it.
#ifndef BIGTABLE_TESTS_SERVER_SERVER_PROCESS_H_
#define BIGTABLE_TESTS_SERVER_SERVER_PROCESS_H_

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"
#include "grpcpp/support/channel_arguments.h"

#include "grpc/grpc.h"

namespace bigtable::server {

class ServerProcess {
 public:
  ServerProcess() = default;
  ~ServerProcess() {
    if (process_ > 0) kill(process_, SIGKILL);
    Wait();
  }
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  // False: it did not start. Its standard error is the caller's.
  bool Start(const std::string& directory, const std::vector<std::string>& options) {
    std::vector<std::string> arguments = {BIGTABLE_SERVER, directory, "--address", "127.0.0.1:0"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    int output[2];
    if (pipe(output) != 0) return false;
    process_ = fork();
    if (process_ == 0) {
      dup2(output[1], STDOUT_FILENO);
      execv(BIGTABLE_SERVER, pointers.data());
      _exit(127);
    }
    close(output[1]);
    std::string line;
    for (char byte; read(output[0], &byte, 1) == 1 && byte != '\n';) line.push_back(byte);
    close(output[0]);
    const size_t address = line.rfind("127.0.0.1:");
    if (process_ < 0 || address == std::string::npos) return false;
    address_ = line.substr(address);
    return true;
  }
  // SIGTERM. Returns what waitpid says; -1: it had ended before.
  int End() {
    if (!IsAlive()) return -1;
    kill(process_, SIGTERM);
    return Wait();
  }
  bool IsAlive() {
    if (process_ > 0 && waitpid(process_, &status_, WNOHANG) != 0) process_ = -1;
    return process_ > 0;
  }

  // A connection of its own.
  std::shared_ptr<grpc::Channel> Connect() const {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetMaxReceiveMessageSize(-1);
    return grpc::CreateCustomChannel(address_, grpc::InsecureChannelCredentials(), arguments);
  }

  int port() const { return std::stoi(address_.substr(address_.rfind(':') + 1)); }

  // A number of /proc/PID/status, such as VmHWM or Threads. -1: there is none.
  int64_t Of(const std::string& name) const {
    std::ifstream file(absl::StrCat("/proc/", process_, "/status"));
    long long number = -1;
    for (std::string line; std::getline(file, line);) {
      if (line.rfind(name + ":", 0) == 0) {
        std::sscanf(line.c_str() + line.find(':') + 1, "%lld", &number);
      }
    }
    return number;
  }

 private:
  int Wait() {
    if (process_ > 0) waitpid(std::exchange(process_, -1), &status_, 0);
    return status_;
  }

  pid_t process_ = -1;
  int status_ = 0;
  std::string address_;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_TESTS_SERVER_SERVER_PROCESS_H_
