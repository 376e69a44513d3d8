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
// kind is an EntryKind that is an operation, and decides which fields there are (EntryTraits). A
// kCell whose first bit (0x80) is set has no timestamp: it takes the server's. Lengths are varints.
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
//
// A record of the commit log, type kBatch: several mutations, all or none. Each is what a record of
// type kMutation would be, with its length before it:
//
//   +---------------+---------------+-----
//   | mutation      | mutation      | ...        up to the end, at least one
//   | length, bytes | length, bytes |
//   +---------------+---------------+-----
//
// Their sequence numbers are consecutive, and the record has that of the last: once the log may
// release that one, it may release all of them.
//
// Worked example: the mutation above, and one of the row "s" that deletes it:
//   0b 05 07 01 72 81 01 66 01 71 01 76 | 05 05 07 01 73 07
#ifndef BIGTABLE_TABLET_MUTATION_FORMAT_H_
#define BIGTABLE_TABLET_MUTATION_FORMAT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bigtable/row_mutation.h"

#include "base/coding.h"
#include "base/entry_key.h"
#include "base/sequence.h"

namespace bigtable {

struct MutationOperation {
  static MutationOperation DeleteRow() { return {.kind = EntryKind::kDeleteRow}; }
  static MutationOperation DeleteColumn(std::string_view family, std::string_view qualifier) {
    return {.kind = EntryKind::kDeleteColumn, .family = family, .qualifier = qualifier};
  }

  // Whether it concerns the whole row, without a family.
  bool is_of_row() const { return ScopeOf(kind) == EntryScope::kRow; }
  // The server's timestamp is the cell's.
  bool takes_server_time() const {
    return TraitsOf(kind).time == OperationTime::kGivenOrServers && !has_timestamp;
  }

  EntryKind kind = EntryKind::kCell;
  bool has_timestamp = false;  // as EntryTraits::time says
  int64_t timestamp = 0;
  std::string_view family = {};
  std::string_view qualifier = {};
  std::string_view value = {};
};

void AppendOperation(std::string* out, const MutationOperation& operation);

// Reads operations one after another. The bytes may be corrupt.
class OperationReader {
 public:
  explicit OperationReader(std::string_view operations) : decoder_(operations) {}

  // False at the end, and if the bytes are not an operation: then ok() is false.
  bool Next(MutationOperation* operation);
  bool ok() const { return ok_; }

 private:
  Decoder decoder_;
  bool ok_ = true;
};

// A mutation of a row as the engine passes it on: views of bytes that the caller keeps.
struct EncodedMutation {
  static EncodedMutation Of(const RowMutation& mutation) {
    return {mutation.row_, mutation.operations_, mutation.takes_server_time_};
  }

  std::string_view row;
  std::string_view operations;
  // Whether a cell takes the server's timestamp. True is always correct.
  bool takes_server_time = true;

  size_t size() const { return row.size() + operations.size(); }
};

struct MutationRecord {
  uint64_t table_id = 0;
  int64_t server_timestamp = 0;
  EncodedMutation mutation;
};

// The part of a record before the operations.
void AppendMutationHeader(std::string* out, const MutationRecord& record);
// False if `payload` is not a record.
bool ParseMutationRecord(std::string_view payload, MutationRecord* record);

// Appends a mutation to a batch, whose payload so far is `out`. Returns the offset of its
// operations.
size_t AppendToBatch(std::string* out, const MutationRecord& record);
// The mutations of a batch whose record has the sequence number `last`; n mutations have the
// numbers `last` - n + 1 to `last`. False if `payload` is not a batch, or has more mutations than
// there are sequence numbers up to `last`.
bool ParseBatchRecord(std::string_view payload, SequenceNumber last,
                      std::vector<MutationRecord>* records);

}  // namespace bigtable

#endif  // BIGTABLE_TABLET_MUTATION_FORMAT_H_
