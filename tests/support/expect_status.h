// Expectations about absl::Status and absl::StatusOr, because Debian's Abseil has no matchers.
//
//   EXPECT_OK(table->Apply(mutation));
//   ASSERT_OK_AND_ASSIGN(Row row, table->ReadRow("r"));
//   // The code, and a part of the message:
//   EXPECT_STATUS(kNotFound, "no family \"x\"", table->Apply(mutation));
#ifndef BIGTABLE_TESTS_SUPPORT_EXPECT_STATUS_H_
#define BIGTABLE_TESTS_SUPPORT_EXPECT_STATUS_H_

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"

namespace bigtable {

inline absl::Status StatusOf(const absl::Status& status) { return status; }
template <typename T>
absl::Status StatusOf(const absl::StatusOr<T>& result) {
  return result.status();
}

inline testing::AssertionResult IsOk(const absl::Status& status) {
  if (status.ok()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << std::string(status.ToString());
}

// Whether the status has the code and its message contains each of `parts`.
template <typename... Parts>
testing::AssertionResult IsStatus(absl::StatusCode code, const absl::Status& status,
                                  const Parts&... parts) {
  const std::string text(status.ToString());
  if (status.code() != code) {
    return testing::AssertionFailure()
           << text << ", but expected " << absl::StatusCodeToString(code);
  }
  for (const std::string_view part : {std::string_view(parts)...}) {
    if (text.find(part) == std::string::npos) {
      return testing::AssertionFailure() << "\"" << part << "\" is not in: " << text;
    }
  }
  return testing::AssertionSuccess();
}

}  // namespace bigtable

#define EXPECT_OK(expression) EXPECT_TRUE(::bigtable::IsOk(::bigtable::StatusOf(expression)))
#define ASSERT_OK(expression) ASSERT_TRUE(::bigtable::IsOk(::bigtable::StatusOf(expression)))

#define EXPECT_STATUS(code, part, expression) \
  EXPECT_TRUE(                                \
      ::bigtable::IsStatus(::absl::StatusCode::code, ::bigtable::StatusOf(expression), part))

#define ASSERT_OK_AND_ASSIGN(target, expression) \
  ASSERT_OK_AND_ASSIGN_IMPL_(BT_TEST_CONCAT_(status_or_, __LINE__), target, expression)
#define BT_TEST_CONCAT_INNER_(a, b) a##b
#define BT_TEST_CONCAT_(a, b) BT_TEST_CONCAT_INNER_(a, b)
#define ASSERT_OK_AND_ASSIGN_IMPL_(holder, target, expression) \
  auto holder = (expression);                                  \
  ASSERT_TRUE(::bigtable::IsOk(holder.status()));              \
  target = *std::move(holder)

#endif  // BIGTABLE_TESTS_SUPPORT_EXPECT_STATUS_H_
