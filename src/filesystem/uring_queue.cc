#include "filesystem/uring_queue.h"

#ifdef BIGTABLE_URING
#include <cerrno>
#include <liburing.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "absl/base/macros.h"
#include "absl/base/thread_annotations.h"

#include "base/mutex.h"
#include "base/strings.h"
#endif

namespace bigtable {

#ifdef BIGTABLE_URING
namespace {

constexpr unsigned kMostReads = 128;  // under way in one ring

class Ring {
 public:
  static std::unique_ptr<Ring> Make(int* error) {
    auto ring = std::unique_ptr<Ring>(new Ring());
    *error = -::io_uring_queue_init(kMostReads, &ring->ring_, 0);
    ring->is_open_ = *error == 0;
    return ring->is_open_ ? std::move(ring) : nullptr;
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

// The rings of the process. One is made when it is needed, and kept: making it takes longer than a
// read. Never destroyed.
class Rings {
 public:
  static Rings* OfProcess() {
    static auto* const rings = new Rings();
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
    if (is_refused_ || rings_ == kMostRings) return nullptr;
    int error;
    std::unique_ptr<Ring> ring = Ring::Make(&error);
    // Anything else is a shortage, which passes.
    is_refused_ = error == ENOSYS || error == EPERM || error == EACCES || error == EINVAL;
    rings_ += ring == nullptr ? 0 : 1;
    return ring;
  }
  void Return(std::unique_ptr<Ring> ring) {
    MutexLock lock(&mutex_);
    idle_.push_back(std::move(ring));
  }

 private:
  // So many calls read in this way at the same time; the others as if there was no io_uring.
  static constexpr int kMostRings = 32;

  Mutex mutex_;
  std::vector<std::unique_ptr<Ring>> idle_ ABSL_GUARDED_BY(mutex_);
  int rings_ ABSL_GUARDED_BY(mutex_) = 0;
  bool is_refused_ ABSL_GUARDED_BY(mutex_) = false;
};

class RingQueue final : public UringQueue {
 public:
  explicit RingQueue(std::unique_ptr<Ring> ring) : ring_(std::move(ring)) {}
  ~RingQueue() override {
    ABSL_ASSERT(added_ == 0 && under_way_ == 0 && "every read is done");
    Rings::OfProcess()->Return(std::move(ring_));
  }

  size_t most() const override { return kMostReads; }

  bool Add(std::shared_ptr<const Fd> fd, uint64_t begin, size_t n, char* to, Read* read) override {
    if (added_ + under_way_ == kMostReads) return false;
    struct io_uring_sqe* const entry = ::io_uring_get_sqe(ring_->get());
    if (entry == nullptr) return false;
    ::io_uring_prep_read(entry, fd->get(), to, static_cast<unsigned>(n), begin);
    ::io_uring_sqe_set_data(entry, read);
    read->is_done = false;
    read->keeps = std::move(fd);
    read->bytes = to + (read->offset - begin);
    read->expected = read->offset + read->size - begin;
    ++added_;
    return true;
  }

  void Submit() override {
    while (added_ > 0) Enter(0);
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
    const int result = ::io_uring_submit_and_wait(ring_->get(), done);
    if (result >= 0) {
      added_ -= static_cast<unsigned>(result);
      under_way_ += static_cast<unsigned>(result);
    } else if (result != -EINTR) {
      constexpr useconds_t kShortage = 1000;
      ::usleep(kShortage);  // of the kernel's memory, which passes
    }
  }

  void TakeDone() {
    unsigned head;
    unsigned taken = 0;
    struct io_uring_cqe* done;
    io_uring_for_each_cqe(ring_->get(), head, done) {
      Finish(static_cast<Read*>(::io_uring_cqe_get_data(done)), done->res);
      ++taken;
    }
    ::io_uring_cq_advance(ring_->get(), taken);
    under_way_ -= taken;
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

  std::unique_ptr<Ring> ring_;
  unsigned added_ = 0;      // not begun yet
  unsigned under_way_ = 0;  // begun, and not taken as done
};

}  // namespace

std::unique_ptr<UringQueue> NewUringQueue() {
  std::unique_ptr<Ring> ring = Rings::OfProcess()->Take();
  return ring == nullptr ? nullptr : std::make_unique<RingQueue>(std::move(ring));
}

#else

std::unique_ptr<UringQueue> NewUringQueue() { return nullptr; }

#endif

}  // namespace bigtable
