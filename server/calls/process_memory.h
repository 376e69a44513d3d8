// The memory of this process.
#ifndef BIGTABLE_SERVER_CALLS_PROCESS_MEMORY_H_
#define BIGTABLE_SERVER_CALLS_PROCESS_MEMORY_H_

#include <cstdint>

namespace bigtable::server {

// Bytes of its own that are in memory: without files, and so without mapped logs and SSTables. 0 if
// the system does not say. Thread-safe; some microseconds.
uint64_t ResidentMemory();

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_CALLS_PROCESS_MEMORY_H_
