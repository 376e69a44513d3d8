// The etag of an app profile: it changes whenever the profile does. Pure functions.
#ifndef BIGTABLE_SERVER_ADMIN_APP_PROFILE_ETAG_H_
#define BIGTABLE_SERVER_ADMIN_APP_PROFILE_ETAG_H_

#include "google/bigtable/admin/v2/instance.pb.h"

namespace bigtable::server {

// Replaces the etag by the one of the other fields.
void SetEtag(google::bigtable::admin::v2::AppProfile* profile);

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_ADMIN_APP_PROFILE_ETAG_H_
