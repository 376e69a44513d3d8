#include "server/admin/field_masks.h"

#include <algorithm>
#include <string>
#include <vector>

#include "google/protobuf/util/field_mask_util.h"

#include "server/text/errors.h"

namespace bigtable::server {

using google::protobuf::util::FieldMaskUtil;

bool IsOfField(std::string_view path, std::string_view field) {
  return path == field || path.starts_with(Cat(field, "."));
}

absl::Status UpdateFields(const google::protobuf::Message& update,
                          const google::protobuf::FieldMask& mask,
                          std::initializer_list<std::string_view> changeable,
                          google::protobuf::Message* resource) {
  std::string fields;
  for (const std::string_view field : changeable) {
    fields += Cat(fields.empty() ? "" : ", ", field);
  }
  if (mask.paths().empty()) {
    return Invalid("update_mask must name the fields to update, of these: ", fields);
  }
  for (const std::string& path : mask.paths()) {
    const bool is_changeable =
        std::any_of(changeable.begin(), changeable.end(),
                    [&](std::string_view field) { return IsOfField(path, field); });
    std::vector<const google::protobuf::FieldDescriptor*> ignored;
    if (is_changeable &&
        FieldMaskUtil::GetFieldDescriptors(resource->GetDescriptor(), path, &ignored)) {
      continue;
    }
    return Invalid("update_mask names ", Quoted(path), ", and must name fields of these: ", fields);
  }
  FieldMaskUtil::MergeOptions options;
  options.set_replace_message_fields(true);
  options.set_replace_repeated_fields(true);
  FieldMaskUtil::MergeMessageTo(update, mask, options, resource);
  return absl::OkStatus();
}

}  // namespace bigtable::server
