// App profiles.
#include <string>

#include "gtest/gtest.h"

#include "server/admin_fixture.h"

namespace bigtable::server {
namespace {

constexpr const char* kBatch = "name: 'projects/p/instances/default/appProfiles/batch'";

class AppProfilesTest : public AdminFixture {
 protected:
  void SetUp() override {
    AdminFixture::SetUp();
    Call(&TableStub::CreateTable, "parent: 'projects/p/instances/default' table_id: 't'");
  }
  static std::string CreateRequest(const std::string& id, const std::string& profile) {
    return "parent: 'projects/p/instances/default' app_profile_id: '" + id + "' app_profile { " +
           profile + " }";
  }
  admin::AppProfile CreateBatch() {
    return Call(&InstanceStub::CreateAppProfile,
                CreateRequest("batch", "description: 'At night' multi_cluster_routing_use_any {}"));
  }
  std::string UpdateError(const std::string& profile, const std::string& mask) {
    return Error(&InstanceStub::UpdateAppProfile, "app_profile { " + std::string(kBatch) + " " +
                                                      profile + " } update_mask { " + mask + " }");
  }
};

TEST_F(AppProfilesTest, AProfileIsCreatedDurably) {
  admin::AppProfile created = CreateBatch();
  LosePower();
  EXPECT_EQ(Show(created), Text(&InstanceStub::GetAppProfile, kBatch));
  EXPECT_FALSE(created.etag().empty());
  created.clear_etag();
  EXPECT_EQ(Show(created),
            "name: \"projects/p/instances/default/appProfiles/batch\" description: \"At night\" "
            "multi_cluster_routing_use_any { } standard_isolation { priority: PRIORITY_HIGH }");
}

TEST_F(AppProfilesTest, BadRequestsCreateNothing) {
  const auto error = [&](const std::string& id, const std::string& profile) {
    return Error(&InstanceStub::CreateAppProfile, CreateRequest(id, profile));
  };
  EXPECT_TRUE(error("a b", "multi_cluster_routing_use_any {}")
                  .starts_with("INVALID_ARGUMENT: the id of an app profile must be"));
  EXPECT_EQ(
      error("batch", ""),
      "INVALID_ARGUMENT: an app profile must have a routing policy: single_cluster_routing or "
      "multi_cluster_routing_use_any");
  const std::string no_cluster =
      "INVALID_ARGUMENT: an app profile must route to clusters of its instance, and "
      "projects/p/instances/default/clusters/none does not exist";
  EXPECT_EQ(error("batch", "single_cluster_routing { cluster_id: 'none' }"), no_cluster);
  EXPECT_EQ(error("batch",
                  "multi_cluster_routing_use_any { cluster_ids: 'default-c1' "
                  "cluster_ids: 'none' }"),
            no_cluster);
  EXPECT_EQ(error("default", "multi_cluster_routing_use_any {}"),
            "ALREADY_EXISTS: App profile already exists: "
            "projects/p/instances/default/appProfiles/default");
  EXPECT_EQ(Error(&InstanceStub::GetAppProfile, kBatch),
            "NOT_FOUND: App profile not found: projects/p/instances/default/appProfiles/batch");
  EXPECT_EQ(Error(&InstanceStub::CreateAppProfile,
                  "parent: 'projects/p/instances/none' app_profile_id: 'a'"),
            "NOT_FOUND: Instance not found: projects/p/instances/none");
}

TEST_F(AppProfilesTest, AnUpdateReplacesWhatItsMaskNamesAndChangesTheEtag) {
  const std::string etag = CreateBatch().etag();
  const auto operation =
      Call(&InstanceStub::UpdateAppProfile,
           "app_profile { " + std::string(kBatch) +
               " description: 'x' single_cluster_routing {"
               " cluster_id: 'default-c1' } } update_mask { paths: 'single_cluster_routing' }");
  const auto profile = Call(&InstanceStub::GetAppProfile, kBatch);
  EXPECT_EQ(Unpack<admin::AppProfile>(operation), Show(profile));
  EXPECT_EQ(profile.description(), "At night");
  EXPECT_EQ(profile.single_cluster_routing().cluster_id(), "default-c1");
  EXPECT_NE(profile.etag(), etag);

  EXPECT_EQ(UpdateError("description: 'y' etag: '" + etag + "'", "paths: 'description'"),
            "ABORTED: app profile projects/p/instances/default/appProfiles/batch has the etag \"" +
                profile.etag() + "\", not \"" + etag + "\": it was changed");
  EXPECT_EQ(UpdateError("description: 'y' etag: '" + profile.etag() + "'", "paths: 'description'"),
            "OK");
  EXPECT_EQ(Call(&InstanceStub::GetAppProfile, kBatch).description(), "y");
}

TEST_F(AppProfilesTest, AnUpdateWithoutAMaskReplacesAllFields) {
  CreateBatch();
  EXPECT_EQ(UpdateError("single_cluster_routing { cluster_id: 'default-c1' }", ""), "OK");
  EXPECT_EQ(Call(&InstanceStub::GetAppProfile, kBatch).description(), "");
  EXPECT_EQ(
      UpdateError("description: 'x'", ""),
      "INVALID_ARGUMENT: an app profile must have a routing policy: single_cluster_routing or "
      "multi_cluster_routing_use_any");
  EXPECT_TRUE(UpdateError("", "paths: 'name'").starts_with("INVALID_ARGUMENT: update_mask names"));
}

TEST_F(AppProfilesTest, AreListedInPagesAndOfAllInstances) {
  CreateBatch();
  Call(&TableStub::CreateTable, "parent: 'projects/p/instances/default-2' table_id: 't'");
  std::string names;
  std::string token;
  do {
    const auto page =
        Call(&InstanceStub::ListAppProfiles,
             "parent: 'projects/p/instances/-' page_size: 2 page_token: '" + token + "'");
    for (const auto& profile : page.app_profiles()) names += profile.name() + " ";
    names += "| ";
    token = page.next_page_token();
  } while (!token.empty());
  EXPECT_EQ(names,
            "projects/p/instances/default-2/appProfiles/default "
            "projects/p/instances/default/appProfiles/batch | "
            "projects/p/instances/default/appProfiles/default | ");
}

TEST_F(AppProfilesTest, ADeletedProfileIsGone) {
  CreateBatch();
  const std::string name = "name: 'projects/p/instances/default/appProfiles/default'";
  EXPECT_EQ(Error(&InstanceStub::DeleteAppProfile, name + " ignore_warnings: true"), "OK");
  LosePower();
  EXPECT_EQ(Error(&InstanceStub::DeleteAppProfile, name),
            "NOT_FOUND: App profile not found: projects/p/instances/default/appProfiles/default");
  EXPECT_EQ(Call(&InstanceStub::ListAppProfiles, "parent: 'projects/p/instances/default'")
                .app_profiles_size(),
            1);
}

TEST_F(AppProfilesTest, TheProfileOfAnImplicitInstanceIsDeletedForGood) {
  EXPECT_EQ(Error(&InstanceStub::DeleteAppProfile,
                  "name: 'projects/p/instances/default/appProfiles/default'"),
            "OK");
  EXPECT_EQ(Text(&InstanceStub::ListAppProfiles, "parent: 'projects/p/instances/default'"), "");
  EXPECT_EQ(Error(&InstanceStub::GetInstance, "name: 'projects/p/instances/default'"), "OK");
}

}  // namespace
}  // namespace bigtable::server
