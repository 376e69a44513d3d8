// Whether pages of mapped files that were in memory still are, as far as the process can know
// without querying the kernel at each touch.
//
// The kernel drops pages of a mapping when memory is short, without notice. A thread that touches
// such a page then waits for a page fault, which reads page by page, or, with readahead, megabytes
// for one block. Querying first (mincore) costs as much as reading a block that is in memory. So
// there are epochs. In each epoch, a block is queried once, and is assumed to stay in memory
// afterwards. An epoch ends when so much was found missing that blocks seen in this epoch may be
// missing, too:
//
// * a thirty-second part of the blocks that are in memory. The kernel drops the pages that were
//   not used for longest, and blocks that were used while so little was read from the disk are
//   hardly among them; or
// * eight page faults that went to the disk among 256 touches of blocks that were assumed to be
//   in memory. This detects pressure from outside: the program's own memory, other processes.
//
// Where everything fits, nothing is missing: there is one epoch, and a touch costs a comparison and
// a decrement. Where it does not, queries cost little compared to the disk reads that end an epoch.
//
// Thread-safe. The numbers are hints: a wrong one only costs time.
#ifndef BIGTABLE_BLOCKS_PAGE_RESIDENCY_H_
#define BIGTABLE_BLOCKS_PAGE_RESIDENCY_H_

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace bigtable {

class PageResidency {
 public:
  // The number of page faults of the calling thread so far that went to the disk.
  using FaultCounter = int64_t (*)();
  static int64_t MajorFaultsOfThread();

  explicit PageResidency(FaultCounter faults = &MajorFaultsOfThread);
  PageResidency(const PageResidency&) = delete;
  PageResidency& operator=(const PageResidency&) = delete;

  // The object for all databases of this process, which share its memory. Never destroyed.
  static PageResidency* OfProcess();

  // A block that was found in memory in an earlier epoch must be queried again.
  uint32_t epoch() const { return epoch_.load(std::memory_order_relaxed); }
  // Whether a block that is read along with a requested one probably stays in memory until it is
  // requested itself. That is so if no epoch has ended yet, or none for so many disk reads that all
  // known blocks could have been read again.
  bool is_plentiful() const {
    return epoch() == 0 ||
           reads_.load(std::memory_order_relaxed) > known_.load(std::memory_order_relaxed);
  }
  // The present round of reads past the memory of the system, which is never 0, and the one before.
  // A round is a quarter as many such reads as there are blocks in memory.
  uint8_t round() const { return round_.load(std::memory_order_relaxed); }
  static uint8_t RoundBefore(uint8_t round) { return round > 1 ? round - 1 : kRounds; }

  // Counts a touch of a block that was seen in memory in this epoch.
  void CountTouch() {
    if (--touches_left_ == 0) [[unlikely]]
      CountFaults();
  }

  // A block that had been in memory is missing, and is being read into memory.
  void CountMissing();
  // The same for a block that had not been in memory before.
  void CountFirstRead() { reads_.fetch_add(1, std::memory_order_relaxed); }
  // A randomly sampled block that had been in memory is missing. Where memory is plentiful each
  // disk read brings many blocks, so this must be detected soon.
  void CountSampleMissing();
  // Blocks are being read past the memory of the system.
  void CountPast(int64_t blocks);
  // So many blocks were seen in memory for the first time in this epoch.
  void CountSeen(int64_t blocks) { seen_.fetch_add(blocks, std::memory_order_relaxed); }
  // So many more blocks have been in memory; negative when a file is closed.
  void CountKnown(int64_t blocks) { known_.fetch_add(blocks, std::memory_order_relaxed); }

  // While this exists, page faults of this thread come from reading and do not count as faults of
  // touches.
  class Reading {
   public:
    explicit Reading(const PageResidency* residency);
    ~Reading() { End(); }
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;

    // Ends it, and returns the number of its page faults.
    int64_t End();

   private:
    const PageResidency* residency_;  // null: it has ended
    const int64_t before_;
    int64_t faults_ = 0;
  };

 private:
  static constexpr uint32_t kTouchesOfSample = 256;
  static constexpr int64_t kManyFaults = 8;
  static constexpr int64_t kFewestMissing = 64;
  static constexpr int64_t kTrustedPart = 32;
  static constexpr int64_t kManySamples = 4;
  static constexpr int64_t kPartOfRound = 4;
  static constexpr int64_t kShortestRound = 4096;
  static constexpr uint8_t kRounds = 255;  // then they begin again

  // Called after kTouchesOfSample touches of a thread: counts the page faults among them.
  void CountFaults();
  void AddMissing(int64_t n);
  // About how many blocks are in memory.
  int64_t InMemory() const {
    return std::max(seen_.load(std::memory_order_relaxed),
                    seen_before_.load(std::memory_order_relaxed));
  }
  void BeginEpoch();

  // Statically allocated for each thread, so that access needs no call in a shared library.
  [[gnu::tls_model("initial-exec")]] static inline constinit thread_local uint32_t touches_left_ =
      kTouchesOfSample;

  const FaultCounter faults_;
  std::atomic<uint32_t> epoch_{0};
  std::atomic<int64_t> known_{0};

  // On a cache line of their own: those above are read at each touch.
  alignas(64) std::atomic<int64_t> missing_{0};  // of this epoch
  std::atomic<int64_t> samples_missing_{0};
  std::atomic<int64_t> reads_{0};
  std::atomic<int64_t> seen_{0};         // of this epoch
  std::atomic<int64_t> seen_before_{0};  // of the one before
  std::atomic<int64_t> past_{0};         // of this round
  std::atomic<uint8_t> round_{1};
};

}  // namespace bigtable

#endif  // BIGTABLE_BLOCKS_PAGE_RESIDENCY_H_
