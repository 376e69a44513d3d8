// A faulty network between clients and tablet servers. Every message is sent as bytes. A request or
// its response may be lost or damaged; a request may be delayed, delivered twice at once, or
// delivered again long after its call has returned. A seeded generator chooses the faults of a
// message.
//
// A late copy is delivered by a later call to a server of the same role, on the thread of that
// call: messages are delivered only inside calls, and none after the last call. A copy for a server
// of another role could deadlock with the call that delivers it: a write waits for memory, hence
// for a flush, hence for the flush's call to METADATA. Thread-safe. Must outlive the calls.
//
// Not a part of bigtable::testing, because the interfaces that it connects (DataService,
// ServerHost) are not public, and a program that embeds the engine makes no calls over a network.
#ifndef BIGTABLE_TESTS_SUPPORT_FAULTY_NETWORK_H_
#define BIGTABLE_TESTS_SUPPORT_FAULTY_NETWORK_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"

#include "base/mutex.h"
#include "base/strings.h"
#include "cluster/server_host.h"
#include "cluster/server_role.h"
#include "messages/message_format.h"
#include "rpc/data_service.h"
#include "support/random.h"

namespace bigtable {

class FaultyNetwork {
 public:
  // A fault with the value n occurs in one of n messages; 0: never.
  struct Faults {
    uint64_t lose_request = 0;
    uint64_t lose_answer = 0;
    uint64_t damage = 0;
    uint64_t repeat = 0;  // two copies at a time
    uint64_t later = 0;   // one more copy, some calls later
    uint64_t delay = 0;
    absl::Duration longest_delay = absl::Milliseconds(1);
  };
  static Faults Everything() {
    return {.lose_request = 12,
            .lose_answer = 12,
            .damage = 20,
            .repeat = 10,
            .later = 10,
            .delay = 10};
  }
  struct Counts {
    std::atomic<int64_t> messages{0}, lost_requests{0}, lost_answers{0}, damaged{0}, repeated{0},
        delivered_later{0}, delayed{0}, unreachable{0};
  };

  FaultyNetwork(uint64_t seed, const Faults& faults) : faults_(faults), random_(seed) {}
  FaultyNetwork(const FaultyNetwork&) = delete;
  FaultyNetwork& operator=(const FaultyNetwork&) = delete;

  // For Cluster::SetServices.
  DataService* To(ServerHost* host) {
    DataService* const server = host->data_service();
    MutexLock lock(&mutex_);
    std::unique_ptr<Endpoint>& endpoint = endpoints_[server];
    if (endpoint == nullptr) endpoint = std::make_unique<Endpoint>(this, server, host->role());
    return endpoint.get();
  }
  // Drops all later messages to this server.
  void Disconnect(ServerHost* host) { static_cast<Endpoint*>(To(host))->Disconnect(); }
  // Drops the undelivered copies and all endpoints. Call this before the database is closed if the
  // network is used for another database.
  void Forget() {
    MutexLock lock(&mutex_);
    later_.clear();
    endpoints_.clear();
  }

  const Counts& counts() const { return counts_; }
  std::string Describe() const {
    return Cat(counts_.messages.load(), " messages, of which ", counts_.lost_requests.load(),
               " were lost, ", counts_.lost_answers.load(), " without a response, ",
               counts_.damaged.load(), " damaged, ", counts_.repeated.load(), " repeated, ",
               counts_.delivered_later.load(), " delivered again later, ", counts_.delayed.load(),
               " delayed, ", counts_.unreachable.load(), " for unreachable servers");
  }

 private:
  // The faults of one message.
  struct Fate {
    bool lose_request, lose_answer, damage_request, damage_answer, repeat, later;
    absl::Duration delay;
    uint64_t bit;
  };

  class Endpoint final : public DataService {
   public:
    Endpoint(FaultyNetwork* network, DataService* server, ServerRole role)
        : network_(network), server_(server), role_(role) {}

    ServerRole role() const { return role_; }
    void Disconnect() { is_disconnected_ = true; }
    absl::StatusOr<MutateResponse> Mutate(const MutateRequest& request) override {
      const auto answer = network_->Send(this, true, EncodeMessage(request));
      if (!answer.ok()) return answer.status();
      return Received(DecodeMutateResponse(*answer));
    }
    absl::StatusOr<ScanResponse> Scan(const ScanRequest& request) override {
      const auto answer = network_->Send(this, false, EncodeMessage(request));
      if (!answer.ok()) return answer.status();
      return Received(DecodeScanResponse(*answer));
    }

