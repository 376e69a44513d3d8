#include "server/text/resource_name.h"

#include <string>

#include "gtest/gtest.h"

namespace bigtable::server {
namespace {

const InstanceName kLocal = {"local", "local"};

std::string EngineNameOf(std::string_view name) {
  const absl::StatusOr<TableName> table = ParseTableName(name);
  if (!table.ok()) return std::string(table.status().message());
  const absl::StatusOr<std::string> engine_name = EngineTableName(*table, kLocal);
  if (!engine_name.ok()) return std::string(engine_name.status().message());
  // Nothing is lost on the way.
  EXPECT_EQ(TableOfEngine(*engine_name, kLocal), *table);
  return *engine_name;
}

TEST(ResourceNameTest, IsParsedIntoItsIds) {
  EXPECT_EQ(ParseProjectName("projects/p").value(), "p");
  EXPECT_EQ(ParseInstanceName("projects/p/instances/i").value(), (InstanceName{"p", "i"}));
  EXPECT_EQ(ParseTableName("projects/p/instances/i/tables/t").value(),
            (TableName{{"p", "i"}, "t"}));
  EXPECT_EQ(ParseClusterName("projects/p/instances/i/clusters/c").value(),
            (ClusterName{{"p", "i"}, "c"}));
  EXPECT_EQ(ParseAppProfileName("projects/p/instances/i/appProfiles/a").value(),
            (AppProfileName{{"p", "i"}, "a"}));
}

TEST(ResourceNameTest, IsWrittenAsItWasRead) {
  EXPECT_EQ((InstanceName{"p", "i"}).ToString(), "projects/p/instances/i");
  EXPECT_EQ((TableName{{"p", "i"}, "t"}).ToString(), "projects/p/instances/i/tables/t");
  EXPECT_EQ((ClusterName{{"p", "i"}, "c"}).ToString(), "projects/p/instances/i/clusters/c");
  EXPECT_EQ((AppProfileName{{"p", "i"}, "a"}).ToString(), "projects/p/instances/i/appProfiles/a");
}

TEST(ResourceNameTest, OfAnotherFormIsRefused) {
  for (const char* name : {"", "t", "projects/p/instances/i", "projects/p/instances/i/tables/",
                           "projects//instances/i/tables/t", "projects/p/instances//tables/t",
                           "projects/p/instances/i/clusters/t", "/projects/p/instances/i/tables/t",
                           "projects/p/instances/i/tables/t/", "project/p/instances/i/tables/t"}) {
    const absl::Status status = ParseTableName(name).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << name;
    EXPECT_EQ(status.message(),
              "the name of a table must be of the form "
              "projects/{project}/instances/{instance}/tables/{table}, and is \"" +
                  std::string(name) + "\"");
  }
  EXPECT_EQ(ParseProjectName("projects/").status().message(),
            "the name of a project must be of the form projects/{project}, and is \"projects/\"");
  EXPECT_EQ(ParseInstanceName("x").status().message(),
            "the name of an instance must be of the form "
            "projects/{project}/instances/{instance}, and is \"x\"");
  EXPECT_EQ(ParseClusterName("x").status().message(),
            "the name of a cluster must be of the form "
            "projects/{project}/instances/{instance}/clusters/{cluster}, and is \"x\"");
  EXPECT_EQ(ParseAppProfileName("x").status().message(),
            "the name of an app profile must be of the form "
            "projects/{project}/instances/{instance}/appProfiles/{app_profile}, and is \"x\"");
}

TEST(ResourceNameTest, IdsOfTables) {
  for (const std::string& id : {std::string("t"), std::string("_A.b-9"), std::string(50, 'x')}) {
    EXPECT_TRUE(CheckTableId(id).ok()) << id;
  }
  for (const std::string& id : {std::string(), std::string("-t"), std::string(".t"),
                                std::string("a b"), std::string("a..b"), std::string(51, 'x')}) {
    const absl::Status status = CheckTableId(id);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << id;
    EXPECT_EQ(status.message(),
              "the id of a table must be 1 to 50 of [-_.a-zA-Z0-9], begin with neither '-' nor '.' "
              "and not contain \"..\", and is \"" +
                  id + "\"");
  }
  // Names are checked too.
  EXPECT_FALSE(ParseTableName("projects/p/instances/i/tables/a..b").ok());
}

TEST(ResourceNameTest, IdsOfInstancesClustersAndAppProfiles) {
  EXPECT_TRUE(CheckInstanceId("abc-12").ok());
  EXPECT_TRUE(CheckInstanceId(std::string(33, 'a')).ok());
  for (const std::string& id : {std::string("abcde"), std::string(34, 'a'), std::string("1bcdef"),
                                std::string("abcde-"), std::string("abCdef")}) {
    EXPECT_EQ(CheckInstanceId(id).message(),
              "the id of an instance must be 6 to 33 of [a-z0-9-], begin with a letter and not end "
              "with '-', and is \"" +
                  id + "\"");
  }
  EXPECT_TRUE(CheckClusterId(std::string(30, 'a')).ok());
  EXPECT_EQ(CheckClusterId("c").message(),
            "the id of a cluster must be 6 to 30 of [a-z0-9-], begin with a letter and not end "
            "with '-', and is \"c\"");
  EXPECT_TRUE(CheckAppProfileId("a..b").ok());
  EXPECT_EQ(CheckAppProfileId("").message(),
            "the id of an app profile must be 1 to 50 of [-_.a-zA-Z0-9] and begin with neither "
            "'-' nor '.', and is \"\"");
}

TEST(ResourceNameTest, TablesOfTheDefaultInstanceHaveTheSameNameInTheEngine) {
  EXPECT_EQ(EngineNameOf("projects/local/instances/local/tables/a.b"), "a.b");
}

TEST(ResourceNameTest, TablesOfAnEmbeddedDatabaseMayHaveLongerNames) {
  const std::string id(128, 't');
  EXPECT_EQ(EngineNameOf("projects/local/instances/local/tables/" + id), id);
  EXPECT_FALSE(ParseTableName("projects/local/instances/local/tables/t" + id).ok());
}

TEST(ResourceNameTest, OtherTablesHaveTheirInstanceInTheEnginesName) {
  EXPECT_EQ(EngineNameOf("projects/p/instances/i/tables/t"), "p..i..t");
  EXPECT_EQ(EngineNameOf("projects/local/instances/i/tables/t"), "local..i..t");
  EXPECT_EQ(EngineNameOf("projects/example.com:p_1/instances/\xc3\xa9/tables/t_1"),
            "example_2ecom_3ap_5f1.._c3_a9..t_1");
}

TEST(ResourceNameTest, TooLongForTheEngineIsRefused) {
  const std::string project(100, 'p');
  EXPECT_EQ(
      EngineNameOf("projects/" + project + "/instances/" + std::string(23, 'i') + "/tables/t"),
      project + ".." + std::string(23, 'i') + "..t");
  EXPECT_EQ(
      EngineNameOf("projects/" + project + "/instances/" + std::string(24, 'i') + "/tables/t"),
      "the ids in the name of a table must together have at most 124 bytes, where one of the "
      "project's or the instance's that is not in [A-Za-z0-9-] counts as three, and have 125: "
      "\"projects/" +
          project.substr(0, 71) +
          "\"... "
          "(153 bytes)");
}

TEST(ResourceNameTest, TablesOfTheEngineThatAreNobodysHaveNoName) {
  EXPECT_EQ(TableOfEngine("t", kLocal), (TableName{kLocal, "t"}));
  EXPECT_EQ(TableOfEngine("p..i..t", kLocal), (TableName{{"p", "i"}, "t"}));
  for (const std::string_view name :
       {kCatalogueTable, std::string_view("a..b"), std::string_view("a..b..c..d"),
        std::string_view("..i..t"), std::string_view("p.x..i..t"), std::string_view("p_4..i..t"),
        std::string_view("p_..i..t"), std::string_view("p_2E..i..t"),  // not as it is written
        std::string_view("p_61..i..t"), std::string_view("p_2f..i..t"),
        std::string_view("local..local..t")}) {
    EXPECT_EQ(TableOfEngine(name, kLocal), std::nullopt) << name;
  }
}

}  // namespace
}  // namespace bigtable::server
