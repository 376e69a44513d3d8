// Who may read and write the column families of tables (sections 2 and 4 of the paper: families are
// "the basic unit of access control", and their lists are in the lock service).
//
// A program that embeds this library may do everything: what it does for others it does through
// tables that it opens in their names (OpenTableOptions::caller). Who they are it has to know, this
// library believes it.
#ifndef BIGTABLE_ACCESS_LIST_H_
#define BIGTABLE_ACCESS_LIST_H_

#include <functional>
#include <set>
#include <string>

namespace bigtable {

// A list has a name, by which families refer to it (Family::access_list), and which is like a
// table's; one list may serve many families. A name of somebody is 1 to 128 printable ASCII
// characters without space. Plain value.
struct AccessList {
  // As a member: everybody.
  static constexpr const char* kEverybody = "*";

  std::set<std::string, std::less<>> readers;
  std::set<std::string, std::less<>> writers;  // who may write may not read for that

  friend bool operator==(const AccessList&, const AccessList&) = default;
};

}  // namespace bigtable

#endif  // BIGTABLE_ACCESS_LIST_H_
