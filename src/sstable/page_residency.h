// Whether pages of mapped files that were in memory still are, as far as the process can know
// without asking the kernel at each touch.
//
// The kernel drops pages of a mapping when memory is short and says nothing. A thread that touches
// one then waits for a page fault, which reads page by page, or, with readahead, megabytes for one
// block. Asking first (mincore) costs as much as reading a block that is in memory. So there are
// epochs. In each, a block is asked for once, and is taken to be in memory from then on. An epoch
// ends when so much was found missing that blocks which were seen in it may be missing, too:
//
// * a thirty-second part of the blocks that are in memory. The kernel drops what was not used for
//   longest; what was looked at while so little was read from the disk is hardly among it; or
// * eight page faults that went to the disk among 256 touches of blocks that were taken to be in
//   memory. This finds what others have driven out: the program's own memory, other processes.
//
// Where everything fits, nothing is missing: there is one epoch, and a touch costs a comparison and
// a decrement. Where it does not, what asking costs is small beside the reads from the disk that
// end an epoch.
//
// Thread-safe. The numbers are only advice: a wrong one costs time.
#ifndef BIGTABLE_SSTABLE_PAGE_RESIDENCY_H_
#define BIGTABLE_SSTABLE_PAGE_RESIDENCY_H_

#include <atomic>
#include <cstdint>

namespace bigtable {

class PageResidency {
 public:
  // How many page faults of the calling thread have gone to the disk so far.
  using FaultCounter = int64_t (*)();
  static int64_t MajorFaultsOfThread();

  explicit PageResidency(FaultCounter faults = &MajorFaultsOfThread) : faults_(faults) {}
  PageResidency(const PageResidency&) = delete;
  PageResidency& operator=(const PageResidency&) = delete;

  // Of all databases of this process, which share its memory. Lives for ever.
  static PageResidency* OfProcess();

  // What was found in memory in an earlier epoch is to be asked for again.
  uint32_t epoch() const { return epoch_.load(std::memory_order_relaxed); }
  // What is read together with a block that was asked for stays in memory until it is asked for
  // itself, as far as one can tell: no epoch has ended yet, or not for so many reads from the disk
  // that all that is known could have been read again.
  bool is_plentiful() const {
    return epoch() == 0 ||
           reads_.load(std::memory_order_relaxed) > known_.load(std::memory_order_relaxed);
  }
  // What is read from the disk is likely to be dropped before it is wanted again: memory is not
  // plentiful, and in this epoch more blocks were read than were found in memory.
  bool is_scarce() const {
    return !is_plentiful() &&
           reads_.load(std::memory_order_relaxed) > found_.load(std::memory_order_relaxed);
  }

  // A block is touched that was seen in memory in this epoch.
  void CountTouch() {
    if (--touches_left_ == 0) [[unlikely]]
      CountFaults();
  }

  // A block that had been in memory was asked for and is there, or is not and is being read.
  void NoteFound() { found_.fetch_add(1, std::memory_order_relaxed); }
  void NoteMissing();
  // A block that had not been in memory before is being read.
  void NoteFirstRead() { reads_.fetch_add(1, std::memory_order_relaxed); }
  // A block that was looked at by chance, and had been in memory, is not there. Where memory is
  // plentiful each read from the disk brings many blocks, so this must be known soon.
  void NoteSampleMissing();
  // So many more blocks (or fewer, when a file is closed) have been in memory.
  void NoteKnown(int64_t blocks) { known_.fetch_add(blocks, std::memory_order_relaxed); }

  // The page faults of this thread until it ends are not of touches: it reads.
  class Reading {
   public:
    explicit Reading(const PageResidency* residency);
    ~Reading() { End(); }
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;

    // Returns how many of them there were.
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

  // At kTouchesOfSample touches of a thread: how many of them were page faults.
  void CountFaults();
  void AddMissing(int64_t n);
  void BeginEpoch();

  // Has its place from the beginning, so that looking at it costs no call in a shared library.
  [[gnu::tls_model("initial-exec")]] static inline constinit thread_local uint32_t touches_left_ =
      kTouchesOfSample;

  const FaultCounter faults_;
  std::atomic<uint32_t> epoch_{0};
  std::atomic<int64_t> known_{0};

  // On a cache line of their own: those above are read at each touch.
  alignas(64) std::atomic<int64_t> found_{0};  // of this epoch
  std::atomic<int64_t> missing_{0};
  std::atomic<int64_t> samples_missing_{0};
  std::atomic<int64_t> reads_{0};
};

}  // namespace bigtable

#endif  // BIGTABLE_SSTABLE_PAGE_RESIDENCY_H_
