#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "base/status.h"

namespace bigtable {
namespace {

bool ShareText(const absl::Status& a, const absl::Status& b) {
  return a.message().data() == b.message().data();
}

TEST(SharedErrorsTest, EqualErrorsShareTheirText) {
  SharedErrors errors;
  EXPECT_TRUE(errors.Share(absl::OkStatus()).ok());
  const absl::Status x = errors.Share(absl::NotFoundError("there is no x"));
  const absl::Status y = errors.Share(absl::NotFoundError("there is no y"));
  const absl::Status again = errors.Share(absl::NotFoundError("there is no x"));
  EXPECT_EQ(again, x);
  EXPECT_TRUE(ShareText(again, x));
  EXPECT_FALSE(ShareText(x, y));
}

TEST(SharedErrorsTest, ErrorsThatDifferStayWhatTheyAre) {
  SharedErrors errors;
  EXPECT_TRUE(absl::IsNotFound(errors.Share(absl::NotFoundError("there is no x"))));
  EXPECT_TRUE(absl::IsAborted(errors.Share(absl::AbortedError("there is no x"))));
  absl::Status with_payload = absl::NotFoundError("there is no x");
  with_payload.SetPayload("url", absl::Cord("p"));
  EXPECT_TRUE(errors.Share(with_payload).GetPayload("url").has_value());
  for (int i = 0; i < 100; ++i) {
    const absl::Status error = absl::NotFoundError(absl::StrCat("there is no ", i));
    EXPECT_EQ(errors.Share(error), error);
  }
}

}  // namespace
}  // namespace bigtable
