// The catalogue: what it has is durable, and a damaged row is reported.
#include "server/admin/catalogue.h"

#include <string>

#include "google/bigtable/admin/v2/instance.pb.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "server/admin_fixture.h"
#include "server/text/resource_name.h"

namespace bigtable::server {
namespace {

class CatalogueTest : public AdminFixture {
 protected:
  void Put(const std::string& name, const std::string& display_name) {
    Catalogue::Change change(*catalogue_);
    change.Put(Named(name, display_name));
    ASSERT_TRUE(catalogue_->Apply(change).ok());
  }
  static admin::Instance Named(const std::string& name, const std::string& display_name) {
    admin::Instance instance;
    instance.set_name(name);
    instance.set_display_name(display_name);
    return instance;
  }
  // The display name; "-" if there is no such row.
  std::string Find(const std::string& name) {
    const auto found = catalogue_->Find<admin::Instance>(name);
    EXPECT_TRUE(found.ok()) << found.status();
    return found->has_value() ? (*found)->display_name() : "-";
  }
  std::string List(const std::string& parent, const std::string& collection) {
    const auto found = catalogue_->List<admin::Instance>(parent, collection);
    EXPECT_TRUE(found.ok()) << found.status();
    std::string names;
    for (const admin::Instance& instance : *found) names += instance.name() + " ";
    return names;
  }
};

TEST_F(CatalogueTest, AChangeIsMadeAsAWholeAndSurvivesALossOfPower) {
  Put("projects/p/instances/i", "first");
  Put("projects/p/instances/j", "gone");
  Catalogue::Change change(*catalogue_);
  change.Put(Named("projects/p/instances/i", "second"));
  change.Put(Named("projects/p/instances/k", "new"));
  change.Erase("projects/p/instances/j");
  change.Erase("projects/p/instances/missing");
  ASSERT_TRUE(catalogue_->Apply(change).ok());

  LosePower();

  EXPECT_EQ(Find("projects/p/instances/i"), "second");
  EXPECT_EQ(Find("projects/p/instances/j"), "-");
  EXPECT_EQ(Find("projects/p/instances/k"), "new");
  EXPECT_EQ(Find("projects/p/instances/missing"), "-");
}

TEST_F(CatalogueTest, AListHasTheNamesOfTheCollectionAlone) {
  for (const char* name :
       {"projects/p/instances/i", "projects/p/instances/i-2", "projects/p/instances/i/clusters/c",
        "projects/p/instances/i/clusters/d", "projects/p/instances/i/appProfiles/a",
        "projects/p2/instances/i", "projects/p/instances/h"}) {
    Put(name, "");
  }
  EXPECT_EQ(List("projects/p", "instances"),
            "projects/p/instances/h projects/p/instances/i projects/p/instances/i-2 ");
  EXPECT_EQ(List("projects/p/instances/i", "clusters"),
            "projects/p/instances/i/clusters/c projects/p/instances/i/clusters/d ");
  EXPECT_EQ(List("projects/p/instances/i-2", "clusters"), "");
}

TEST_F(CatalogueTest, ADamagedRowIsDataLossThatNamesIt) {
  Table* const table = database_->OpenTable(kCatalogueTable).value();
  ASSERT_TRUE(
      table->Apply(RowMutation("projects/p/instances/i").Set("resource:", "\xff\xff")).ok());
  const std::string expected =
      "DATA_LOSS: row \"projects/p/instances/i\" of table server..catalogue does not have a "
      "serialized google.bigtable.admin.v2.Instance";
  EXPECT_EQ(Error(&InstanceStub::GetInstance, "name: 'projects/p/instances/i'"), expected);
  EXPECT_EQ(Error(&InstanceStub::ListInstances, "parent: 'projects/p'"), expected);
}

TEST_F(CatalogueTest, ItsTableIsNobodysTable) {
  EXPECT_EQ(Text(&TableStub::ListTables, "parent: 'projects/p/instances/default'"), "");
  EXPECT_EQ(Text(&InstanceStub::ListInstances, "parent: 'projects/p'"), "");
}

// The bytes of the example in catalogue.h.
TEST_F(CatalogueTest, HasTheBytesOfItsSpecification) {
  Call(&TableStub::CreateTable,
       "parent: 'projects/p/instances/i' table_id: 't' table { deletion_protection: true }");
  Table* const table = database_->OpenTable(kCatalogueTable).value();
  EXPECT_EQ(table->Get("projects/p/instances/i/tables/t", "resource:").value(),
            "\x0a\x1fprojects/p/instances/i/tables/t\x48\x01");
}

}  // namespace
}  // namespace bigtable::server
