// Field masks of updates: which fields of a message replace those of a resource. Pure functions.
#ifndef BIGTABLE_SERVER_ADMIN_FIELD_MASKS_H_
#define BIGTABLE_SERVER_ADMIN_FIELD_MASKS_H_

#include <initializer_list>
#include <string_view>

#include "absl/status/status.h"
#include "google/protobuf/field_mask.pb.h"
#include "google/protobuf/message.h"

namespace bigtable::server {

// Replaces the fields of `resource` that the mask names by those of `update`; a field that `update`
// does not have is cleared. INVALID_ARGUMENT: the mask is empty, or names a field that is not one
// of `changeable` or a part of one.
absl::Status UpdateFields(const google::protobuf::Message& update,
                          const google::protobuf::FieldMask& mask,
                          std::initializer_list<std::string_view> changeable,
                          google::protobuf::Message* resource);

// Whether `path` is the field or a part of it.
bool IsOfField(std::string_view path, std::string_view field);

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_ADMIN_FIELD_MASKS_H_