    // Delivers an encoded request at the server and returns the encoded response. Unavailable if
    // the request cannot be decoded, as if it were lost.
    absl::StatusOr<std::string> Deliver(bool is_mutate, const std::string& bytes) {
      if (is_disconnected_) {
        ++network_->counts_.unreachable;
        return absl::UnavailableError("the server is unreachable");
      }
      if (is_mutate) {
        const auto request = Received(DecodeMutateRequest(bytes));
        if (!request.ok()) return request.status();
        const auto response = server_->Mutate(*request);
        if (!response.ok()) return response.status();
        return EncodeMessage(*response);
      }
      const auto request = Received(DecodeScanRequest(bytes));
      if (!request.ok()) return request.status();
      const auto response = server_->Scan(*request);
      if (!response.ok()) return response.status();
      return EncodeMessage(*response);
    }

   private:
    // A damaged message is an error of the connection.
    template <typename T>
    static absl::StatusOr<T> Received(absl::StatusOr<T> message) {
      if (message.ok()) return message;
      return absl::UnavailableError(message.status().message());
    }

    FaultyNetwork* const network_;
    DataService* const server_;
    const ServerRole role_;
    std::atomic<bool> is_disconnected_{false};
  };

  struct Copy {
    Endpoint* endpoint;
    bool is_mutate;
    std::string bytes;
  };

  static std::string Damaged(std::string bytes, uint64_t bit) {
    const size_t at = bit / 8 % bytes.size();
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << bit % 8));
    return bytes;
  }

  bool Happens(uint64_t one_of) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return one_of != 0 && random_.OneIn(one_of);
  }
  Fate Draw() {
    MutexLock lock(&mutex_);
    const bool is_damaged = Happens(faults_.damage);
    const bool in_request = random_.OneIn(2);
    Fate fate;
    fate.lose_request = Happens(faults_.lose_request);
    fate.lose_answer = Happens(faults_.lose_answer);
    fate.damage_request = is_damaged && in_request;
    fate.damage_answer = is_damaged && !in_request;
    fate.repeat = Happens(faults_.repeat);
    fate.later = Happens(faults_.later);
    fate.delay = Happens(faults_.delay)
                     ? faults_.longest_delay * static_cast<double>(random_.Below(1000)) / 1000
                     : absl::ZeroDuration();
    fate.bit = random_.Next();
    return fate;
  }

  // Sometimes delivers one of the late copies.
  void DeliverLater(ServerRole role) {
    std::optional<Copy> copy;
    {
      MutexLock lock(&mutex_);
      std::vector<Copy>& later = later_[role];
      if (later.empty() || (later.size() < 20 && !random_.OneIn(4))) return;
      const size_t chosen = random_.Below(later.size());
      std::swap(later[chosen], later.back());
      copy = std::move(later.back());
      later.pop_back();
    }
    ++counts_.delivered_later;
    copy->endpoint->Deliver(copy->is_mutate, copy->bytes).IgnoreError();
  }

  absl::StatusOr<std::string> Send(Endpoint* endpoint, bool is_mutate, std::string bytes) {
    ++counts_.messages;
    DeliverLater(endpoint->role());
    const Fate fate = Draw();
    if (fate.later) {
      MutexLock lock(&mutex_);
      later_[endpoint->role()].push_back({endpoint, is_mutate, bytes});
    }
    if (fate.delay > absl::ZeroDuration()) {
      ++counts_.delayed;
      absl::SleepFor(fate.delay);
    }
    if (fate.lose_request) {
      ++counts_.lost_requests;
      return absl::UnavailableError("the request is lost");
    }
    counts_.damaged += fate.damage_request || fate.damage_answer ? 1 : 0;
    if (fate.damage_request) bytes = Damaged(std::move(bytes), fate.bit);
    std::thread other;
    if (fate.repeat) {
      ++counts_.repeated;
      other = std::thread([=] { endpoint->Deliver(is_mutate, bytes).IgnoreError(); });
    }
    absl::StatusOr<std::string> answer = endpoint->Deliver(is_mutate, bytes);
    if (other.joinable()) other.join();
    if (fate.lose_answer) {
      ++counts_.lost_answers;
      return absl::UnavailableError("the response is lost");
    }
    if (answer.ok() && fate.damage_answer) return Damaged(*std::move(answer), fate.bit);
    return answer;
  }

  const Faults faults_;
  Counts counts_;
  Mutex mutex_;
  Random random_ ABSL_GUARDED_BY(mutex_);
  std::map<DataService*, std::unique_ptr<Endpoint>> endpoints_ ABSL_GUARDED_BY(mutex_);
  std::map<ServerRole, std::vector<Copy>> later_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_FAULTY_NETWORK_H_
