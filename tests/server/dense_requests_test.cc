// Requests of many small fields, each of which costs more than its bytes: they are refused before
// anything is made of them.
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "google/bigtable/v2/bigtable.grpc.pb.h"
#include "google/protobuf/stubs/logging.h"
#include "grpcpp/client_context.h"
#include "grpcpp/support/slice.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "grpc/grpc.h"
#include "server/calls/request_objects.h"
#include "server/server.h"
#include "support/temp_directory.h"

namespace bigtable::server {
namespace {

constexpr const char* kDenseTable = "projects/local/instances/local/tables/t";

std::string FieldsOf(size_t times, const std::string& field) {
  std::string bytes;
  for (size_t i = 0; i < times; ++i) bytes += field;
  return bytes;
}

size_t CountedOf(const google::protobuf::Descriptor& type, const std::string& bytes) {
  // In two pieces.
  const grpc::Slice slices[] = {grpc::Slice(bytes.substr(0, bytes.size() / 2)),
                                grpc::Slice(bytes.substr(bytes.size() / 2))};
  return CountedSize(grpc::ByteBuffer(slices, 2), type);
}

TEST(CountedSizeTest, ManySmallFieldsCountMoreThanTheirBytes) {
  const auto& request = *data::MutateRowRequest::descriptor();
  const std::string mutation("\x1a\x00", 2);
  EXPECT_EQ(CountedOf(request, FieldsOf(100, mutation)), 200) << "of a small request";
  EXPECT_EQ(CountedOf(request, FieldsOf(10'000, mutation)), 10'000 * kCountedPerObject);
  EXPECT_EQ(CountedOf(*data::ReadRowsRequest::descriptor(),
                      "\x12\xb0\xea\x01" + FieldsOf(10'000, "\x0a\x01r")),
            10'001 * kCountedPerObject)
      << "within a message";
  EXPECT_EQ(CountedOf(request, FieldsOf(10'000, std::string("\xfa\x01\x00", 3))),
            20'000 * kCountedPerObject)
      << "of fields that are not known";
  EXPECT_EQ(CountedOf(*data::ReadRowsRequest::descriptor(),
                      "\xfb\x01" + FieldsOf(10'000, "\x20\x01") + "\xfc\x01"),
            10'001 * kCountedPerObject)
      << "of a group, in which all fields are such";
  EXPECT_EQ(CountedOf(request, FieldsOf(10'000, "\x0b\x0c")), 10'000 * kCountedPerObject)
      << "of a text that comes as a group";
  EXPECT_EQ(CountedOf(request, FieldsOf(10'000, std::string("\x08\x00", 2))),
            10'000 * kCountedPerObject)
      << "of a text that comes as a number";
  EXPECT_EQ(CountedOf(request, "\x22\x80\x80\x04" + std::string(1 << 16, 'v')), (1 << 16) + 4)
      << "of one large text";
  EXPECT_EQ(CountedOf(request, FieldsOf(10'000, mutation) + "\xff\xff\xff\xff\xff\xff\xff"),
            10'000 * kCountedPerObject)
      << "up to what cannot be read";
}

class DenseRequestsTest : public testing::Test {
 protected:
  static constexpr uint64_t kMemory = 8 << 20;  // so a request has at most 2 MiB

  static void SetUpTestSuite() { grpc_init(); }
  void SetUp() override {
    ServerOptions options;
    options.directory = directory_.database();
    options.address = "unix:" + directory_.path() + "/socket";
    options.http = "";
    options.memory = kMemory;
    absl::StatusOr<std::unique_ptr<Server>> server = Server::Start(options);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    TableSchema schema;
    schema.families["f"] = {};
    ASSERT_TRUE(server_->database()->CreateTable("t", schema).ok());
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(-1);
    stub_ = data::Bigtable::NewStub(server_->InProcessChannel(arguments));
  }
  data::ReadRowsRequest KeysRequest(int keys) const {
    data::ReadRowsRequest request;
    request.set_table_name(kDenseTable);
    for (int i = 0; i < keys; ++i) request.mutable_rows()->add_row_keys(absl::StrCat("row", i));
    return request;
  }
  grpc::Status Read(const data::ReadRowsRequest& request) {
    grpc::ClientContext context;
    const auto reader = stub_->ReadRows(&context, request);
    for (data::ReadRowsResponse response; reader->Read(&response);) {
    }
    return reader->Finish();
  }

  TempDirectory directory_{TempDirectory::Where::kMemory};
  std::unique_ptr<Server> server_;
  std::unique_ptr<data::Bigtable::Stub> stub_;
};

TEST_F(DenseRequestsTest, AreRefusedIfTheirObjectsNeedTooMuchMemory) {
  data::MutateRowRequest request;
  request.set_table_name(kDenseTable);
  request.set_row_key("r");
  data::Mutation* const mutation = request.add_mutations();
  mutation->mutable_set_cell()->set_family_name("f");
  mutation->mutable_set_cell()->set_value(std::string(1 << 20, 'v'));
  const auto apply = [&] {
    grpc::ClientContext context;
    data::MutateRowResponse response;
    return stub_->MutateRow(&context, request, &response).error_code();
  };
  EXPECT_EQ(apply(), grpc::StatusCode::OK) << "one of a megabyte";
  mutation->Clear();
  for (int i = 0; i < 200'000; ++i) request.add_mutations();
  EXPECT_EQ(apply(), grpc::StatusCode::RESOURCE_EXHAUSTED) << "200,000 of two bytes each";
  EXPECT_EQ(server_->admission().executing(), 0);
}

// Those of MutateRows, which are read without protocol buffers as far as they can be.
TEST_F(DenseRequestsTest, BatchesAreRefusedIfWhatIsMadeOfThemNeedsTooMuchMemory) {
  constexpr size_t kTooMany = kMemory / 4 / kCountedPerObject + 10'000;
  const auto apply = [&](const std::string& unknown, size_t times) {
    data::MutateRowsRequest request;
    request.set_table_name(kDenseTable);
    data::MutateRowsRequest::Entry* const entry = request.add_entries();
    entry->set_row_key("r");
    entry->add_mutations()->mutable_set_cell()->set_family_name("f");
    EXPECT_TRUE(request.MergeFromString(FieldsOf(times, unknown)));
    grpc::ClientContext context;
    const auto reader = stub_->MutateRows(&context, request);
    for (data::MutateRowsResponse response; reader->Read(&response);) {
    }
    return reader->Finish().error_code();
  };
  const std::string unknown("\x7a\x00", 2);
  EXPECT_EQ(apply(unknown, 1000), grpc::StatusCode::OK) << "a few fields that are not known";
  EXPECT_EQ(apply(unknown, kTooMany / 2), grpc::StatusCode::RESOURCE_EXHAUSTED)
      << "two objects each";
  EXPECT_EQ(apply(std::string("\x12\x04\x12\x02\x3a\x00", 6), kTooMany / 3),
            grpc::StatusCode::RESOURCE_EXHAUSTED)
      << "mutations of six bytes";
  EXPECT_EQ(server_->admission().executing(), 0U);
  const auto refused =
      server_->admission().refused()[static_cast<size_t>(Admission::Reason::kTooLarge)];
  EXPECT_EQ(refused, 2U);
}

TEST_F(DenseRequestsTest, ARowSetIsLimited) {
  EXPECT_EQ(Read(KeysRequest(1000)).error_code(), grpc::StatusCode::OK);
  const grpc::Status refused = Read(KeysRequest(110'000));
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED) << "many short keys";
  data::ReadRowsRequest request = KeysRequest(0);
  for (int i = 0; i < 300; ++i) request.mutable_rows()->add_row_keys(std::string(4000, 'k'));
  const grpc::Status large = Read(request);
  EXPECT_EQ(large.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(large.error_message(),
            "a row set must have at most 1048576 bytes, and this one has 1200900");
}

// A stream whose client does not read keeps them.
TEST_F(DenseRequestsTest, AStreamOfManyRowsCountsAsSeveralStreams) {
  absl::StatusOr<Table*> table = server_->database()->OpenTable("t");
  ASSERT_TRUE(table.ok());
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE((*table)
                    ->Apply(RowMutation(absl::StrCat("row", i)).Set("f:", std::string(2000, 'v')))
                    .ok());
  }
  const Streams& streams = server_->data().streams();
  const data::ReadRowsRequest request = KeysRequest(20'000);
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
  std::vector<std::unique_ptr<grpc::ClientReader<data::ReadRowsResponse>>> readers;
  const auto open = [&] {
    contexts.push_back(std::make_unique<grpc::ClientContext>());
    readers.push_back(stub_->ReadRows(contexts.back().get(), request));
    data::ReadRowsResponse response;
    return readers.back()->Read(&response);
  };
  ASSERT_TRUE(open());
  EXPECT_EQ(streams.running(), 1);
  EXPECT_GT(streams.weight(), 80);
  EXPECT_LT(streams.weight(), 128);
  ASSERT_TRUE(open());
  EXPECT_FALSE(open()) << "of 256 streams they have used more than 160";
  EXPECT_EQ(readers.back()->Finish().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(Read(KeysRequest(10)).error_code(), grpc::StatusCode::OK);
  for (const auto& context : contexts) context->TryCancel();
  readers.pop_back();
  for (const auto& reader : readers) EXPECT_FALSE(reader->Finish().ok());
}

}  // namespace
}  // namespace bigtable::server
