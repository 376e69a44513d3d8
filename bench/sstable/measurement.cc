#include "measurement.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "bigtable/memory_budget.h"
#include "bigtable/sstable.h"

#include "cache/budget_access.h"
#include "common/measure.h"
#include "common/strings.h"
#include "common/workload.h"
#include "sstable/footer.h"

namespace bench {
namespace {

using bigtable::MemoryBudget;
using bigtable::SSTableFileInfo;
using bigtable::SSTableReader;
using bigtable::SSTableWriter;

// The rows of the file have even numbers, so there is one that is missing between any two.
Key ExistingKey(uint64_t row) { return Key(2 * row); }
Key MissingKey(uint64_t row) { return Key(2 * row + 1); }

// Half random and half zeros, so that it compresses to about a half.
class HalfRandomValues {
 public:
  explicit HalfRandomValues(size_t size) : random_(size), value_(size, '\0') {}
  std::string_view Of(uint64_t row) {
    const size_t half = value_.size() / 2;
    value_.replace(0, half, random_.Of(row).substr(0, half));
    return value_;
  }

 private:
  const Values random_;
  std::string value_;
};

double SecondsSince(absl::Time start) { return absl::ToDoubleSeconds(absl::Now() - start); }

double Percent(uint64_t part, uint64_t all) {
  return all == 0 ? std::nan("") : 100 * static_cast<double>(part) / static_cast<double>(all);
}

double Kilobytes(uint64_t bytes) { return static_cast<double>(bytes) / 1e3; }

bigtable::SSTableWriterOptions WriterOptions(const Combination& combination) {
  bigtable::SSTableWriterOptions options;
  options.compression = combination.compression;
  options.block_size = combination.block << 10;
  options.filter = combination.filter;
  if (combination.level != 0) options.compression_level = static_cast<int>(combination.level);
  if (combination.bits != 0) options.filter_bits = static_cast<int>(combination.bits);
  return options;
}

absl::Status Build(const Combination& combination, const std::string& path, Figures* figures) {
  HalfRandomValues values(combination.value);
  const absl::Time start = absl::Now();
  absl::StatusOr<std::unique_ptr<SSTableWriter>> writer =
      SSTableWriter::Create(path, WriterOptions(combination));
  if (!writer.ok()) return writer.status();
  for (uint64_t i = 0; i < combination.rows; ++i) {
    const Key key = ExistingKey(i);
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
  const auto rows = static_cast<double>(combination.rows);
  figures->build_rows = rows / 1e6 / seconds;
  figures->build_mb = Kilobytes(info->key_bytes + info->value_bytes) / 1e3 / seconds;
  figures->file_mb = Kilobytes(info->file_size) / 1e3;
  figures->row_bytes = static_cast<double>(info->file_size) / rows;
  figures->blocks = static_cast<double>(info->blocks);
  figures->index_kb = Kilobytes(info->index_bytes);
  return absl::OkStatus();
}

// The bytes of the filter or row index, which only the file's footer states.
absl::StatusOr<uint64_t> FilterBytes(const std::string& path, uint64_t file_size) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes(bigtable::Footer::kSize, '\0');
  file.seekg(-static_cast<std::streamoff>(bytes.size()), std::ios::end);
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file) return absl::UnavailableError(Concat(path, ": cannot be read"));
  const absl::StatusOr<bigtable::Footer> footer = bigtable::Footer::Decode(bytes, path, file_size);
  if (!footer.ok()) return footer.status();
  return footer->filter.size;
}

// Sets `*speed` to millions of rows a second.
absl::Status Scan(const SSTableReader& reader, double* speed) {
  SSTableReader::Cursor cursor(&reader);
  uint64_t rows = 0;
  const absl::Time start = absl::Now();
  for (cursor.SeekToFirst(); cursor.valid(); cursor.Next()) ++rows;
  *speed = static_cast<double>(rows) / 1e6 / SecondsSince(start);
  if (!cursor.status().ok()) return cursor.status();
  if (rows == reader.info().entries) return absl::OkStatus();
  return absl::DataLossError(Concat("a scan saw ", rows, " rows"));
}

// Reads of rows at random, which all exist, or all do not: `count` in a pass, others in each pass.
class RowReads {
 public:
  RowReads(const SSTableReader* reader, uint64_t count, uint64_t seed, bool present)
      : rows_(reader->info().entries),
        count_(count),
        present_(present),
        random_(seed),
        cursor_(reader) {}

