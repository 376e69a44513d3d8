// The times in the metadata of an operation that was done in its call.
#ifndef BIGTABLE_SERVER_ADMIN_CHANGE_TIMES_H_
#define BIGTABLE_SERVER_ADMIN_CHANGE_TIMES_H_

#include "google/protobuf/timestamp.pb.h"
#include "google/protobuf/util/time_util.h"

namespace bigtable::server {

inline google::protobuf::Timestamp TimestampNow() {
  return google::protobuf::util::TimeUtil::GetCurrentTime();
}

// Sets the times of CreateInstanceMetadata and the like.
template <typename Metadata>
void SetTimes(const google::protobuf::Timestamp& request_time, Metadata* metadata) {
  *metadata->mutable_request_time() = request_time;
  *metadata->mutable_finish_time() = TimestampNow();
}

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_ADMIN_CHANGE_TIMES_H_
