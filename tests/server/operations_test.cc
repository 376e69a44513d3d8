// Long-running operations, and consistency tokens.
#include <string>

#include "google/protobuf/empty.pb.h"
#include "google/protobuf/wrappers.pb.h"
#include "gtest/gtest.h"

#include "server/admin/operation_store.h"
#include "server/admin_fixture.h"

namespace bigtable::server {
namespace {

class OperationsTest : public AdminFixture {
 protected:
  std::string Add(const std::string& resource, size_t bytes = 1) {
    google::protobuf::BytesValue response;
    response.set_value(std::string(bytes, 'x'));
    return operations_->Add(resource, google::protobuf::Empty(), response).name();
  }
  static std::string Named(const std::string& name) { return "name: '" + name + "'"; }
  std::string Listed(const std::string& request) {
    std::string names;
    const auto listed = Call(&OperationsStub::ListOperations, request);
    for (const auto& operation : listed.operations()) names += operation.name() + " ";
    return names;
  }
};

TEST_F(OperationsTest, AnOperationIsFoundByItsNameUntilItIsDeleted) {
  const std::string name = Add("projects/p/instances/i");
  const std::string other = Add("projects/p/instances/i");
  EXPECT_NE(name, other);

  const std::string text = Text(&OperationsStub::GetOperation, Named(name));
  EXPECT_NE(text.find("done: true"), std::string::npos);
  EXPECT_EQ(Text(&OperationsStub::WaitOperation, Named(name)), text);
  EXPECT_EQ(Error(&OperationsStub::CancelOperation, Named(name)), "OK");
  EXPECT_EQ(Text(&OperationsStub::GetOperation, Named(name)), text);

  EXPECT_EQ(Error(&OperationsStub::DeleteOperation, Named(name)), "OK");
  const std::string missing = "NOT_FOUND: Operation not found: " + name;
  EXPECT_EQ(Error(&OperationsStub::GetOperation, Named(name)), missing);
  EXPECT_EQ(Error(&OperationsStub::WaitOperation, Named(name)), missing);
  EXPECT_EQ(Error(&OperationsStub::CancelOperation, Named(name)), missing);
  EXPECT_EQ(Error(&OperationsStub::DeleteOperation, Named(name)), missing);
  EXPECT_EQ(Error(&OperationsStub::GetOperation, Named(other)), "OK");
}

TEST_F(OperationsTest, AreListedByTheirResourceInPages) {
  const std::string first = Add("projects/p/instances/i");
  const std::string second = Add("projects/p/instances/a");
  const std::string third = Add("projects/p/instances/i/tables/t");
  Add("projects/p/instances/i2");

  EXPECT_EQ(Listed("name: 'operations/projects/p/instances/i'"), first + " " + third + " ");
  EXPECT_EQ(Listed("name: 'operations' page_size: 2"), first + " " + second + " ");
  const std::string token =
      Call(&OperationsStub::ListOperations, "name: 'operations' page_size: 2").next_page_token();
  EXPECT_EQ(Listed("name: 'operations' page_size: 1 page_token: '" + token + "'"), third + " ");
  EXPECT_TRUE(Error(&OperationsStub::ListOperations, "name: 'operations' filter: 'x'")
                  .starts_with("UNIMPLEMENTED: ListOperations has neither filters"));
}

TEST_F(OperationsTest, TheOldestAreForgottenWhenThereAreTooMany) {
  const std::string first = Add("r");
  const std::string second = Add("r");
  for (size_t i = 2; i < OperationStore::kMostOperations; ++i) Add("r");
  EXPECT_EQ(Error(&OperationsStub::GetOperation, Named(first)), "OK");
  const std::string last = Add("r");
  EXPECT_TRUE(operations_->Get(first).status().code() == absl::StatusCode::kNotFound);
  EXPECT_TRUE(operations_->Get(second).ok());
  EXPECT_TRUE(operations_->Get(last).ok());
}

TEST_F(OperationsTest, TheOldestAreForgottenWhenTheyAreTooLarge) {
  const std::string first = Add("r", OperationStore::kMostBytes / 2);
  const std::string second = Add("r", OperationStore::kMostBytes / 3);
  EXPECT_TRUE(operations_->Get(first).ok());
  const std::string third = Add("r", OperationStore::kMostBytes / 3);
  EXPECT_FALSE(operations_->Get(first).ok());
  EXPECT_TRUE(operations_->Get(second).ok());
  EXPECT_TRUE(operations_->Get(third).ok());
  ASSERT_TRUE(operations_->Erase(second).ok());
  Add("r", OperationStore::kMostBytes / 2);
  EXPECT_TRUE(operations_->Get(third).ok()) << "the erased one takes no space";
}

TEST_F(OperationsTest, AConsistencyTokenIsOfItsTable) {
  Call(&TableStub::CreateTable, "parent: 'projects/p/instances/default' table_id: 't'");
  Call(&TableStub::CreateTable, "parent: 'projects/p/instances/default' table_id: 'u'");
  const std::string name = "name: 'projects/p/instances/default/tables/t'";
  const std::string token = Call(&TableStub::GenerateConsistencyToken, name).consistency_token();
  const std::string with_token = " consistency_token: '" + token + "'";

  EXPECT_EQ(Text(&TableStub::CheckConsistency, name + with_token), "consistent: true");
  EXPECT_EQ(
      Text(&TableStub::CheckConsistency, name + with_token + " data_boost_read_local_writes {}"),
      "consistent: true");
  EXPECT_TRUE(Error(&TableStub::CheckConsistency,
                    "name: 'projects/p/instances/default/tables/u'" + with_token)
                  .starts_with("INVALID_ARGUMENT: consistency_token must be one that"));
  EXPECT_TRUE(Error(&TableStub::CheckConsistency, name)
                  .starts_with("INVALID_ARGUMENT: consistency_token must be one that"));
  const std::string missing = "name: 'projects/p/instances/default/tables/v'";
  const std::string not_found = "NOT_FOUND: Table not found: projects/p/instances/default/tables/v";
  EXPECT_EQ(Error(&TableStub::GenerateConsistencyToken, missing), not_found);
  EXPECT_EQ(Error(&TableStub::CheckConsistency, missing + with_token), not_found);
}

}  // namespace
}  // namespace bigtable::server
