#include "filesystem/uring_queue.h"

#ifdef BIGTABLE_URING
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <liburing.h>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "absl/base/macros.h"
#include "absl/base/thread_annotations.h"

#include "base/fork_callback.h"
#include "base/mutex.h"
#include "base/strings.h"
#endif

namespace bigtable {

#ifdef BIGTABLE_URING
namespace {

constexpr unsigned kMostReads = 128;  // under way in one ring

class Ring {
 public:
  // Null: `*error` is the errno value.
  static std::unique_ptr<Ring> Make(int* error) {
    auto ring = std::unique_ptr<Ring>(new Ring());
    *error = -::io_uring_queue_init(kMostReads, &ring->ring_, 0);
    ring->is_open_ = *error == 0;
    // Older kernels have rings, but no such reads.
    const bool reads = ring->is_open_ && (ring->ring_.features & IORING_FEAT_RW_CUR_POS) != 0;
    if (ring->is_open_ && !reads) *error = ENOSYS;
    return reads ? std::move(ring) : nullptr;
  }
  ~Ring() {
    if (is_open_) ::io_uring_queue_exit(&ring_);
  }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  struct io_uring* get() {
    return &ring_;
  }

 private:
  Ring() = default;

  struct io_uring ring_ = {};
  bool is_open_ = false;
};

// So many calls read in this way at the same time; the others as if there was no io_uring. Each may
// hold descriptors of as many files as it has reads.
size_t MostRings() {
  constexpr rlim_t kMost = 32;
  struct rlimit descriptors;
  if (::getrlimit(RLIMIT_NOFILE, &descriptors) != 0) return 1;
  return static_cast<size_t>(std::clamp<rlim_t>(descriptors.rlim_cur / kMostReads, 1, kMost));
}

// The rings of the process. One is made when it is needed, and kept: making it takes longer than a
// read. A child of fork() shares the rings of its parent with it, so it has others. Never
// destroyed.
class Rings {
 public:
  static Rings* OfProcess() {
    static std::atomic<Rings*> current{new Rings()};
    Rings* rings = current.load(std::memory_order_acquire);
    while (rings->forks_ != ForkCallback::Forks()) {
      auto made = std::unique_ptr<Rings>(new Rings());
      // Not released in a child: another thread of the parent may have had its lock.
      if (current.compare_exchange_strong(rings, made.get(), std::memory_order_acq_rel)) {
        rings = made.release();
      }
    }
    return rings;
  }

  // Null: there is none now.
  std::unique_ptr<Ring> Take() {
    MutexLock lock(&mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<Ring> ring = std::move(idle_.back());
      idle_.pop_back();
      return ring;
    }
    if (is_refused_ || rings_ >= MostRings()) return nullptr;
    int error;
    std::unique_ptr<Ring> ring = Ring::Make(&error);
    // Anything else is a shortage that passes, unless not even one can be made.
    is_refused_ = error == ENOSYS || error == EPERM || error == EACCES || error == EINVAL ||
                  (error == ENOMEM && rings_ == 0);
    rings_ += ring == nullptr ? 0 : 1;
    return ring;
  }
  // Null: it cannot be used any more.
  void Return(std::unique_ptr<Ring> ring) {
    MutexLock lock(&mutex_);
    if (ring == nullptr) {
      --rings_;
    } else {
      idle_.push_back(std::move(ring));
    }
  }

 private:
  Rings() = default;

  const uint64_t forks_ = ForkCallback::Forks();
  Mutex mutex_;
  std::vector<std::unique_ptr<Ring>> idle_ ABSL_GUARDED_BY(mutex_);
  size_t rings_ ABSL_GUARDED_BY(mutex_) = 0;
  bool is_refused_ ABSL_GUARDED_BY(mutex_) = false;
};

class RingQueue final : public UringQueue {
 public:
  RingQueue(Rings* owner, std::unique_ptr<Ring> ring) : owner_(owner), ring_(std::move(ring)) {}
  ~RingQueue() override {
    ABSL_ASSERT(added_.empty() && under_way_ == 0 && "every read is done");
    if (is_broken_) ring_.reset();
    owner_->Return(std::move(ring_));
  }

