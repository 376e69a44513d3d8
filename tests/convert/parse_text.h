// Messages in protobuf's text format.
#ifndef BIGTABLE_TESTS_CONVERT_PARSE_TEXT_H_
#define BIGTABLE_TESTS_CONVERT_PARSE_TEXT_H_

#include <string>

#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace bigtable::convert {

template <typename Message>
Message ParseText(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message)) << text;
  return message;
}

// In one line, as it can be parsed again.
inline std::string ShowMessage(const google::protobuf::Message& message) {
  std::string text = message.ShortDebugString();
  return text;
}

}  // namespace bigtable::convert

#endif  // BIGTABLE_TESTS_CONVERT_PARSE_TEXT_H_
