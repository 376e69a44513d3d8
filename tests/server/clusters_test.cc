// Clusters.
#include <string>

#include "gtest/gtest.h"

#include "server/admin_fixture.h"

namespace bigtable::server {
namespace {

constexpr const char* kFirstCluster = "projects/p/instances/default/clusters/default-c1";
constexpr const char* kSecondCluster = "projects/p/instances/default/clusters/second";

class ClustersTest : public AdminFixture {
 protected:
  void SetUp() override {
    AdminFixture::SetUp();
    Call(&TableStub::CreateTable, "parent: 'projects/p/instances/default' table_id: 't'");
  }
  static std::string Create(const std::string& id, const std::string& cluster) {
    return "parent: 'projects/p/instances/default' cluster_id: '" + id +
           "' cluster { location: 'projects/p/locations/z' " + cluster + " }";
  }
  std::string CreateError(const std::string& cluster) {
    return Error(&InstanceStub::CreateCluster, Create("second", cluster));
  }
  admin::Cluster Get(const std::string& name) {
    return Call(&InstanceStub::GetCluster, "name: '" + name + "'");
  }
};

TEST_F(ClustersTest, AClusterIsAddedBesideTheImplicitOneDurably) {
  const auto operation = Call(&InstanceStub::CreateCluster,
                              Create("second", "default_storage_type: HDD encryption_config {}"));
  LosePower();

  const auto cluster = Get(kSecondCluster);
  EXPECT_EQ(Unpack<admin::Cluster>(operation), Show(cluster));
  EXPECT_EQ(Show(cluster),
            "name: \"projects/p/instances/default/clusters/second\" location: "
            "\"projects/p/locations/z\" state: READY serve_nodes: 1 default_storage_type: HDD "
            "node_scaling_factor: NODE_SCALING_FACTOR_1X");
  EXPECT_EQ(Get(kFirstCluster).location(), "projects/p/locations/local");
  EXPECT_EQ(Call(&TableStub::GetTable,
                 "name: 'projects/p/instances/default/tables/t' view: REPLICATION_VIEW")
                .cluster_states_size(),
            2);
  EXPECT_EQ(Call(&InstanceStub::ListClusters, "parent: 'projects/p/instances/-'").clusters_size(),
            2);
  admin::CreateClusterMetadata metadata;
  ASSERT_TRUE(operation.metadata().UnpackTo(&metadata));
  EXPECT_EQ(metadata.original_request().cluster_id(), "second");
}

TEST_F(ClustersTest, BadRequestsCreateNothing) {
  EXPECT_TRUE(Error(&InstanceStub::CreateCluster, Create("A", ""))
                  .starts_with("INVALID_ARGUMENT: the id of a cluster must be 6 to 30"));
  EXPECT_EQ(CreateError("serve_nodes: -1"),
            "INVALID_ARGUMENT: serve_nodes must be a positive multiple of 1, and is -1");
  EXPECT_EQ(CreateError("serve_nodes: 3 node_scaling_factor: NODE_SCALING_FACTOR_2X"),
            "INVALID_ARGUMENT: serve_nodes must be a positive multiple of 2, and is 3");
  EXPECT_EQ(CreateError("encryption_config { kms_key_name: 'k' }"),
            "UNIMPLEMENTED: this server has no encryption with keys of the customer "
            "(encryption_config)");
  EXPECT_EQ(
      CreateError("cluster_config { cluster_autoscaling_config { autoscaling_limits {"
                  " min_serve_nodes: 3 max_serve_nodes: 2 } } }"),
      "INVALID_ARGUMENT: autoscaling_limits must have a min_serve_nodes of at least 1, and at "
      "most max_serve_nodes, and have 3 and 2");
  EXPECT_EQ(CreateError("cluster_config { cluster_autoscaling_config { autoscaling_limits {"
                        " min_serve_nodes: 1 max_serve_nodes: 2 } autoscaling_targets {"
                        " cpu_utilization_percent: 81 } } }"),
            "INVALID_ARGUMENT: cpu_utilization_percent must be from 10 to 80, and is 81");
  EXPECT_TRUE(CreateError("serve_nodes: 1 cluster_config { cluster_autoscaling_config {} }")
                  .starts_with("INVALID_ARGUMENT: a cluster must have either serve_nodes or"));
  EXPECT_EQ(Error(&InstanceStub::CreateCluster,
                  "parent: 'projects/p/instances/default' cluster_id: 'second' cluster { location: "
                  "'z' }"),
            "INVALID_ARGUMENT: the location of a cluster must be projects/p/locations/{zone}, and "
            "is \"z\"");
  EXPECT_EQ(Error(&InstanceStub::CreateCluster,
                  "parent: 'projects/p/instances/none' cluster_id: 'second' cluster { location: "
                  "'projects/p/locations/z' }"),
            "NOT_FOUND: Instance not found: projects/p/instances/none");
  EXPECT_EQ(Error(&InstanceStub::GetCluster, "name: '" + std::string(kSecondCluster) + "'"),
            "NOT_FOUND: Cluster not found: projects/p/instances/default/clusters/second");
  EXPECT_EQ(Error(&InstanceStub::CreateCluster, Create("default-c1", "")),
            "ALREADY_EXISTS: Cluster already exists: "
            "projects/p/instances/default/clusters/default-c1");
}

TEST_F(ClustersTest, AnUpdateChangesTheNumberOfNodes) {
  const std::string name = "name: '" + std::string(kFirstCluster) + "' ";
  const auto operation = Call(&InstanceStub::UpdateCluster,
                              name + "serve_nodes: 7 location: 'projects/p/locations/other'");
  EXPECT_EQ(Unpack<admin::Cluster>(operation), Show(Get(kFirstCluster)));
  EXPECT_EQ(Get(kFirstCluster).serve_nodes(), 7);
  EXPECT_EQ(Get(kFirstCluster).location(), "projects/p/locations/local");
  EXPECT_EQ(Error(&InstanceStub::UpdateCluster, name),
            "INVALID_ARGUMENT: serve_nodes must be a positive multiple of 1, and is 0");
  EXPECT_EQ(Error(&InstanceStub::UpdateCluster, "name: '" + std::string(kSecondCluster) + "'"),
            "NOT_FOUND: Cluster not found: projects/p/instances/default/clusters/second");
}

TEST_F(ClustersTest, AutomaticScalingBeginsAndEndsByPartialUpdates) {
  const std::string name = "cluster { name: '" + std::string(kFirstCluster) + "' ";
  const std::string mask = "update_mask { paths: ";
  const std::string automatic =
      "cluster_config { cluster_autoscaling_config { autoscaling_limits { min_serve_nodes: 2 "
      "max_serve_nodes: 5 } autoscaling_targets { cpu_utilization_percent: 60 } } } } ";
  Call(&InstanceStub::PartialUpdateCluster, name + automatic + mask + "'cluster_config' }");
  EXPECT_EQ(Get(kFirstCluster).serve_nodes(), 2);
  EXPECT_EQ(Get(kFirstCluster)
                .cluster_config()
                .cluster_autoscaling_config()
                .autoscaling_limits()
                .max_serve_nodes(),
            5);

  Call(&InstanceStub::PartialUpdateCluster,
       name + "serve_nodes: 9 } " + mask + "'cluster_config' paths: 'serve_nodes' }");
  EXPECT_EQ(Get(kFirstCluster).serve_nodes(), 9);
  EXPECT_FALSE(Get(kFirstCluster).cluster_config().has_cluster_autoscaling_config());
  EXPECT_EQ(
      Error(&InstanceStub::PartialUpdateCluster, name + "serve_nodes: 9 " + automatic + mask +
                                                     "'cluster_config' paths: 'serve_nodes' }"),
      "INVALID_ARGUMENT: a cluster must have either serve_nodes or "
      "cluster_autoscaling_config, and has both (serve_nodes 9)");
  EXPECT_EQ(Error(&InstanceStub::PartialUpdateCluster, name + "} " + mask + "'location' }"),
            "INVALID_ARGUMENT: update_mask names \"location\", and must name fields of these: "
            "serve_nodes, cluster_config");
}

// As the comments of PartialUpdateCluster in Google's API definitions have it.
TEST_F(ClustersTest, TheNodesOfAutomaticScalingAreTheServersToSet) {
  const std::string name = "cluster { name: '" + std::string(kFirstCluster) + "' ";
  const std::string config = "cluster_config { cluster_autoscaling_config { ";
  const std::string limits = "autoscaling_limits { min_serve_nodes: 2 max_serve_nodes: 5 } ";
  const std::string targets = "autoscaling_targets { cpu_utilization_percent: 60 } ";
  const auto update = [&](const std::string& cluster, const std::string& path) {
    return Error(&InstanceStub::PartialUpdateCluster,
                 name + cluster + "} update_mask { paths: " + path + " }");
  };
  ASSERT_EQ(
      update(config + limits + targets + "} }", "'cluster_config.cluster_autoscaling_config'"),
      "OK");
  ASSERT_EQ(Get(kFirstCluster).serve_nodes(), 2);

  EXPECT_EQ(update("serve_nodes: 4", "'serve_nodes'"), "OK");
  EXPECT_EQ(Get(kFirstCluster).serve_nodes(), 2);
  Call(&InstanceStub::UpdateCluster, "name: '" + std::string(kFirstCluster) + "' serve_nodes: 4");
  EXPECT_EQ(Get(kFirstCluster).serve_nodes(), 2);
  EXPECT_EQ(update(config + "autoscaling_limits { min_serve_nodes: 3 max_serve_nodes: 4 } } }",
                   "'cluster_config.cluster_autoscaling_config.autoscaling_limits'"),
            "OK");
  EXPECT_EQ(Get(kFirstCluster).serve_nodes(), 3);

  EXPECT_EQ(update("", "'cluster_config.cluster_autoscaling_config'"),
            "INVALID_ARGUMENT: an update that ends automatic scaling (cluster_config) must also "
            "set serve_nodes, and name it in the update_mask");
  EXPECT_EQ(
      update("serve_nodes: 7", "'serve_nodes' paths: 'cluster_config.cluster_autoscaling_config'"),
      "OK");
  EXPECT_EQ(Get(kFirstCluster).serve_nodes(), 7);
  EXPECT_FALSE(Get(kFirstCluster).has_cluster_config());
}

TEST_F(ClustersTest, AClusterWithoutAutomaticScalingHasNoConfig) {
  Call(&InstanceStub::CreateCluster, Create("second", "serve_nodes: 2 cluster_config {}"));
  EXPECT_FALSE(Get(kSecondCluster).has_cluster_config());
  const std::string name = "cluster { name: '" + std::string(kSecondCluster) + "' ";
  EXPECT_EQ(Error(&InstanceStub::PartialUpdateCluster,
                  name + "} update_mask { paths: 'cluster_config.cluster_autoscaling_config' }"),
            "OK");
  EXPECT_FALSE(Get(kSecondCluster).has_cluster_config());
  EXPECT_EQ(Get(kSecondCluster).serve_nodes(), 2);
}

TEST_F(ClustersTest, TheLastClusterAndOneThatAProfileNamesAreNotDeleted) {
  const std::string first = "name: '" + std::string(kFirstCluster) + "'";
  EXPECT_EQ(Error(&InstanceStub::DeleteCluster, first),
            "FAILED_PRECONDITION: cluster projects/p/instances/default/clusters/default-c1 is the "
            "last one of its instance, and cannot be deleted");
  Call(&InstanceStub::CreateCluster, Create("second", ""));
  EXPECT_EQ(Error(&InstanceStub::DeleteCluster, first),
            "FAILED_PRECONDITION: cluster projects/p/instances/default/clusters/default-c1 cannot "
            "be deleted, because app profile projects/p/instances/default/appProfiles/default "
            "routes to it");

  EXPECT_EQ(Error(&InstanceStub::DeleteCluster, "name: '" + std::string(kSecondCluster) + "'"),
            "OK");
  EXPECT_EQ(Error(&InstanceStub::DeleteCluster, "name: '" + std::string(kSecondCluster) + "'"),
            "NOT_FOUND: Cluster not found: projects/p/instances/default/clusters/second");
}

}  // namespace
}  // namespace bigtable::server
