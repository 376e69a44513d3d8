#include "fuzz/server/message_builder.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>

#include "absl/types/span.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/descriptor.pb.h"

namespace bigtable::server {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr int kDeepest = 24;  // more than a filter may be
constexpr uint8_t kMostFields = 6;

constexpr std::string_view kNames[] = {
    "projects/p/instances/first1/tables/t",
    "projects/p/instances/first1/tables/new",
    "projects/q/instances/other1/tables/t",
    "projects/p/instances/first1",
    "projects/q/instances/other1",
    "projects/p/instances/second",
    "projects/p/instances/-",
    "projects/p/instances/first1/clusters/first1-c1",
    "projects/p/instances/second/clusters/second-c1",
    "projects/p/instances/first1/appProfiles/default",
    "projects/p/instances/second/appProfiles/a",
    "projects/p/locations/zone",
    "projects/p",
    "projects/q/instances/other1/tables/q..other1..t",
    "projects/p/instances/server/tables/server..catalogue",
    "projects/\"/instances/\n/tables/t",
    "operations/projects/p/instances/first1",
    "operations",
    "consistent:projects/p/instances/first1/tables/t",
};
constexpr std::string_view kIds[] = {"t",      "new",       "f", "g",    "n",       "h",
                                     "second", "second-c1", "a", "a..b", "default", "first1-c1"};
constexpr std::string_view kKeys[] = {"a", "ab", "b", "\xff", "a\xff\xff", "v", "q", "a-label"};
constexpr std::string_view kRegexes[] = {"a.*",   "f|g",        ".*",     "\\C*",
                                         "[^a]+", "(a|b){2,9}", "a\\x00", "\\Qa\\E",
                                         "(?i)A", "a{1000}",    "("};
constexpr std::string_view kPaths[] = {"gc_rule",
                                       "value_type",
                                       "deletion_protection",
                                       "column_families",
                                       "display_name",
                                       "labels",
                                       "type",
                                       "serve_nodes",
                                       "cluster_config",
                                       "description",
                                       "single_cluster_routing",
                                       "gc_rule.max_num_versions",
                                       "multi_cluster_routing_use_any",
                                       "cluster_config.cluster_autoscaling_config",
                                       "name",
                                       "..."};

constexpr std::string_view kViews[] = {"", "", "", "a-view"};  // which are not served

using Texts = absl::Span<const std::string_view>;

// What texts of a field are likely to mean something.
Texts TextsOf(const FieldDescriptor& field) {
  const std::string_view name = field.name();
  if (name == "paths") return kPaths;
  if (name.ends_with("regex_filter")) return kRegexes;
  if (name == "name" || name == "parent" || name == "table_name" || name == "location" ||
      name == "consistency_token") {
    return kNames;
  }
  if (name.ends_with("view_name")) return kViews;
  const bool is_id = field.type() == FieldDescriptor::TYPE_STRING || name.ends_with("_id") ||
                     name.ends_with("_ids") || name == "id" || name == "family_name" ||
                     name == "page_token" || field.containing_type()->options().map_entry();
  return is_id ? Texts(kIds) : Texts(kKeys);
}

class MessageBuilder {
 public:
  explicit MessageBuilder(FuzzInput* input) : input_(*input) {}

  void Fill(Message* message, int depth) {
    const auto* const type = message->GetDescriptor();
    if (type->field_count() == 0) return;
    for (uint8_t fields = input_.Below(kMostFields); fields > 0 && !input_.at_end(); --fields) {
      Set(*type->field(input_.Byte() % type->field_count()), depth, message);
    }
  }

