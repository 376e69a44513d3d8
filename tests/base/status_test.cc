#include "base/status.h"

#include "absl/strings/cord.h"
#include "gtest/gtest.h"

namespace bigtable {
namespace {

TEST(StatusTest, AnnotateKeepsCodeMessageAndPayloads) {
  absl::Status status = absl::ResourceExhaustedError("too many");
  status.SetPayload("a", absl::Cord("1"));
  status.SetPayload("b", absl::Cord("2"));
  const absl::Status annotated = Annotate(status, "table t");
  EXPECT_EQ(annotated.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(annotated.message(), "table t: too many");
  EXPECT_EQ(annotated.GetPayload("a"), absl::Cord("1"));
  EXPECT_EQ(annotated.GetPayload("b"), absl::Cord("2"));
}

}  // namespace
}  // namespace bigtable
