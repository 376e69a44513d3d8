#include "server/admin/app_profile_etag.h"

#include <cstdint>
#include <string>

namespace bigtable::server {

void SetEtag(google::bigtable::admin::v2::AppProfile* profile) {
  profile->clear_etag();
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : profile->SerializeAsString()) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  std::string etag(16, '0');
  for (auto digit = etag.rbegin(); digit != etag.rend(); ++digit, hash >>= 4) {
    *digit = "0123456789abcdef"[hash & 15];
  }
  profile->set_etag(etag);
}

}  // namespace bigtable::server
