// The methods of the server's gRPC services, with what a fuzz target needs to call them.
#ifndef BIGTABLE_TESTS_FUZZ_SERVER_METHODS_H_
#define BIGTABLE_TESTS_FUZZ_SERVER_METHODS_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/types/span.h"
#include "google/protobuf/message.h"

namespace bigtable::server {

// Plain value.
struct FuzzMethod {
  std::string_view service;
  std::string_view name;
  std::string_view resource;  // what a request names unless it says otherwise
  bool only_reads = false;

  std::string path() const;
  // Empty messages. Methods that the API definitions lack have those of PingAndWarm.
  std::unique_ptr<google::protobuf::Message> NewRequest() const;
  std::unique_ptr<google::protobuf::Message> NewResponse() const;
};

// A target's inputs have the indexes of these. So new methods go to the end, and the corpora keep
// their meaning.
absl::Span<const FuzzMethod> DataMethods();
// Those of the admin services, and three that write and read rows.
absl::Span<const FuzzMethod> AdminMethods();

// Null: there is none.
const FuzzMethod* FindMethod(absl::Span<const FuzzMethod> methods, std::string_view name);

}  // namespace bigtable::server

#endif  // BIGTABLE_TESTS_FUZZ_SERVER_METHODS_H_
