#include "serving/outcome_window.h"

#include <algorithm>

#include "absl/base/macros.h"

#include "base/status.h"
#include "base/strings.h"

namespace bigtable {

absl::StatusOr<MutateResponse> OutcomeWindow::Run(const RequestId& id, const CallLimits& limits,
                                                  absl::FunctionRef<MutateResponse()> apply) {
  if (id.slot >= kMostSlots || id.number == 0) {
    return absl::InvalidArgumentError(Cat("a request has a slot below ", kMostSlots,
                                          " and a number from 1, and this one has slot ", id.slot,
                                          " and number ", id.number));
  }
  const auto outcome = std::make_shared<Outcome>();
  outcome->number = id.number;
  {
    MutexLock lock(&mutex_);
    Client* const client = FindOrAdd(id.client);
    std::shared_ptr<Outcome>& last = client->slots[id.slot];
    if (last != nullptr && last->number > id.number) {
      return absl::FailedPreconditionError(Cat("request ", id.number, " of slot ", id.slot,
                                               " is obsolete: request ", last->number,
                                               " has come"));
    }
    if (last != nullptr && last->number == id.number) {
      const std::shared_ptr<const Outcome> first =
          last;  // the slot may get a later request meanwhile
      return Await(*first, limits);
    }
    last = outcome;
    ++client->under_way;
  }
  MutateResponse response = apply();
  MutexLock lock(&mutex_);
  ABSL_ASSERT(!outcome->is_done && clients_[id.client].under_way > 0 && "a request is run once");
  outcome->response = response;
  outcome->is_done = true;
  --clients_[id.client].under_way;  // a client is not forgotten while a request is under way
  done_.SignalAll();
  return response;
}

absl::StatusOr<MutateResponse> OutcomeWindow::Await(const Outcome& outcome,
                                                    const CallLimits& limits) {
  while (!outcome.is_done) {
    BT_RETURN_IF_ERROR(limits.Check("waiting for a request that came before"));
    done_.WaitFor(&mutex_, std::min(limits.MostSleep(), absl::Milliseconds(100)));
  }
  return outcome.response;
}

OutcomeWindow::Client* OutcomeWindow::FindOrAdd(uint64_t id) {
  const SteadyTime now = SteadyTime::Now();
  const auto found = clients_.find(id);
  if (found != clients_.end()) {
    found->second.heard = now;
    return &found->second;
  }
  std::erase_if(clients_, [&](const auto& entry) {
    return entry.second.under_way == 0 && now - entry.second.heard > forget_after_;
  });
  Client& added = clients_[id];
  added.heard = now;
  return &added;
}

size_t OutcomeWindow::slots() const {
  MutexLock lock(&mutex_);
  size_t slots = 0;
  for (const auto& [id, client] : clients_) slots += client.slots.size();
  return slots;
}

}  // namespace bigtable