 private:
  void Set(const FieldDescriptor& field, int depth, Message* message) {
    const auto* const to = message->GetReflection();
    const bool adds = field.is_repeated();
#define SET(Type, value) \
  adds ? to->Add##Type(message, &field, value) : to->Set##Type(message, &field, value)
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_MESSAGE:
        if (depth == kDeepest) return;
        return Fill(adds ? to->AddMessage(message, &field) : to->MutableMessage(message, &field),
                    depth + 1);
      case FieldDescriptor::CPPTYPE_STRING:
        return SET(String, Text(field));
      case FieldDescriptor::CPPTYPE_BOOL:
        return SET(Bool, input_.Below(4) != 0);
      case FieldDescriptor::CPPTYPE_ENUM:
        return SET(EnumValue, input_.Byte());
      case FieldDescriptor::CPPTYPE_INT32:
        return SET(Int32, static_cast<int32_t>(Integer()));
      case FieldDescriptor::CPPTYPE_INT64:
        return SET(Int64, Integer());
      case FieldDescriptor::CPPTYPE_UINT32:
        return SET(UInt32, static_cast<uint32_t>(Integer()));
      case FieldDescriptor::CPPTYPE_UINT64:
        return SET(UInt64, static_cast<uint64_t>(Integer()));
      case FieldDescriptor::CPPTYPE_FLOAT:
        return SET(Float, static_cast<float>(Fraction()));
      case FieldDescriptor::CPPTYPE_DOUBLE:
        return SET(Double, Fraction());
    }
#undef SET
  }

  std::string Text(const FieldDescriptor& field) {
    switch (input_.Below(8)) {
      case 0: {  // any bytes; in a string ASCII, since parsing refuses one that is not UTF-8
        const bool is_string = field.type() == FieldDescriptor::TYPE_STRING;
        std::string bytes;
        for (uint8_t size = input_.Byte(); size > 0 && !input_.at_end(); --size) {
          bytes.push_back(static_cast<char>(input_.Byte() & (is_string ? 0x7f : 0xff)));
        }
        return bytes;
      }
      case 1: {  // around the limits of keys, qualifiers and names
        static constexpr size_t kSizes[] = {0,    50,   51,    64,    65,    128,  129,
                                            4096, 4097, 16384, 16385, 65535, 65536};
        const size_t size = kSizes[input_.Byte() % std::size(kSizes)];
        return std::string(size, static_cast<char>('a' + input_.Below(3)));
      }
      case 2: {  // two texts one after the other
        std::string text(Pick(TextsOf(field)));
        return text.append(Pick(TextsOf(field)));
      }
      case 3:
        return std::string(Pick(kNames));
      default:
        return std::string(Pick(TextsOf(field)));
    }
  }
  std::string_view Pick(Texts texts) { return texts[input_.Byte() % texts.size()]; }

  int64_t Integer() {
    using Limits = std::numeric_limits<int64_t>;
    switch (input_.Below(8)) {
      case 0:
        return static_cast<int64_t>(input_.Number());
      case 1: {
        static constexpr int64_t kBorders[] = {-1,
                                               Limits::min(),
                                               Limits::max(),
                                               Limits::max() - Limits::max() % 1000,
                                               std::numeric_limits<int32_t>::max(),
                                               std::numeric_limits<int32_t>::min(),
                                               315'576'000'000,
                                               -2,
                                               999'999'999};
        return kBorders[input_.Byte() % std::size(kBorders)];
      }
      case 2:
      case 3:
        return int64_t{1000} * input_.Byte();
      default:
        return input_.Byte() % 16;
    }
  }
  double Fraction() {
    static const double kFractions[] = {0.5, 0.999, 1e-300, 0, 1, -1, INFINITY, NAN};
    return kFractions[input_.Byte() % std::size(kFractions)];
  }

  FuzzInput& input_;
};

}  // namespace

void BuildMessage(FuzzInput* input, std::string_view resource, Message* message) {
  const auto* const type = message->GetDescriptor();
  for (const char* name : {"table_name", "parent", "name"}) {
    const FieldDescriptor* const field = type->FindFieldByName(name);
    if (field == nullptr || field->cpp_type() != FieldDescriptor::CPPTYPE_STRING) continue;
    message->GetReflection()->SetString(message, field, std::string(resource));
    break;
  }
  if (const FieldDescriptor* const key = type->FindFieldByName("row_key")) {
    message->GetReflection()->SetString(message, key, std::string(kKeys[0]));
  }
  MessageBuilder(input).Fill(message, 0);
}

}  // namespace bigtable::server
