// How many objects protocol buffers make of the bytes of a message: of each text that is repeated
// or not known, each message, and each number that is not known.
//
// Pure function. Each byte is distrusted.
#ifndef BIGTABLE_CONVERT_MESSAGE_OBJECTS_H_
#define BIGTABLE_CONVERT_MESSAGE_OBJECTS_H_

#include <cstddef>

#include "google/protobuf/descriptor.h"
#include "google/protobuf/io/coded_stream.h"

namespace bigtable::convert {

// At least as many; of texts that are given twice, both. Reads up to the end of the message, or to
// the first byte that cannot be in it, where protocol buffers end too.
size_t CountObjects(const google::protobuf::Descriptor& type,
                    google::protobuf::io::CodedInputStream* bytes);

}  // namespace bigtable::convert

#endif  // BIGTABLE_CONVERT_MESSAGE_OBJECTS_H_
