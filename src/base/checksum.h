// The checksum of this project: XXH3, 64 bits. The seed ties bytes to their position, so that a
// valid block at a wrong position fails verification like a flipped bit.
#ifndef BIGTABLE_BASE_CHECKSUM_H_
#define BIGTABLE_BASE_CHECKSUM_H_

#include <cstdint>
#include <memory>
#include <string_view>

namespace bigtable {

// 4 KiB take about 100 ns if the processor has wide vectors and the library was built to choose
// among them; otherwise about 400 ns.
uint64_t Checksum(std::string_view bytes, uint64_t seed = 0);

// The Checksum of bytes that are added piece by piece, after each piece. One thread at a time.
class RunningChecksum {
 public:
  explicit RunningChecksum(uint64_t seed);
  ~RunningChecksum();
  RunningChecksum(const RunningChecksum&) = delete;
  RunningChecksum& operator=(const RunningChecksum&) = delete;

  void Add(std::string_view bytes);
  // Of all bytes so far. Costs some tens of nanoseconds.
  uint64_t value() const;

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace bigtable

#endif  // BIGTABLE_BASE_CHECKSUM_H_
