#include "server/data/response_params.h"

#include <cstddef>
#include <mutex>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "google/bigtable/v2/response_params.pb.h"

#include "bigtable/string_view.h"

namespace bigtable::server {
namespace {

// projects/P/instances/I of a name that begins with it; the name itself otherwise.
std::string_view InstanceOf(std::string_view resource) {
  size_t slash = 0;
  for (int i = 0; i < 4; ++i) {
    slash = resource.find('/', slash);
    if (slash == std::string_view::npos) return resource;
    ++slash;
  }
  return resource.substr(0, slash - 1);
}

std::string_view LastPart(std::string_view name) { return name.substr(name.rfind('/') + 1); }

}  // namespace

std::shared_ptr<const std::string> ResponseParams::Of(std::string_view resource, bool may_read) {
  const std::string_view instance = InstanceOf(resource);
  const uint64_t changes = catalogue_->changes();
  {
    const std::shared_lock<std::shared_mutex> lock(mutex_);
    if (changes_ == changes) {
      const auto found = known_.find(ToAbsl(instance));
      if (found != known_.end()) return found->second;
    }
  }
  if (!may_read) return nullptr;
  std::shared_ptr<const std::string> read = Read(instance);
  if (read == nullptr) return nullptr;
  const std::lock_guard<std::shared_mutex> lock(mutex_);
  if (changes_ != changes) known_.clear();
  changes_ = changes;
  known_.insert_or_assign(std::string(instance), read);
  return read;
}

std::shared_ptr<const std::string> ResponseParams::Read(std::string_view instance) const {
  const absl::StatusOr<InstanceName> name = ParseInstanceName(instance);
  if (!name.ok()) return nullptr;
  const absl::StatusOr<KnownInstance> known = inventory_.FindInstance(*name);
  if (!known.ok() || known->clusters.empty()) return nullptr;
  google::bigtable::v2::ResponseParams params;
  params.set_cluster_id(std::string(LastPart(known->clusters.front().name())));
  params.set_zone_id(std::string(LastPart(known->clusters.front().location())));
  return std::make_shared<const std::string>(params.SerializeAsString());
}

}  // namespace bigtable::server
