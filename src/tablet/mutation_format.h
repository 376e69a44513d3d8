// A row mutation as bytes: in the commit log, and wherever a mutation is passed on.
//
// An operation:
//
//   +------+---------------+------------------+---------------------+--------------+
//   | kind | family        | qualifier        | timestamp           | value        |
//   | 1    | length, bytes | length, bytes    | varint              | length,bytes |
//   +------+---------------+------------------+---------------------+--------------+
//          | not for a row | only of a column | see below           | only a cell  |
//
// kind is an EntryKind: kCell, kDeleteCell, kDeleteColumn, kDeleteFamily or kDeleteRow. A kCell
// whose first bit (0x80) is set has no timestamp: it takes the server's. Lengths are varints.
//
// A record of the commit log, type kMutation:
//
//   +----------+------------------+---------------+----------------+
//   | table id | server timestamp | row           | operations     |
//   | varint   | varint           | length, bytes | up to the end  |
//   +----------+------------------+---------------+----------------+
//
// The record's sequence number is the mutation's; the operations' ordinals are 0, 1, 2 ...
//
// Worked example: table 5, server timestamp 7, row "r", Set("f:q", "v"):
//   05 07 01 72 | 81 01 66 01 71 01 76
#ifndef BIGTABLE_TABLET_MUTATION_FORMAT_H_
#define BIGTABLE_TABLET_MUTATION_FORMAT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "base/coding.h"
#include "base/entry_key.h"

namespace bigtable {

struct MutationOperation {
  EntryKind kind = EntryKind::kCell;
  bool has_timestamp = false;  // only for kCell and kDeleteCell
  int64_t timestamp = 0;
  std::string_view family = {};
  std::string_view qualifier = {};
  std::string_view value = {};
};

void AppendOperation(std::string* out, const MutationOperation& operation);

// Reads operations one after another from bytes that may be anything.
class OperationReader {
 public:
  explicit OperationReader(std::string_view operations) : decoder_(operations) {}

  // False at the end, and when the bytes are no operation: then ok() is false.
  bool Next(MutationOperation* operation);
  bool ok() const { return ok_; }

 private:
  Decoder decoder_;
  bool ok_ = true;
};

struct MutationRecord {
  uint64_t table_id = 0;
  int64_t server_timestamp = 0;
  std::string_view row;
  std::string_view operations;
};

// The part of a record before the operations.
void AppendMutationHeader(std::string* out, const MutationRecord& record);
// False if `payload` is not a record.
bool ParseMutationRecord(std::string_view payload, MutationRecord* record);

}  // namespace bigtable

#endif  // BIGTABLE_TABLET_MUTATION_FORMAT_H_
