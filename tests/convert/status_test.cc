#include "convert/status.h"

#include <string>
#include <sys/resource.h>

#include "google/rpc/error_details.pb.h"
#include "gtest/gtest.h"

#include "bigtable/file_system.h"
#include "bigtable/system_shortage.h"

#include "base/status.h"
#include "convert/parse_text.h"
#include "support/database_fixture.h"
#include "support/seeds.h"

namespace bigtable::convert {
namespace {

class ToGrpcStatusTest : public DatabaseFixture {};

TEST(ToStatusTest, CodesAreTheSame) {
  for (const auto& [code, expected] :
       {std::pair(absl::StatusCode::kCancelled, grpc::StatusCode::CANCELLED),
        std::pair(absl::StatusCode::kInvalidArgument, grpc::StatusCode::INVALID_ARGUMENT),
        std::pair(absl::StatusCode::kDeadlineExceeded, grpc::StatusCode::DEADLINE_EXCEEDED),
        std::pair(absl::StatusCode::kNotFound, grpc::StatusCode::NOT_FOUND),
        std::pair(absl::StatusCode::kAlreadyExists, grpc::StatusCode::ALREADY_EXISTS),
        std::pair(absl::StatusCode::kPermissionDenied, grpc::StatusCode::PERMISSION_DENIED),
        std::pair(absl::StatusCode::kResourceExhausted, grpc::StatusCode::RESOURCE_EXHAUSTED),
        std::pair(absl::StatusCode::kFailedPrecondition, grpc::StatusCode::FAILED_PRECONDITION),
        std::pair(absl::StatusCode::kAborted, grpc::StatusCode::ABORTED),
        std::pair(absl::StatusCode::kOutOfRange, grpc::StatusCode::OUT_OF_RANGE),
        std::pair(absl::StatusCode::kUnimplemented, grpc::StatusCode::UNIMPLEMENTED),
        std::pair(absl::StatusCode::kInternal, grpc::StatusCode::INTERNAL),
        std::pair(absl::StatusCode::kUnavailable, grpc::StatusCode::UNAVAILABLE),
        std::pair(absl::StatusCode::kDataLoss, grpc::StatusCode::DATA_LOSS)}) {
    const absl::Status status(code, "why");
    EXPECT_EQ(ToGrpcStatus(status).error_code(), expected);
    EXPECT_EQ(ToGrpcStatus(status).error_message(), "why");
    EXPECT_EQ(ToGrpcStatus(status).error_details(), "");
    EXPECT_EQ(ToRpcStatus(status).code(), expected);
    EXPECT_EQ(ToRpcStatus(status).message(), "why");
  }
}

TEST(ToStatusTest, OkHasNothingElse) {
  EXPECT_TRUE(ToGrpcStatus(absl::OkStatus()).ok());
  EXPECT_EQ(ShowMessage(ToRpcStatus(absl::OkStatus())), "");
}

TEST(ToStatusTest, MessagesAreShortAndAscii) {
  EXPECT_EQ(ToRpcStatus(absl::InternalError("a\xff\xc3\xa9z")).message(), "a???z");
  EXPECT_EQ(ToGrpcStatus(absl::InternalError(std::string(3000, 'x'))).error_message(),
            std::string(2048, 'x'));
}

TEST(ToStatusTest, ACallThatIsRefusedForAWhileIsToldWhenToComeBack) {
  const grpc::Status status = ToGrpcStatus(UnavailableFor(absl::Milliseconds(1250), "why"));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(status.error_message(), "why");
  google::rpc::Status details;
  ASSERT_TRUE(details.ParseFromString(status.error_details()));
  ASSERT_EQ(details.details_size(), 1);
  google::rpc::RetryInfo retry;
  ASSERT_TRUE(details.details(0).UnpackTo(&retry));
  EXPECT_EQ(retry.retry_delay().seconds(), 1);
  EXPECT_EQ(retry.retry_delay().nanos(), 250'000'000);
}

TEST_F(ToGrpcStatusTest, ACallThatAQuotaRefusesIsToldWhenToComeBack) {
  Open();
  Table* const table = CreateTable("t", {"f"});
  ASSERT_OK(database_->SetTableQuota("t", {.requests_per_second = 1}));
  absl::Status refused;
  for (int i = 0; i < 10 && refused.ok(); ++i) {
    refused = table->Apply(RowMutation("r").Set("f:", "v"));
  }
  ASSERT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  const grpc::Status status = ToGrpcStatus(refused);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);

  google::rpc::Status details;
  ASSERT_TRUE(details.ParseFromString(status.error_details()));
  EXPECT_EQ(details.code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(details.message(), status.error_message());
  ASSERT_EQ(details.details_size(), 1);
  google::rpc::RetryInfo retry;
  ASSERT_TRUE(details.details(0).UnpackTo(&retry));
  const absl::Duration wait =
      absl::Seconds(retry.retry_delay().seconds()) + absl::Nanoseconds(retry.retry_delay().nanos());
  EXPECT_EQ(wait, absl::Trunc(*RetryAfter(refused), absl::Nanoseconds(1)));
  EXPECT_GT(wait, absl::ZeroDuration());
}

// What the system was short of passes, and the clients of Google try UNAVAILABLE again.
TEST(StatusOfCallTest, AShortageOfTheSystemIsUnavailable) {
  // It opens a pipe to see whether an object is there, and takes it for none without descriptors.
  if (kSanitized) GTEST_SKIP() << "UndefinedBehaviorSanitizer needs descriptors";
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none = {0, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const absl::Status shortage =
      bigtable::FileSystem::Posix()
          ->NewRandomAccessFile("/proc/self/stat", bigtable::FileSystem::ReadMode::kPositional)
          .status();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(shortage.code(), absl::StatusCode::kResourceExhausted) << shortage;
  EXPECT_TRUE(IsSystemShortage(shortage));
  const google::rpc::Status proto = ToRpcStatus(Annotate(shortage, "what"));
  EXPECT_EQ(proto.code(), static_cast<int>(absl::StatusCode::kUnavailable));
  google::rpc::RetryInfo retry;
  ASSERT_EQ(proto.details_size(), 1);
  ASSERT_TRUE(proto.details(0).UnpackTo(&retry));
  EXPECT_EQ(retry.retry_delay().seconds(), 1);
  // Another one, of the database's own limits, stays what it is.
  const absl::Status quota = absl::ResourceExhaustedError("a quota");
  EXPECT_FALSE(IsSystemShortage(quota));
  EXPECT_EQ(ToRpcStatus(quota).code(), static_cast<int>(absl::StatusCode::kResourceExhausted));
  EXPECT_EQ(ToRpcStatus(quota).details_size(), 0);
}

TEST(StatusOfCallTest, GoesToGrpcAndBack) {
  const absl::Status wait = UnavailableFor(absl::Milliseconds(2500), "later");
  for (const absl::Status& status : {absl::OkStatus(), absl::NotFoundError("none"), wait}) {
    EXPECT_EQ(ToStatus(ToGrpcStatus(status)), status);
  }
}

}  // namespace
}  // namespace bigtable::convert
