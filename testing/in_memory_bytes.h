// The bytes of a file of the in-memory file system, and which of them a power loss preserves. There
// are two kinds: appended bytes, and bytes stored into a log file's mapping.
//
// Everything is called under the disk's lock (in_memory_disk.h), but the engine writes to a log
// file's memory without a lock.
#ifndef BIGTABLE_TESTING_IN_MEMORY_BYTES_H_
#define BIGTABLE_TESTING_IN_MEMORY_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>

#include "bigtable/testing/in_memory_file_system.h"

namespace bigtable {

// The choices of one simulated power loss. The same seed makes the same choices on every platform,
// which the standard library's distributions do not guarantee.
class CrashRandom {
 public:
  explicit CrashRandom(uint64_t seed) : engine_(seed) {}
  uint64_t Below(uint64_t n) { return engine_() % n; }
  bool OneIn(uint64_t n) { return Below(n) == 0; }

 private:
  std::mt19937_64 engine_;
};

// The unit in which a disk writes: a sector is written as a whole or not at all.
inline constexpr size_t kSectorBytes = 512;

class InMemoryBytes {
 public:
  virtual ~InMemoryBytes() = default;

  virtual uint64_t size() const = 0;
  // Requires that the range is in the file.
  virtual void Read(uint64_t offset, size_t n, char* to) const = 0;
  // The current bytes, in memory that never changes; null for an empty file.
  virtual std::shared_ptr<const char> Map() = 0;
  // Makes the current bytes durable.
  virtual void Sync() = 0;
  // The bytes after a power loss at this moment.
  virtual std::string AfterCrash(CrashRandom* random, Unsynced survives) const = 0;

  // The current bytes.
  std::string Copy() const;
};

// Grows at its end.
class AppendedBytes final : public InMemoryBytes {
 public:
  AppendedBytes() : AppendedBytes(std::string()) {}
  // `durable` counts as synced.
  explicit AppendedBytes(std::string durable);

  void Append(std::string_view data);

  uint64_t size() const override { return bytes_->size(); }
  void Read(uint64_t offset, size_t n, char* to) const override;
  std::shared_ptr<const char> Map() override;
  void Sync() override { synced_ = bytes_->size(); }
  std::string AfterCrash(CrashRandom* random, Unsynced survives) const override;

 private:
  std::shared_ptr<std::string> bytes_;
  bool mapped_ = false;  // *bytes_ may be read without the lock: it must not change
  size_t synced_ = 0;    // the bytes before here are durable
};

// Has a fixed size and is written at any position.
class LogBytes final : public InMemoryBytes {
 public:
  explicit LogBytes(uint64_t size);

  // The address does not change.
  char* memory() { return reinterpret_cast<char*>(words_.get()); }

  uint64_t size() const override { return size_; }
  void Read(uint64_t offset, size_t n, char* to) const override;
  std::shared_ptr<const char> Map() override;
  void Sync() override;
  std::string AfterCrash(CrashRandom* random, Unsynced survives) const override;

 private:
  const uint64_t size_;
  const std::unique_ptr<uint64_t[]> words_;
  std::optional<std::string> synced_;  // the content at the last Sync
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTING_IN_MEMORY_BYTES_H_
