#include "fuzz/server/methods.h"

#include "google/bigtable/admin/v2/bigtable_instance_admin.pb.h"
#include "google/bigtable/admin/v2/bigtable_table_admin.pb.h"
#include "google/bigtable/v2/bigtable.pb.h"
#include "google/longrunning/operations.pb.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/empty.pb.h"

#include "server/text/errors.h"

namespace bigtable::server {
namespace {

using google::protobuf::Message;

constexpr std::string_view kData = "google.bigtable.v2.Bigtable";
constexpr std::string_view kTables = "google.bigtable.admin.v2.BigtableTableAdmin";
constexpr std::string_view kInstances = "google.bigtable.admin.v2.BigtableInstanceAdmin";
constexpr std::string_view kOperations = "google.longrunning.Operations";

constexpr std::string_view kProject = "projects/p";
constexpr std::string_view kInstance = "projects/p/instances/first1";
constexpr std::string_view kCluster = "projects/p/instances/first1/clusters/first1-c1";
constexpr std::string_view kProfile = "projects/p/instances/first1/appProfiles/default";
constexpr std::string_view kTable = "projects/p/instances/first1/tables/t";

constexpr FuzzMethod kDataMethods[] = {
    {kData, "MutateRow", kTable},
    {kData, "MutateRows", kTable},
    {kData, "ReadRows", kTable, true},
    {kData, "CheckAndMutateRow", kTable},
    {kData, "ReadModifyWriteRow", kTable},
    {kData, "SampleRowKeys", kTable, true},
    {kData, "PingAndWarm", kInstance, true},
    {kData, "GetClientConfiguration", kInstance, true},
    {kTables, "ModifyColumnFamilies", kTable},
    {kTables, "DropRowRange", kTable},
    {kTables, "DeleteTable", kTable},
    {kTables, "CreateTable", kInstance},
    {kData, "ReadChangeStream", kTable, true},
    {kData, "ExecuteQuery", kInstance, true},
    {kData, "OpenTable", kTable, true},
    {kData, "GenerateInitialChangeStreamPartitions", kTable, true},
    {kTables, "UpdateTable", kTable},
};

constexpr FuzzMethod kAdminMethods[] = {
    {kTables, "CreateTable", kInstance},
    {kTables, "ListTables", kInstance, true},
    {kTables, "GetTable", kTable, true},
    {kTables, "UpdateTable", kTable},
    {kTables, "DeleteTable", kTable},
    {kTables, "ModifyColumnFamilies", kTable},
    {kTables, "DropRowRange", kTable},
    {kTables, "GenerateConsistencyToken", kTable, true},
    {kTables, "CheckConsistency", kTable, true},
    {kTables, "CreateBackup", kCluster, true},
    {kTables, "GetIamPolicy", kTable, true},
    {kInstances, "CreateInstance", kProject},
    {kInstances, "GetInstance", kInstance, true},
    {kInstances, "ListInstances", kProject, true},
    {kInstances, "UpdateInstance", kInstance},
    {kInstances, "PartialUpdateInstance", kInstance},
    {kInstances, "DeleteInstance", kInstance},
    {kInstances, "CreateCluster", kInstance},
    {kInstances, "GetCluster", kCluster, true},
    {kInstances, "ListClusters", kInstance, true},
    {kInstances, "UpdateCluster", kCluster},
    {kInstances, "PartialUpdateCluster", kCluster},
    {kInstances, "DeleteCluster", kCluster},
    {kInstances, "CreateAppProfile", kInstance},
    {kInstances, "GetAppProfile", kProfile, true},
    {kInstances, "ListAppProfiles", kInstance, true},
    {kInstances, "UpdateAppProfile", kProfile},
    {kInstances, "DeleteAppProfile", kProfile},
    {kOperations, "ListOperations", "operations", true},
    {kOperations, "GetOperation", "operations", true},
    {kOperations, "DeleteOperation", "operations", true},
    {kOperations, "CancelOperation", "operations", true},
    {kOperations, "WaitOperation", "operations", true},
    {kData, "MutateRow", kTable},
    {kData, "ReadRows", kTable, true},
    {kData, "PingAndWarm", kInstance, true},
};

const google::protobuf::MethodDescriptor* DescriptorOf(const FuzzMethod& method) {
  // The generated code registers what is in it when its messages are used.
  static const bool is_linked = (google::bigtable::v2::ReadRowsRequest::descriptor(),
                                 google::bigtable::admin::v2::CreateTableRequest::descriptor(),
                                 google::bigtable::admin::v2::CreateInstanceRequest::descriptor(),
                                 google::longrunning::GetOperationRequest::descriptor(),
                                 google::protobuf::Empty::descriptor(), true);
  static_cast<void>(is_linked);
  const auto* const pool = google::protobuf::DescriptorPool::generated_pool();
  const auto* const found = pool->FindMethodByName(Cat(method.service, ".", method.name));
  return found != nullptr ? found : pool->FindMethodByName(Cat(kData, ".PingAndWarm"));
}

std::unique_ptr<Message> New(const google::protobuf::Descriptor* type) {
  const Message* const prototype =
      google::protobuf::MessageFactory::generated_factory()->GetPrototype(type);
  return std::unique_ptr<Message>(prototype->New());
}

}  // namespace

std::string FuzzMethod::path() const { return Cat("/", service, "/", name); }
std::unique_ptr<Message> FuzzMethod::NewRequest() const {
  return New(DescriptorOf(*this)->input_type());
}
std::unique_ptr<Message> FuzzMethod::NewResponse() const {
  return New(DescriptorOf(*this)->output_type());
}

absl::Span<const FuzzMethod> DataMethods() { return kDataMethods; }
absl::Span<const FuzzMethod> AdminMethods() { return kAdminMethods; }

const FuzzMethod* FindMethod(absl::Span<const FuzzMethod> methods, std::string_view name) {
  for (const FuzzMethod& method : methods) {
    if (method.name == name) return &method;
  }
  return nullptr;
}

}  // namespace bigtable::server
