// The cost of one SSTable by its options: how fast it is built, how large it is, and what reads of
// rows, of missing rows and of everything cost. Uses SSTableWriter and SSTableReader as a user
// does. bench/micro/sstable_speed --help lists the arguments; docs/performance.md describes the
// output.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "bigtable/bigtable.h"

#include "common/flags.h"
#include "common/strings.h"
#include "common/temporary_directory.h"
#include "common/workload.h"

ABSL_FLAG(uint64_t, rows, 1'000'000, "how many rows, 1,000 to 100,000,000");
ABSL_FLAG(uint64_t, value, 100, "bytes of a value, 1 to 1,000");
ABSL_FLAG(uint64_t, block, 16, "KiB of a block, 1 to 16,384");
ABSL_FLAG(std::string, compression, "none", "none, zstd or zstd_long_window");
ABSL_FLAG(int, level, 3, "of the compression, 1 to 19");
ABSL_FLAG(std::string, filter, "row", "none, row, row_and_column or row_index");
ABSL_FLAG(int, bits, 10, "of the Bloom filter for each row, 1 to 32");
ABSL_FLAG(bool, positional, false, "reads by position and through the block cache, not mapped");
ABSL_FLAG(uint64_t, memory, 64, "MiB for the block cache, index and filter, at least 8");
ABSL_FLAG(uint64_t, reads, 200'000, "how many reads of single rows, 1 to 100,000,000");
ABSL_FLAG(std::string, directory, ".", "directory on the file system to use");

namespace bench {
namespace {

using bigtable::SSTableEntry;
using bigtable::SSTableFileInfo;
using bigtable::SSTableReader;
using bigtable::SSTableWriter;

struct Choices {
  uint64_t rows;
  uint64_t value_size;
  uint64_t reads;
  bigtable::SSTableWriterOptions write;
  bigtable::SSTableReaderOptions read;
};

// The value of the flag as a number: its position in `names`.
template <typename Enum>
absl::Status Choose(std::string_view flag, const std::string& value,
                    const std::vector<std::string>& names, Enum* choice) {
  const auto found = std::find(names.begin(), names.end(), value);
  if (found == names.end()) {
    std::string known;
    for (const std::string& name : names) known += (known.empty() ? "" : ", ") + name;
    return absl::InvalidArgumentError(
        Concat("--", flag, ": must be one of ", known, ", and is \"", value, "\""));
  }
  *choice = static_cast<Enum>(found - names.begin());
  return absl::OkStatus();
}

absl::StatusOr<Choices> ChoicesFromFlags() {
  Choices c{.rows = absl::GetFlag(FLAGS_rows),
            .value_size = absl::GetFlag(FLAGS_value),
            .reads = absl::GetFlag(FLAGS_reads),
            .write = {},
            .read = {}};
  const uint64_t memory = absl::GetFlag(FLAGS_memory);
  const uint64_t block = absl::GetFlag(FLAGS_block);
  for (const absl::Status& s :
       {CheckRange("rows", c.rows, 1'000, 100'000'000),
        CheckRange("value", c.value_size, 1, kValueSize),
        CheckRange("reads", c.reads, 1, 100'000'000), CheckRange("block", block, 1, 16 << 10),
        CheckRange("memory", memory, 8, 1 << 20),
        Choose("compression", absl::GetFlag(FLAGS_compression),
               {"none", "zstd", "zstd_long_window"}, &c.write.compression),
        Choose("filter", absl::GetFlag(FLAGS_filter),
               {"none", "row", "row_and_column", "row_index"}, &c.write.filter)}) {
    if (!s.ok()) return s;
  }
  c.write.compression_level = absl::GetFlag(FLAGS_level);
  c.write.filter_bits = absl::GetFlag(FLAGS_bits);
  c.write.block_size = block << 10;
  if (absl::GetFlag(FLAGS_positional)) {
    c.read.read_mode = bigtable::FileSystem::ReadMode::kPositional;
  }
  c.read.memory_budget = std::make_shared<bigtable::MemoryBudget>(memory << 20);
  return c;
}

// Half random and half zeros, so that it compresses to about a half.
class HalfRandomValues {
 public:
  explicit HalfRandomValues(size_t size) : value_(size, '\0') {}
  std::string_view Of(uint64_t row) {
    const std::string_view random = values_.Of(static_cast<uint32_t>(row));
    value_.replace(0, value_.size() / 2, random.substr(0, value_.size() / 2));
    return value_;
  }

 private:
  const Values values_;
  std::string value_;
};

double SecondsSince(absl::Time start) { return absl::ToDoubleSeconds(absl::Now() - start); }

absl::Status Build(const Choices& choices, const std::string& path) {
  HalfRandomValues values(choices.value_size);
  const absl::Time start = absl::Now();
  absl::StatusOr<std::unique_ptr<SSTableWriter>> writer =
      SSTableWriter::Create(path, choices.write);
  if (!writer.ok()) return writer.status();
  for (uint64_t i = 0; i < choices.rows; ++i) {
    const Key key(2 * i);  // odd rows are missing
    absl::Status s = (*writer)->Add({.row = key.view(),
                                     .family = "f",
                                     .qualifier = "q",
                                     .timestamp = bigtable::Timestamp(1),
                                     .sequence = i + 1,
                                     .value = values.Of(i)});
    if (!s.ok()) return s;
  }
  const absl::StatusOr<SSTableFileInfo> info = (*writer)->Finish();
  if (!info.ok()) return info.status();
  const double seconds = SecondsSince(start);
  const auto raw = static_cast<double>(info->key_bytes + info->value_bytes);
  const auto rows = static_cast<double>(choices.rows);
  const auto size = static_cast<double>(info->file_size);
  absl::PrintF("build        %10.0f rows/s %8.1f MB/s\n", rows / seconds, raw / 1e6 / seconds);
  absl::PrintF("file         %10d bytes  %8.1f a row  %6.2f of keys and values  %d blocks\n",
               info->file_size, size / rows, size / raw, info->blocks);
  return absl::OkStatus();
}

// Reads `reads` rows at random that all exist, or that all do not.
absl::Status ReadRows(const Choices& choices, const SSTableReader& reader, bool present,
                      std::string_view name) {
  Random random(2);
  SSTableReader::Cursor cursor(&reader);
  const absl::Time start = absl::Now();
  for (uint64_t i = 0; i < choices.reads; ++i) {
    const Key key(2 * random.Below(choices.rows) + (present ? 0 : 1));
    cursor.SeekToRow(key.view());
    if (!cursor.status().ok()) return cursor.status();
    if (cursor.valid() != present) {
      return absl::DataLossError(Concat("row ", key.view(), present ? " is missing" : " exists"));
    }
  }
  const double micros = SecondsSince(start) * 1e6 / static_cast<double>(choices.reads);
  absl::PrintF("%-12s %10.3f us a row\n", name, micros);
  return absl::OkStatus();
}

absl::Status Scan(const Choices& choices, const SSTableReader& reader, std::string_view name) {
  SSTableReader::Cursor cursor(&reader);
  uint64_t rows = 0;
  const absl::Time start = absl::Now();
  for (cursor.SeekToFirst(); cursor.valid(); cursor.Next()) ++rows;
  const double seconds = SecondsSince(start);
  if (!cursor.status().ok()) return cursor.status();
  if (rows != choices.rows) return absl::DataLossError(Concat("a scan saw ", rows, " rows"));
  absl::PrintF("%-12s %10.0f rows/s\n", name, static_cast<double>(rows) / seconds);
  return absl::OkStatus();
}

absl::Status Run() {
  const absl::StatusOr<Choices> choices = ChoicesFromFlags();
  if (!choices.ok()) return choices.status();
  absl::StatusOr<TemporaryDirectory> directory =
      TemporaryDirectory::Make(absl::GetFlag(FLAGS_directory), "sstable");
  if (!directory.ok()) return directory.status();
  const std::string path = Concat(directory->path(), "/a.sst");
  if (absl::Status s = Build(*choices, path); !s.ok()) return s;
  const absl::StatusOr<std::unique_ptr<SSTableReader>> reader =
      SSTableReader::Open(path, choices->read);
  if (!reader.ok()) return reader.status();
  // The first scan verifies every block.
  if (absl::Status s = Scan(*choices, **reader, "first scan"); !s.ok()) return s;
  if (absl::Status s = Scan(*choices, **reader, "scan"); !s.ok()) return s;
  if (absl::Status s = ReadRows(*choices, **reader, true, "get"); !s.ok()) return s;
  return ReadRows(*choices, **reader, false, "get missing");
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage(
      "Builds one SSTable and reads it. Prints build speed, size, and the cost of reads.");
  absl::ParseCommandLine(argc, argv);
  if (absl::Status s = bench::Run(); !s.ok()) {
    std::cerr << "sstable_speed: " << s << "\n";
    return absl::IsInvalidArgument(s) ? 2 : EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
