// What responses of the data API say about where they come from: a
// google.bigtable.v2.ResponseParams with the cluster and its zone, as the trailer
// kResponseParamsTrailer. The metrics of Cloud Bigtable's clients have labels by it. All clusters
// of an instance have all of its data here, so it is the first one of the instance.
//
// Thread-safe. Cost of a call for an instance that is known: a shared lock and a lookup. A change
// of the catalogue makes all instances unknown.
#ifndef BIGTABLE_SERVER_DATA_RESPONSE_PARAMS_H_
#define BIGTABLE_SERVER_DATA_RESPONSE_PARAMS_H_

#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"

#include "server/admin/catalogue.h"
#include "server/admin/inventory.h"
#include "server/text/resource_name.h"

namespace bigtable::server {

inline constexpr char kResponseParamsTrailer[] = "x-goog-ext-425905942-bin";

class ResponseParams {
 public:
  // Both outlive this.
  ResponseParams(Database* database, Catalogue* catalogue, const InstanceName& default_instance)
      : catalogue_(catalogue), inventory_(database, catalogue, default_instance) {}
  ResponseParams(const ResponseParams&) = delete;
  ResponseParams& operator=(const ResponseParams&) = delete;

  // The serialized message for a resource of an instance, such as a table, or for the instance.
  // Null if there is no such instance; or, unless `may_read`, if the instance is not known yet.
  // Only calls that have succeeded may read the catalogue for it: others may name anything.
  std::shared_ptr<const std::string> Of(std::string_view resource, bool may_read);

 private:
  using Known = absl::flat_hash_map<std::string, std::shared_ptr<const std::string>>;

  std::shared_ptr<const std::string> Read(std::string_view instance) const;

  Catalogue* const catalogue_;
  const Inventory inventory_;
  std::shared_mutex mutex_;
  uint64_t changes_ = 0;  // of the catalogue when `known_` was empty
  Known known_;           // by the names of instances
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_DATA_RESPONSE_PARAMS_H_