  // The rows of a pass. They are drawn before it, so that nothing but reads is timed.
  std::vector<Key> Draw() {
    std::vector<Key> keys;
    keys.reserve(count_);
    for (uint64_t i = 0; i < count_; ++i) {
      keys.push_back(present_ ? ExistingKey(random_.Below(rows_))
                              : MissingKey(random_.Below(rows_ - 1)));  // none is after the last
    }
    return keys;
  }
  absl::Status WarmUp() {
    return Pass(Draw(), [&](const Key& key) { return Read(key); });
  }
  // Times a pass as a whole, for the mean, and one read by read.
  absl::Status Time(ReadFigures* figures) {
    const std::vector<Key> keys = Draw();
    const absl::Time start = absl::Now();
    if (absl::Status s = Pass(keys, [&](const Key& key) { return Read(key); }); !s.ok()) return s;
    figures->mean = SecondsSince(start) * 1e6 / static_cast<double>(count_);
    Latencies latencies(1, count_);
    const auto timed = [&](const Key& key) { return latencies.Time([&] { return Read(key); }); };
    if (absl::Status s = Pass(Draw(), timed); !s.ok()) return s;
    figures->p50 = latencies.Percentile(0.5);
    figures->p99 = latencies.Percentile(0.99);
    figures->p999 = latencies.Percentile(0.999);
    return absl::OkStatus();
  }

 private:
  // False if it is not as it should be.
  bool Read(const Key& key) {
    cursor_.SeekToRow(key.view());
    if (cursor_.valid()) Touch(cursor_.entry().value);
    return cursor_.valid() == present_ && cursor_.status().ok();
  }
  template <typename ReadKey>
  absl::Status Pass(const std::vector<Key>& keys, ReadKey read) {
    for (const Key& key : keys) {
      if (read(key)) continue;
      if (!cursor_.status().ok()) return cursor_.status();
      return absl::DataLossError(Concat("row ", key.view(), present_ ? " is missing" : " exists"));
    }
    return absl::OkStatus();
  }

  const uint64_t rows_;
  const uint64_t count_;
  const bool present_;
  Random random_;
  SSTableReader::Cursor cursor_;
};

absl::Status ReadExisting(const SSTableReader& reader, uint64_t count, uint64_t seed,
                          MemoryBudget* budget, Figures* figures) {
  RowReads reads(&reader, count, seed, /*present=*/true);
  if (absl::Status s = reads.WarmUp(); !s.ok()) return s;
  const bigtable::BlockCache& cache = bigtable::BudgetAccess::Cache(*budget);
  const uint64_t hits = cache.hits();
  const uint64_t misses = cache.misses();
  absl::Status s = reads.Time(&figures->get);
  const uint64_t found = cache.hits() - hits;
  figures->cache_hits = Percent(found, found + cache.misses() - misses);
  return s;
}

absl::Status ReadMissing(const SSTableReader& reader, uint64_t count, uint64_t seed,
                         Figures* figures) {
  RowReads reads(&reader, count, seed, /*present=*/false);
  const std::vector<Key> keys = reads.Draw();
  // The same answer decides whether a read of the row reads a block.
  const auto passed = std::count_if(
      keys.begin(), keys.end(), [&](const Key& key) { return reader.MayContainRow(key.view()); });
  figures->false_positives = Percent(static_cast<uint64_t>(passed), count);
  if (absl::Status s = reads.WarmUp(); !s.ok()) return s;
  return reads.Time(&figures->missing);
}

absl::Status Read(const Combination& combination, uint64_t reads, uint64_t seed,
                  const std::string& path, Figures* figures) {
  const auto budget = std::make_shared<MemoryBudget>(combination.memory << 20);
  const absl::StatusOr<std::unique_ptr<SSTableReader>> reader =
      SSTableReader::Open(path, {.read_mode = combination.read_mode, .memory_budget = budget});
  if (!reader.ok()) return reader.status();
  const absl::StatusOr<uint64_t> filter = FilterBytes(path, (*reader)->info().file_size);
  if (!filter.ok()) return filter.status();
  figures->filter_kb = Kilobytes(*filter);
  figures->memory_kb = Kilobytes(budget->used(MemoryBudget::Use::kIndexes));
  // The first scan verifies every block, or fills the block cache.
  for (double* speed : {&figures->first_scan, &figures->scan}) {
    if (absl::Status s = Scan(**reader, speed); !s.ok()) return s;
  }
  absl::Status s = ReadExisting(**reader, reads, seed, budget.get(), figures);
  return s.ok() ? ReadMissing(**reader, reads, seed, figures) : s;
}

}  // namespace

absl::StatusOr<Figures> Measure(const Combination& combination, uint64_t reads, uint64_t seed,
                                const std::string& path) {
  Figures figures;
  if (absl::Status s = Build(combination, path, &figures); !s.ok()) return s;
  if (absl::Status s = Read(combination, reads, seed, path, &figures); !s.ok()) return s;
  return figures;
}

double ClockMicros() {
  constexpr uint64_t kReadings = 10'000;
  Latencies latencies(1, kReadings);
  for (uint64_t i = 0; i < kReadings; ++i) latencies.Time([] { return true; });
  return latencies.Percentile(0.5);
}

}  // namespace bench