  size_t most() const override { return kMostReads; }

  bool Add(std::shared_ptr<const Fd> fd, uint64_t begin, size_t n, char* to, Read* read) override {
    if (is_broken_ || added_.size() + under_way_ == kMostReads) return false;
    struct io_uring_sqe* const entry = ::io_uring_get_sqe(ring_->get());
    if (entry == nullptr) return false;
    ::io_uring_prep_read(entry, fd->get(), to, static_cast<unsigned>(n), begin);
    ::io_uring_sqe_set_data(entry, read);
    read->is_done = false;
    read->status = absl::OkStatus();
    read->keeps = std::move(fd);
    read->bytes = to + (read->offset - begin);
    read->expected = read->offset + read->size - begin;
    added_.push_back(read);
    return true;
  }

  void Submit() override {
    while (!added_.empty()) Enter(0);
  }

  void WaitForAny() override {
    if (TakeDone() > 0 || (added_.empty() && under_way_ == 0)) return;
    Enter(1);
    TakeDone();
  }

  void Wait(Read* read) override {
    TakeDone();
    while (!read->is_done) {
      Enter(1);
      TakeDone();
    }
  }

 private:
  // Begins what was added, and waits until `done` reads are done.
  void Enter(unsigned done) {
    constexpr useconds_t kPause = 1000;
    if (is_broken_) {
      ::usleep(kPause);  // what is under way becomes done all the same
      return;
    }
    const int result = ::io_uring_submit_and_wait(ring_->get(), done);
    if (result >= 0) {
      added_.erase(added_.begin(), added_.begin() + result);
      under_way_ += static_cast<unsigned>(result);
    } else if (result == -EAGAIN || result == -EBUSY || result == -ENOMEM) {
      ::usleep(kPause);  // a shortage, which passes
    } else if (result != -EINTR) {
      // The program has closed the descriptor, which may be another file's by now, or may not make
      // the call any more.
      is_broken_ = true;
      if (result == -EBADF || result == -EOPNOTSUPP) ring_->get()->ring_fd = -1;
      for (Read* const read : added_) Finish(read, result);
      added_.clear();
    }
  }

  unsigned TakeDone() {
    unsigned head;
    unsigned taken = 0;
    struct io_uring_cqe* done;
    io_uring_for_each_cqe(ring_->get(), head, done) {
      Finish(static_cast<Read*>(::io_uring_cqe_get_data(done)), done->res);
      ++taken;
    }
    ::io_uring_cq_advance(ring_->get(), taken);
    under_way_ -= taken;
    return taken;
  }

  // A part is as good as an error: the caller reads it again, in a way that says what is wrong.
  static void Finish(Read* read, int result) {
    if (result < 0) {
      read->status = absl::UnavailableError(Cat("a read failed with error ", -result));
    } else if (static_cast<uint64_t>(result) < read->expected) {
      read->status = absl::UnavailableError(Cat("a read ended after ", result, " bytes"));
    }
    read->keeps = nullptr;
    read->is_done = true;
  }

  Rings* const owner_;
  std::unique_ptr<Ring> ring_;
  std::vector<Read*> added_;  // not begun yet
  unsigned under_way_ = 0;    // begun, and not taken as done
  bool is_broken_ = false;    // begins no more
};

}  // namespace

std::unique_ptr<UringQueue> NewUringQueue() {
  Rings* const rings = Rings::OfProcess();
  std::unique_ptr<Ring> ring = rings->Take();
  return ring == nullptr ? nullptr : std::make_unique<RingQueue>(rings, std::move(ring));
}

#else

std::unique_ptr<UringQueue> NewUringQueue() { return nullptr; }

#endif

}  // namespace bigtable
