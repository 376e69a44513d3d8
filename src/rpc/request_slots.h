// The numbers of a client's requests (rpc/data_service.h): each call has a slot of its own while it
// runs, and its requests have consecutive numbers in that slot.
#ifndef BIGTABLE_RPC_REQUEST_SLOTS_H_
#define BIGTABLE_RPC_REQUEST_SLOTS_H_

#include <cstdint>
#include <random>
#include <vector>

#include "absl/base/thread_annotations.h"

#include "base/mutex.h"
#include "rpc/data_service.h"

namespace bigtable {

// Thread-safe.
class RequestSlots {
 public:
  // A new client id: 64 bits from the machine's source of randomness.
  RequestSlots() {
    std::random_device random;
    client_ = uint64_t{random()} << 32 | random();
  }
  RequestSlots(const RequestSlots&) = delete;
  RequestSlots& operator=(const RequestSlots&) = delete;

  // A call's slot. One thread at a time.
  class Lease {
   public:
    explicit Lease(RequestSlots* slots) : slots_(slots), id_(slots->Take()) {}
    ~Lease() { slots_->GiveBack(id_); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

    // The id of the call's next request. Sending it tells the server that the call no longer waits
    // for the one before.
    RequestId Next() {
      ++id_.number;
      return id_;
    }

   private:
    RequestSlots* const slots_;
    RequestId id_;
  };

 private:
  RequestId Take() {
    MutexLock lock(&mutex_);
    if (free_.empty()) {
      free_.push_back(static_cast<uint32_t>(numbers_.size()));
      numbers_.push_back(0);
    }
    const uint32_t slot = free_.back();
    free_.pop_back();
    return {client_, slot, numbers_[slot]};
  }
  void GiveBack(const RequestId& id) {
    MutexLock lock(&mutex_);
    numbers_[id.slot] = id.number;
    free_.push_back(id.slot);
  }

  uint64_t client_;
  Mutex mutex_;
  std::vector<uint64_t> numbers_ ABSL_GUARDED_BY(mutex_);  // the last number of each slot
  std::vector<uint32_t> free_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bigtable

#endif  // BIGTABLE_RPC_REQUEST_SLOTS_H_
