// The options of a database as `bigtable options` lists them: each with its default and meaning.
#ifndef BIGTABLE_TOOLS_OPTIONS_H_
#define BIGTABLE_TOOLS_OPTIONS_H_

#include <string>
#include <vector>

namespace bigtable::tools {

// A field of DatabaseOptions that is a plain value. Plain value.
struct OptionDescription {
  std::string name;
  std::string default_value;
  bool changeable = false;  // Database::SetOptions
  std::string meaning;
};

// By name. tests/tools compares them with the file OPTIONS of a database.
std::vector<OptionDescription> DescribeOptions();

}  // namespace bigtable::tools

#endif  // BIGTABLE_TOOLS_OPTIONS_H_
