// The program bigtable-server as a child process, for tests of what its whole process does: its
// memory, its threads, its end. On a free port of loopback.
//
// One thread starts and ends it; any thread may connect to it.
#ifndef BIGTABLE_TESTS_SERVER_SERVER_PROCESS_H_
#define BIGTABLE_TESTS_SERVER_SERVER_PROCESS_H_

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
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

  struct Setup {
    std::function<void()> in_child;  // called before the program begins
    std::string errors;              // file for its standard error; empty: the caller's
  };

  // False: it did not start, and has ended; exit_status() is what waitpid says.
  bool Start(const std::string& directory, const std::vector<std::string>& options) {
    return Start(directory, options, Setup());
  }
  bool Start(const std::string& directory, const std::vector<std::string>& options,
             const Setup& setup) {
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
      if (!setup.errors.empty() && std::freopen(setup.errors.c_str(), "a", stderr) == nullptr) {
        _exit(126);
      }
      if (setup.in_child) setup.in_child();
      execv(BIGTABLE_SERVER, pointers.data());
      _exit(127);
    }
    close(output[1]);
    std::string text;
    for (char byte; read(output[0], &byte, 1) == 1;) {
      text.push_back(byte);
      if (byte == '\n' && text.find("takes requests") != std::string::npos) break;
    }
    close(output[0]);
    address_ = LineAfter(text, " on 127.0.0.1:");
    http_port_ = LineAfter(text, "http://127.0.0.1:");
    if (process_ > 0 && !address_.empty()) {
      address_ = "127.0.0.1:" + address_;
      return true;
    }
    Wait();
    return false;
  }
  int exit_status() const { return status_; }
  pid_t pid() const { return process_; }
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

  // A connection of its own. Without `probes` the client takes little of a stream that is not read.
  std::shared_ptr<grpc::Channel> Connect(bool probes = true) const {
    grpc::ChannelArguments arguments;
    if (!probes) arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetMaxReceiveMessageSize(-1);
    return grpc::CreateCustomChannel(address_, grpc::InsecureChannelCredentials(), arguments);
  }

  // Of the status page; 0: there is none.
  int http_port() const { return http_port_.empty() ? 0 : std::stoi(http_port_); }
  int port() const { return std::stoi(address_.substr(address_.rfind(':') + 1)); }

  // Its open descriptors.
  int Descriptors() const {
    const std::filesystem::directory_iterator all(absl::StrCat("/proc/", process_, "/fd"));
    return static_cast<int>(std::distance(begin(all), end(all)));
  }
  // Seconds of CPU since it began.
  double CpuSeconds() const {
    std::ifstream file(absl::StrCat("/proc/", process_, "/stat"));
    std::string text((std::istreambuf_iterator<char>(file)), {});
    long user = 0;
    long system = 0;
    std::sscanf(text.c_str() + text.rfind(')') + 1,
                " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld", &user, &system);
    return static_cast<double>(user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
  }

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
  static std::string LineAfter(const std::string& text, const std::string& before) {
    const size_t found = text.find(before);
    if (found == std::string::npos) return "";
    const size_t begin = found + before.size();
    return text.substr(begin, text.find_first_of("/\n", begin) - begin);
  }
  int Wait() {
    if (process_ > 0) waitpid(std::exchange(process_, -1), &status_, 0);
    return status_;
  }

  pid_t process_ = -1;
  int status_ = 0;
  std::string address_;
  std::string http_port_;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_TESTS_SERVER_SERVER_PROCESS_H_
