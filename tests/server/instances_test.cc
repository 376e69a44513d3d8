// Instances: those that were created, and those that exist because they have tables.
#include <string>

#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "server/admin_fixture.h"

namespace bigtable::server {
namespace {

constexpr const char* kCreateFirst =
    "parent: 'projects/p' instance_id: 'first-one' instance { display_name: 'The first'"
    "  labels { key: 'env' value: 'test' } }"
    " clusters { key: 'cluster-1' value { location: 'projects/p/locations/zone-a' serve_nodes: 3 } "
    "}";
constexpr const char* kFirst = "name: 'projects/p/instances/first-one'";

class InstancesTest : public AdminFixture {
 protected:
  void CreateTable(const std::string& instance, const std::string& id) {
    Call(&TableStub::CreateTable, "parent: '" + instance + "' table_id: '" + id + "'");
  }
  std::string Listed() {
    std::string names;
    const auto listed = Call(&InstanceStub::ListInstances, "parent: 'projects/p'");
    for (const auto& instance : listed.instances()) names += instance.name() + " ";
    return names;
  }
};

TEST_F(InstancesTest, AnInstanceIsCreatedWithItsClustersAndADefaultProfileDurably) {
  const auto operation = Call(&InstanceStub::CreateInstance, kCreateFirst);
  LosePower();

  auto instance = Call(&InstanceStub::GetInstance, kFirst);
  EXPECT_EQ(Unpack<admin::Instance>(operation), Show(instance));
  EXPECT_GT(instance.create_time().seconds(), 0);
  instance.clear_create_time();
  EXPECT_EQ(Show(instance),
            "name: \"projects/p/instances/first-one\" display_name: \"The first\" state: READY "
            "type: PRODUCTION labels { key: \"env\" value: \"test\" }");
  EXPECT_EQ(Text(&InstanceStub::ListClusters, "parent: 'projects/p/instances/first-one'"),
            "clusters { name: \"projects/p/instances/first-one/clusters/cluster-1\" location: "
            "\"projects/p/locations/zone-a\" state: READY serve_nodes: 3 default_storage_type: SSD "
            "node_scaling_factor: NODE_SCALING_FACTOR_1X }");
  const auto profiles =
      Call(&InstanceStub::ListAppProfiles, "parent: 'projects/p/instances/first-one'");
  ASSERT_EQ(profiles.app_profiles_size(), 1);
  EXPECT_EQ(profiles.app_profiles(0).name(), "projects/p/instances/first-one/appProfiles/default");
  EXPECT_EQ(profiles.app_profiles(0).single_cluster_routing().cluster_id(), "cluster-1");
  admin::CreateInstanceMetadata metadata;
  ASSERT_TRUE(operation.metadata().UnpackTo(&metadata));
  EXPECT_EQ(metadata.original_request().instance_id(), "first-one");
  EXPECT_TRUE(metadata.has_request_time() && metadata.has_finish_time());
}

TEST_F(InstancesTest, BadRequestsCreateNothing) {
  const auto error = [&](const std::string& request) {
    return Error(&InstanceStub::CreateInstance, request);
  };
  const std::string cluster =
      " clusters { key: 'cluster-1' value { location: 'projects/p/locations/z' } }";
  EXPECT_EQ(error("parent: 'projects/p' instance_id: 'short'" + cluster),
            "INVALID_ARGUMENT: the id of an instance must be 6 to 33 of [a-z0-9-], begin with a "
            "letter and not end with '-', and is \"short\"");
  EXPECT_EQ(error("parent: 'p' instance_id: 'first-one'" + cluster),
            "INVALID_ARGUMENT: the name of a project must be of the form projects/{project}, and "
            "is \"p\"");
  EXPECT_EQ(error("parent: 'projects/p' instance_id: 'first-one'"),
            "INVALID_ARGUMENT: a new instance must have at least one cluster");
  EXPECT_EQ(error("parent: 'projects/p' instance_id: 'first-one' clusters { key: 'cluster-1' }"),
            "INVALID_ARGUMENT: the location of a cluster must be projects/p/locations/{zone}, and "
            "is \"\"");
  EXPECT_EQ(error("parent: 'projects/p' instance_id: 'first-one' instance { type: 9 }" + cluster),
            "INVALID_ARGUMENT: the type of an instance must be PRODUCTION (1) or DEVELOPMENT (2), "
            "and is 9");
  EXPECT_EQ(error("parent: 'projects/p' instance_id: 'first-one' instance { labels { key: '' } }" +
                  cluster),
            "INVALID_ARGUMENT: the key of a label must be 1 to 127 bytes, and the value at most as "
            "many, and they are \"\" and \"\"");
  EXPECT_EQ(Listed(), "");
}

TEST_F(InstancesTest, AnInstanceThatExistsIsNotCreatedAgain) {
  Call(&InstanceStub::CreateInstance, kCreateFirst);
  CreateTable("projects/p/instances/by-table", "t");

  EXPECT_EQ(Error(&InstanceStub::CreateInstance, kCreateFirst),
            "ALREADY_EXISTS: Instance already exists: projects/p/instances/first-one");
  EXPECT_EQ(Error(&InstanceStub::CreateInstance,
                  "parent: 'projects/p' instance_id: 'by-table' clusters { key: 'cluster-1' value "
                  "{ location: 'projects/p/locations/z' } }"),
            "ALREADY_EXISTS: Instance already exists: projects/p/instances/by-table");
}

TEST_F(InstancesTest, AnInstanceExistsWhileItHasTables) {
  CreateTable("projects/p/instances/x", "t");
  CreateTable(kInstance, "t");
  Call(&InstanceStub::CreateInstance, kCreateFirst);
  CreateTable("projects/p/instances/first-one", "t");
  CreateTable("projects/q/instances/y", "t");

  EXPECT_EQ(Listed(),
            "projects/p/instances/default projects/p/instances/first-one projects/p/instances/x ");
  EXPECT_EQ(Text(&InstanceStub::GetInstance, "name: 'projects/p/instances/x'"),
            "name: \"projects/p/instances/x\" display_name: \"x\" state: READY type: PRODUCTION");
  EXPECT_EQ(Text(&InstanceStub::ListClusters, "parent: 'projects/p/instances/x'"),
            "clusters { name: \"projects/p/instances/x/clusters/x-c1\" location: "
            "\"projects/p/locations/local\" state: READY serve_nodes: 1 default_storage_type: SSD "
            "}");

  Call(&TableStub::DeleteTable, "name: 'projects/p/instances/x/tables/t'");
  EXPECT_EQ(Error(&InstanceStub::GetInstance, "name: 'projects/p/instances/x'"),
            "NOT_FOUND: Instance not found: projects/p/instances/x");
}

TEST_F(InstancesTest, AnUpdateReplacesTheNameAndTheTypeAlone) {
  Call(&InstanceStub::CreateInstance, kCreateFirst);
  const auto updated =
      Call(&InstanceStub::UpdateInstance, std::string(kFirst) +
                                              " display_name: 'Other' type: DEVELOPMENT"
                                              " labels { key: 'a' value: 'b' }");
  EXPECT_EQ(Show(updated), Text(&InstanceStub::GetInstance, kFirst));
  EXPECT_EQ(updated.display_name(), "Other");
  EXPECT_EQ(updated.type(), admin::Instance::DEVELOPMENT);
  EXPECT_EQ(updated.labels().at("env"), "test");
  EXPECT_TRUE(updated.has_create_time());
}

TEST_F(InstancesTest, APartialUpdateReplacesWhatItsMaskNames) {
  Call(&InstanceStub::CreateInstance, kCreateFirst);
  const auto operation = Call(&InstanceStub::PartialUpdateInstance,
                              "instance { name: 'projects/p/instances/first-one' display_name: 'x'"
                              "  labels { key: 'a' value: 'b' } } update_mask { paths: 'labels' }");
  const auto updated = Call(&InstanceStub::GetInstance, kFirst);
  EXPECT_EQ(Unpack<admin::Instance>(operation), Show(updated));
  EXPECT_EQ(updated.display_name(), "The first");
  EXPECT_EQ(updated.labels_size(), 1);
  EXPECT_EQ(updated.labels().at("a"), "b");
  EXPECT_EQ(Error(&InstanceStub::PartialUpdateInstance,
                  "instance { name: 'projects/p/instances/first-one' } update_mask { paths: "
                  "'state' }"),
            "INVALID_ARGUMENT: update_mask names \"state\", and must name fields of these: "
            "display_name, type, labels");
  EXPECT_EQ(Error(&InstanceStub::PartialUpdateInstance,
                  "instance { name: 'projects/p/instances/none' } update_mask { paths: 'labels' }"),
            "NOT_FOUND: Instance not found: projects/p/instances/none");
}

TEST_F(InstancesTest, AnInstanceThatIsChangedExistsWithoutTables) {
  CreateTable("projects/p/instances/x", "t");
  Call(&InstanceStub::UpdateInstance, "name: 'projects/p/instances/x' display_name: 'X'");
  Call(&TableStub::DeleteTable, "name: 'projects/p/instances/x/tables/t'");
  LosePower();
  EXPECT_EQ(Call(&InstanceStub::GetInstance, "name: 'projects/p/instances/x'").display_name(), "X");
  EXPECT_EQ(Call(&InstanceStub::ListClusters, "parent: 'projects/p/instances/x'").clusters_size(),
            1);
  EXPECT_EQ(
      Call(&InstanceStub::ListAppProfiles, "parent: 'projects/p/instances/x'").app_profiles_size(),
      1);
}

TEST_F(InstancesTest, ADeletedInstanceHasNeitherTablesNorClustersNorProfiles) {
  Call(&InstanceStub::CreateInstance, kCreateFirst);
  CreateTable("projects/p/instances/first-one", "t");
  CreateTable("projects/p/instances/first-one", "u");
  CreateTable("projects/p/instances/first-one-2", "t");

  EXPECT_EQ(Error(&InstanceStub::DeleteInstance, kFirst), "OK");
  LosePower();

  EXPECT_EQ(Listed(), "projects/p/instances/first-one-2 ");
  EXPECT_EQ(Text(&TableStub::ListTables, "parent: 'projects/p/instances/first-one'"), "");
  EXPECT_EQ(Error(&InstanceStub::DeleteInstance, kFirst),
            "NOT_FOUND: Instance not found: projects/p/instances/first-one");
  // Nothing is left over for a new one.
  Call(&InstanceStub::CreateInstance,
       "parent: 'projects/p' instance_id: 'first-one' clusters { key: 'cluster-2' value { location:"
       " 'projects/p/locations/z' } }");
  const auto clusters =
      Call(&InstanceStub::ListClusters, "parent: 'projects/p/instances/first-one'");
  ASSERT_EQ(clusters.clusters_size(), 1);
  EXPECT_TRUE(clusters.clusters(0).name().ends_with("cluster-2"));
}

TEST_F(InstancesTest, AnImplicitInstanceIsDeletedWithItsTables) {
  CreateTable("projects/p/instances/x", "t");
  EXPECT_EQ(Error(&InstanceStub::DeleteInstance, "name: 'projects/p/instances/x'"), "OK");
  EXPECT_EQ(Listed(), "");
}

}  // namespace
}  // namespace bigtable::server
