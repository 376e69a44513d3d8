#include "blocks/page_residency.h"

#include <algorithm>
#include <sys/resource.h>

namespace bigtable {
namespace {

// The number of this thread's page faults that are already counted, and by which object.
struct CountedFaults {
  const PageResidency* residency = nullptr;
  int64_t faults = 0;
};

constinit thread_local CountedFaults counted;

}  // namespace

int64_t PageResidency::MajorFaultsOfThread() {
  struct rusage usage;
  return ::getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_majflt : 0;
}

// An earlier object may have had the same address.
PageResidency::PageResidency(FaultCounter faults) : faults_(faults) {
  if (counted.residency == this) counted = {};
}

PageResidency* PageResidency::OfProcess() {
  static PageResidency* const residency = new PageResidency();
  return residency;
}

void PageResidency::CountMissing() {
  CountFirstRead();
  AddMissing(1);
}

void PageResidency::CountSampleMissing() {
  if (samples_missing_.fetch_add(1, std::memory_order_relaxed) + 1 >= kManySamples) BeginEpoch();
}

void PageResidency::CountPast(int64_t blocks) {
  const int64_t past = past_.fetch_add(blocks, std::memory_order_relaxed) + blocks;
  if (past < std::max(InMemory() / kPartOfRound, kShortestRound)) return;
  past_.store(0, std::memory_order_relaxed);
  const uint8_t round = round_.load(std::memory_order_relaxed);
  round_.store(round < kRounds ? round + 1 : 1, std::memory_order_relaxed);
}

PageResidency::Reading::Reading(const PageResidency* residency)
    : residency_(residency), before_(residency->faults_()) {}

int64_t PageResidency::Reading::End() {
  if (residency_ == nullptr) return faults_;
  faults_ = residency_->faults_() - before_;
  if (counted.residency == residency_) counted.faults += faults_;
  residency_ = nullptr;
  return faults_;
}

void PageResidency::CountFaults() {
  touches_left_ = kTouchesOfSample;
  const int64_t now = faults_();
  const int64_t fresh = counted.residency == this ? now - counted.faults : 0;
  counted = {this, now};
  if (fresh <= 0) return;
  if (fresh >= kManyFaults) {
    BeginEpoch();
  } else {
    AddMissing(fresh);
  }
}

void PageResidency::AddMissing(int64_t n) {
  const int64_t missing = missing_.fetch_add(n, std::memory_order_relaxed) + n;
  if (missing < kFewestMissing) return;
  if (missing * kTrustedPart >= InMemory()) BeginEpoch();
}

void PageResidency::BeginEpoch() {
  seen_before_.store(seen_.exchange(0, std::memory_order_relaxed), std::memory_order_relaxed);
  missing_.store(0, std::memory_order_relaxed);
  samples_missing_.store(0, std::memory_order_relaxed);
  reads_.store(0, std::memory_order_relaxed);
  epoch_.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace bigtable
