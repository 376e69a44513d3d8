// `bigtable options` lists the options that there are.
#include "tools/options.h"

#include <map>
#include <string>

#include "gtest/gtest.h"

#include "bigtable/database.h"

#include "support/temp_directory.h"
#include "support/text_driven.h"

namespace bigtable {
namespace {

TEST(OptionsTest, ListsEachOptionOfADatabaseWithItsDefault) {
  TempDirectory directory(TempDirectory::Where::kMemory);
  const auto database = Database::Open(directory.database());
  ASSERT_TRUE(database.ok()) << database.status();
  std::ifstream file(directory.database() + "/OPTIONS");
  std::map<std::string, std::string> actual, described;
  for (std::string line; std::getline(file, line);) {
    const size_t equals = line.find('=');
    if (equals != std::string::npos) actual[line.substr(0, equals)] = line.substr(equals + 1);
  }
  std::map<std::string, std::string> changeable;
  for (const tools::OptionDescription& option : tools::DescribeOptions()) {
    described[option.name] = option.default_value;
    if (option.changeable) changeable[option.name] = option.default_value;
    EXPECT_GT(option.meaning.size(), 10u) << option.name;
  }
  // The number in effect, where the default stands for the number of processors, or for half of the
  // files that the process may open.
  actual["tablet_servers"] = described["tablet_servers"];
  EXPECT_EQ(described, actual);
  EXPECT_EQ(changeable, (*database)->ChangeableOptions());
}

}  // namespace
}  // namespace bigtable
