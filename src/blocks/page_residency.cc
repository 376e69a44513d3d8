#include "blocks/page_residency.h"

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
  const int64_t found = found_.load(std::memory_order_relaxed);
  const int64_t known = known_.load(std::memory_order_relaxed);
  const double in_memory = static_cast<double>(known) * static_cast<double>(found) /
                           static_cast<double>(found + missing);
  if (static_cast<double>(missing * kTrustedPart) >= in_memory) BeginEpoch();
}

void PageResidency::BeginEpoch() {
  found_.store(0, std::memory_order_relaxed);
  missing_.store(0, std::memory_order_relaxed);
  samples_missing_.store(0, std::memory_order_relaxed);
  reads_.store(0, std::memory_order_relaxed);
  epoch_.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace bigtable
