#include "convert/message_objects.h"

#include <cstdint>

#include "google/protobuf/wire_format_lite.h"

namespace bigtable::convert {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

class ObjectCounter {
 public:
  explicit ObjectCounter(CodedInputStream* bytes) : bytes_(*bytes) {}

  // The fields up to the end of the message, or of the group. Null: of a type that is not known.
  // False: the bytes are malformed.
  bool Count(const Descriptor* type, int depth) {
    while (const uint32_t tag = bytes_.ReadTag()) {
      if (WireFormatLite::GetTagWireType(tag) == WireFormatLite::WIRETYPE_END_GROUP) return true;
      const FieldDescriptor* const field = FieldOf(type, tag);
      if (field == nullptr) ++count_;
      if (!Field(WireFormatLite::GetTagWireType(tag), field, depth)) return false;
    }
    return bytes_.ConsumedEntireMessage() || bytes_.BytesUntilLimit() == 0;
  }
  size_t count() const { return count_; }

 private:
  // Null: it is not known, or comes in a form that is not its own. Of both an object is made.
  static const FieldDescriptor* FieldOf(const Descriptor* type, uint32_t tag) {
    if (type == nullptr) return nullptr;
    const FieldDescriptor* const field =
        type->FindFieldByNumber(WireFormatLite::GetTagFieldNumber(tag));
    if (field == nullptr) return nullptr;
    const WireFormatLite::WireType form = WireFormatLite::GetTagWireType(tag);
    const bool is_packed =
        form == WireFormatLite::WIRETYPE_LENGTH_DELIMITED && field->is_packable();
    const auto field_type = static_cast<WireFormatLite::FieldType>(field->type());
    return is_packed || form == WireFormatLite::WireTypeForFieldType(field_type) ? field : nullptr;
  }
  bool Field(WireFormatLite::WireType wire_type, const FieldDescriptor* field, int depth) {
    switch (wire_type) {
      case WireFormatLite::WIRETYPE_VARINT: {
        uint64_t number;
        return bytes_.ReadVarint64(&number);
      }
      case WireFormatLite::WIRETYPE_FIXED64:
        return bytes_.Skip(8);
      case WireFormatLite::WIRETYPE_FIXED32:
        return bytes_.Skip(4);
      case WireFormatLite::WIRETYPE_LENGTH_DELIMITED:
        return Bytes(field, depth);
      case WireFormatLite::WIRETYPE_START_GROUP:  // no type here has any
        return depth < CodedInputStream::GetDefaultRecursionLimit() && Count(nullptr, depth + 1);
      case WireFormatLite::WIRETYPE_END_GROUP:
        break;
    }
    return false;
  }

  bool Bytes(const FieldDescriptor* field, int depth) {
    int size;
    if (!bytes_.ReadVarintSizeAsInt(&size)) return false;
    ++count_;
    const bool is_message =
        field != nullptr && field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    if (!is_message || depth == CodedInputStream::GetDefaultRecursionLimit()) {
      // Numbers that are packed.
      if (field != nullptr && field->is_packable()) count_ += static_cast<size_t>(size);
      return bytes_.Skip(size);
    }
    const CodedInputStream::Limit limit = bytes_.PushLimit(size);
    const bool ok = Count(field->message_type(), depth + 1);
    bytes_.PopLimit(limit);
    return ok;
  }

  CodedInputStream& bytes_;
  size_t count_ = 0;
};

}  // namespace

size_t CountObjects(const Descriptor& type, CodedInputStream* bytes) {
  ObjectCounter counter(bytes);
  counter.Count(&type, 0);
  return counter.count();
}

}  // namespace bigtable::convert
