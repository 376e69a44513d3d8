// Regular expressions of filters: '.' matches every byte in the engine, and all but a newline in
// the API. One that has a '.' is written for the other side with the flag that says so; the
// engine's flag for the API's way, and the API's for the engine's, are left out again on the way
// back.
//
// Pure functions.
#ifndef BIGTABLE_CONVERT_REGEX_H_
#define BIGTABLE_CONVERT_REGEX_H_

#include <string>
#include <string_view>

namespace bigtable::convert {

// The engine's expression for one of the API, and the other way.
std::string EngineRegex(std::string_view api);
std::string ApiRegex(std::string_view engine);

}  // namespace bigtable::convert

#endif  // BIGTABLE_CONVERT_REGEX_H_
