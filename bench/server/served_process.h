// A server in a process of its own, whose CPU time is the server's alone.
#ifndef BIGTABLE_BENCH_SERVER_SERVED_PROCESS_H_
#define BIGTABLE_BENCH_SERVER_SERVED_PROCESS_H_

#include <memory>
#include <string>
#include <sys/types.h>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace bench {

// One thread at a time. The destructor ends the process.
class ServedProcess {
 public:
  // Runs the program, the first of `arguments`, until it prints a line that ends with the address
  // that it listens on, 127.0.0.1 and a port.
  static absl::StatusOr<std::unique_ptr<ServedProcess>> Start(
      const std::vector<std::string>& arguments);
  ~ServedProcess();
  ServedProcess(const ServedProcess&) = delete;
  ServedProcess& operator=(const ServedProcess&) = delete;

  const std::string& address() const { return address_; }
  // CPU time of all its threads so far, to ten milliseconds.
  absl::StatusOr<absl::Duration> CpuTime() const;
  // Resident memory in bytes.
  absl::StatusOr<uint64_t> Memory() const;

 private:
  ServedProcess() = default;

  pid_t process_ = -1;
  int output_ = -1;
  std::string address_;
};

}  // namespace bench

#endif  // BIGTABLE_BENCH_SERVER_SERVED_PROCESS_H_
