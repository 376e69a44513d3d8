// Helpers for tests of sorted logs: payloads that identify their record, and a model of what a
// sorted log delivers.
#ifndef BIGTABLE_TESTS_RECOVERY_SORTED_LOG_TEST_UTIL_H_
#define BIGTABLE_TESTS_RECOVERY_SORTED_LOG_TEST_UTIL_H_

#include <algorithm>
#include <ostream>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/coding.h"
#include "commitlog/log_test_util.h"
#include "recovery/log_sorter.h"
#include "recovery/sorted_log.h"
#include "support/random.h"

namespace bigtable {

// A record as a value.
struct TestRecord {
  uint64_t table_id = 0;
  std::string row;
  SequenceNumber sequence = 0;
  std::string payload;

  friend bool operator==(const TestRecord&, const TestRecord&) = default;
  friend std::ostream& operator<<(std::ostream& out, const TestRecord& record) {
    return out << record.table_id << "/" << Quoted(record.row) << "@" << record.sequence;
  }
};

// The payload begins with the table's id and the row, followed by `value_size` bytes that identify
// the record.
inline TestRecord MakeRecord(uint64_t table_id, std::string row, SequenceNumber sequence,
                             size_t value_size) {
  std::string payload;
  AppendVarint64(&payload, table_id);
  AppendLengthPrefixed(&payload, row);
  payload += Payload(sequence, value_size);
  return {table_id, std::move(row), sequence, std::move(payload)};
}

inline absl::Status KeyOf(RecordType, std::string_view payload, RecordKey* key) {
  Decoder decoder(payload);
  key->table_id = decoder.Varint();
  key->row = decoder.LengthPrefixed();
  return decoder.ok() ? absl::OkStatus() : absl::DataLossError("no payload of a test");
}

// Few tables and rows, so that rows have several records; some records are large.
inline std::vector<TestRecord> RandomRecords(uint64_t seed, size_t count, size_t most_bytes) {
  Random random(seed);
  std::vector<TestRecord> records;
  SequenceNumber sequence = 0;
  for (size_t i = 0; i < count; ++i) {
    sequence += 1 + random.Below(3);  // other servers take numbers too
    std::string row(random.Below(12), 'a');
    for (char& c : row) c = random.Pick(std::string_view("\0ab\xff", 4));
    const size_t size = random.OneIn(50) ? 8 * most_bytes : random.Below(most_bytes);
    records.push_back(MakeRecord(random.Below(4), std::move(row), sequence, size));
  }
  return records;
}

inline void WriteLog(FileSystem* fs, const std::vector<TestRecord>& records) {
  auto log = NewLog(fs);
  ASSERT_NE(log, nullptr);
  for (const TestRecord& record : records) {
    ASSERT_OK(Add(log.get(), record.sequence, record.payload));
  }
  ASSERT_OK(log->Close());
}

inline absl::StatusOr<SortLogStatistics> SortTestLog(FileSystem* fs,
                                                     const SortLogOptions& options = {},
                                                     const std::string& directory = "sorted",
                                                     const TestReplayOptions& replay_options = {}) {
  return SortLog(fs, "log", replay_options, KeyOf, directory, options);
}

struct ReadRecords {
  absl::Status status;
  std::vector<TestRecord> records;
};

inline ReadRecords ReadRange(const SortedLog& log, const SortedRange& range) {
  ReadRecords out;
  out.status = log.Read(range, [&](const SortedRecord& record) {
    out.records.push_back(
        {record.table_id, std::string(record.row), record.sequence, std::string(record.payload)});
    return absl::OkStatus();
  });
  return out;
}

// All tables of RandomRecords, one after another.
inline ReadRecords ReadEverything(const SortedLog& log) {
  ReadRecords out;
  for (uint64_t table_id = 0; table_id < 4 && out.status.ok(); ++table_id) {
    ReadRecords table = ReadRange(log, {.table_id = table_id});
    out.status = table.status;
    for (TestRecord& record : table.records) out.records.push_back(std::move(record));
  }
  return out;
}

inline bool IsIn(const TestRecord& record, const SortedRange& range) {
  return record.table_id == range.table_id && record.row >= range.first_row &&
         (!range.end_row.has_value() || record.row < *range.end_row) &&
         record.sequence > range.after;
}

// The records that reading `range` should deliver. `records` are in log order and were divided into
// pieces that end with the sequence numbers `ends`.
inline std::vector<TestRecord> Expected(const std::vector<TestRecord>& records,
                                        const std::vector<SequenceNumber>& ends,
                                        const SortedRange& range) {
  const auto piece_of = [&](const TestRecord& record) {
    return std::lower_bound(ends.begin(), ends.end(), record.sequence) - ends.begin();
  };
  std::vector<TestRecord> out;
  for (const TestRecord& record : records) {
    if (IsIn(record, range)) out.push_back(record);
  }
  std::sort(out.begin(), out.end(), [&](const TestRecord& a, const TestRecord& b) {
    return std::tuple(piece_of(a), std::string_view(a.row), a.sequence) <
           std::tuple(piece_of(b), std::string_view(b.row), b.sequence);
  });
  return out;
}

inline std::vector<SequenceNumber> EndsOf(const SortedLog& log) {
  std::vector<SequenceNumber> ends;
  for (size_t i = 0; i < log.pieces(); ++i) ends.push_back(log.LargestIn(i));
  return ends;
}

// Expects exactly these records, in the specified order.
inline void ExpectRecords(const SortedLog& log, const std::vector<TestRecord>& records) {
  size_t delivered = 0;
  for (uint64_t table_id = 0; table_id < 4; ++table_id) {
    const SortedRange range{.table_id = table_id};
    const ReadRecords read = ReadRange(log, range);
    ASSERT_OK(read.status);
    ASSERT_EQ(read.records, Expected(records, EndsOf(log), range));
    delivered += read.records.size();
  }
  ASSERT_EQ(delivered, records.size());
  ASSERT_EQ(log.records(), records.size());
}

// The names of all files of the sorted log in `directory`, complete or not.
inline std::vector<std::string> SortedFiles(FileSystem* fs, std::string_view directory = "sorted") {
  std::vector<std::string> out;
  auto names = fs->ListDirectory(directory);
  if (!names.ok()) return out;
  for (std::string& name : *names) {
    if (name.starts_with("SORTED") || name.starts_with("sorted-")) out.push_back(std::move(name));
  }
  return out;
}

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_RECOVERY_SORTED_LOG_TEST_UTIL_H_
