// Who may read and write the column families of tables (sections 2 and 4 of the paper: families are
// "the basic unit of access control", and their lists are in the lock service).
//
// A program that embeds this library may do everything: what it does for others it does through
// tables that it opens in their names (OpenTableOptions::caller). Who they are it has to know, this
// library believes it. A call goes by the lists as they are when it begins; streams and scanners by
// the families of their moment, and by the lists when they enter a tablet, or more often.
#ifndef BIGTABLE_ACCESS_LIST_H_
#define BIGTABLE_ACCESS_LIST_H_

#include <functional>
#include <set>
#include <string>

namespace bigtable {

// A list has a name, by which families refer to it (Family::access_list), and which is like a
// table's; one list may serve many families. A name of somebody is 1 to 128 printable ASCII
// characters without space; the names of a list, with a byte or two for each, have at most 512 KiB,
// and each call of somebody copies the list, so short ones are better. Plain value.
struct AccessList {
  // As a member: everybody.
  static constexpr const char* kEverybody = "*";

  std::set<std::string, std::less<>> readers;
  std::set<std::string, std::less<>> writers;  // who may write may not read for that

  friend bool operator==(const AccessList&, const AccessList&) = default;
};

}  // namespace bigtable

#endif  // BIGTABLE_ACCESS_LIST_H_
