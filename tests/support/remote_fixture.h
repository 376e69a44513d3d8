// A test whose calls reach the tablets as messages over a FaultyNetwork.
#ifndef BIGTABLE_TESTS_SUPPORT_REMOTE_FIXTURE_H_
#define BIGTABLE_TESTS_SUPPORT_REMOTE_FIXTURE_H_

#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>

#include "support/database_peer.h"
#include "support/faulty_network.h"
#include "support/tablets_fixture.h"

namespace bigtable {

class RemoteFixture : public TabletsFixture {
 protected:
  void OpenRemotely(int servers, const FaultyNetwork::Faults& faults, uint64_t seed = 1) {
    Open(WithServers(servers));
    network_ = std::make_unique<FaultyNetwork>(seed, faults);
    peer_.emplace(database_.get());
    peer_->UseServices([this](ServerHost* host) { return network_->To(host); });
  }
  void TearDown() override {
    database_.reset();
    if (network_ != nullptr) std::cout << network_->Describe() << "\n";
  }
  ServerHost* HostOf(const TabletServer* server) {
    for (const auto& host : peer_->Hosts()) {
      if (host->server() == server) return host.get();
    }
    return nullptr;
  }

  std::unique_ptr<FaultyNetwork> network_;
  std::optional<DatabasePeer> peer_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_REMOTE_FIXTURE_H_
