// Access control of column families (sections 2 and 4 of the paper: families are "the basic unit of
// access control", and their lists are in the lock service).
//
// A program that embeds this library may do everything. To act for a user, it opens a table in that
// user's name (OpenTableOptions::caller). The library trusts that name; the program must
// authenticate its users. A call is checked against the lists as they are when it begins. A stream
// or scanner uses the families as they were at its snapshot, and checks the lists at least each
// time it enters a tablet.
#ifndef BIGTABLE_ACCESS_LIST_H_
#define BIGTABLE_ACCESS_LIST_H_

#include <functional>
#include <set>
#include <string>

namespace bigtable {

// Families refer to a list by its name (Family::access_list), which follows the rules of table
// names. One list may serve many families. A user name is 1 to 128 printable ASCII characters
// without space. The names of a list, with a byte or two for each, take at most 512 KiB. Each call
// in a user's name copies the list, so short lists are better. Plain value.
struct AccessList {
  // As a member: every user.
  static constexpr const char* kEverybody = "*";

  std::set<std::string, std::less<>> readers;
  std::set<std::string, std::less<>> writers;  // permission to write does not include reading

  friend bool operator==(const AccessList&, const AccessList&) = default;
};

}  // namespace bigtable

#endif  // BIGTABLE_ACCESS_LIST_H_
