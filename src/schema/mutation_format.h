// A row mutation as bytes: in the commit log, and wherever a mutation is passed on.
//
// An operation:
//
//   +------+---------------+------------------+---------------------+--------------+
//   | kind | family        | qualifier        | timestamp           | value        |
//   | 1    | length, bytes | length, bytes    | varint              | length,bytes |
//   +------+---------------+------------------+---------------------+--------------+
//          | not for a row | only of a column | see below           | cell, contr. |
//
// kind is an EntryKind that is an operation, and decides which fields there are (EntryTraits).
// Cells and contributions to aggregates have a value; these and deletions of cells have a
// timestamp. The value of a deletion of a time range is that range (base/time_range.h). A kCell
// whose first bit (0x80) is set has none: it takes the server's. Lengths are varints.
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
//
// A record of the commit log, type kBatchPart: the part of a batch that is in this log, if the
// batch is in several logs. It names the other parts. All parts are recovered, or none:
// recovery/batch_recovery.h.
//
//   +--------+---------------+-------------+-----+---------------------+
//   | others | server        | last number | ... | as a kBatch         |
//   | varint | length, bytes | varint      |     | up to the end       |
//   +--------+---------------+-------------+-----+---------------------+
//            |<- for each other part ------------>|
//
// The sequence numbers of a batch are consecutive, over all parts, and so are those of a part.
//
// Worked example: the part with that batch, whose other part is in the log of server "user-7" and
// has 300 as its last sequence number:
//   01 | 06 75 73 65 72 2d 37 ac 02 | 0b 05 07 ... 01 73 07
#ifndef BIGTABLE_SCHEMA_MUTATION_FORMAT_H_
#define BIGTABLE_SCHEMA_MUTATION_FORMAT_H_

#include <cstddef>
#include <cstdint>
#include <span>
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
    return {.row = mutation.row_,
            .operations = mutation.operations_,
            .takes_server_time = mutation.takes_server_time_};
  }

  std::string_view row;
  std::string_view operations;
  // Whether a cell takes the server's timestamp. True is always correct.
  bool takes_server_time = true;
  // The observers that were called for it (TableLayout::observers_id); 0: none. Not in the log.
  uint64_t observers = 0;

  // The mutation again, for its observers.
  RowMutation ToMutation() const;
  size_t size() const { return row.size() + operations.size(); }
};

struct MutationRecord {
  uint64_t table_id = 0;
  int64_t server_timestamp = 0;
  EncodedMutation mutation;
  // The last number of the batch that it belongs to, over all of its parts; 0: it is alone. Not a
  // part of the encoded mutation.
  SequenceNumber batch = 0;
};

// The part of a record before the operations.
void AppendMutationHeader(std::string* out, const MutationRecord& record);
// False if `payload` is not a record. Sets `batch` to 0.
bool ParseMutationRecord(std::string_view payload, MutationRecord* record);

// Another part of a batch: in whose log, and its last sequence number.
struct OtherBatchPart {
  std::string_view server;
  SequenceNumber last = 0;

  friend bool operator==(const OtherBatchPart&, const OtherBatchPart&) = default;
};

// Makes the payload of a kBatch or a kBatchPart, as pieces for CommitLog::Append, so that
// operations are copied only into the log. May be used for one record after another.
class BatchPayload {
 public:
  void Clear();
  // First, and for a kBatchPart only: the other parts.
  void SetOthers(std::span<const OtherBatchPart> others);
  // `record`'s operations must stay valid until the pieces have been used.
  void Add(const MutationRecord& record);

  // Valid until the next call of Clear, SetOthers or Add.
  std::span<const std::string_view> pieces();
  size_t size() const { return size_; }
  size_t mutations() const { return mutations_.size(); }
  // The operations of the i-th mutation in the payload.
  std::string_view OperationsIn(std::string_view payload, size_t i) const {
    return payload.substr(mutations_[i].offset, mutations_[i].operations.size());
  }

 private:
  struct Mutation {
    size_t header_end;  // in headers_
    size_t offset;      // of the operations in the payload
    std::string_view operations;
  };

  std::string headers_;  // everything but operations
  std::string header_;
  std::vector<Mutation> mutations_;
  std::vector<std::string_view> pieces_;
  size_t size_ = 0;
};
// The mutations of a batch whose record has the sequence number `last`; n mutations have the
// numbers `last` - n + 1 to `last`. Their `batch` is `last`, also in a part, which does not know
// the others here. False if `payload` is not a batch, or has more mutations than there are sequence
// numbers up to `last`.
bool ParseBatchRecord(std::string_view payload, SequenceNumber last,
                      std::vector<MutationRecord>* records);
// The other parts that a kBatchPart names, at least one, and its mutations as a batch. False if
// `payload` is not a part.
bool ParseBatchPart(std::string_view payload, std::vector<OtherBatchPart>* others,
                    std::string_view* batch);

}  // namespace bigtable

#endif  // BIGTABLE_SCHEMA_MUTATION_FORMAT_H_
