// Three SSTables with the same cells and different settings, without a database: what a block size,
// a compression and a filter cost, and what a lookup has to read.
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>

#include "absl/strings/str_format.h"

#include "bigtable/bigtable.h"
#include "bigtable/sstable.h"
#include "bigtable/testing/in_memory_file_system.h"

namespace {

constexpr int kRows = 10'000;

void Check(const absl::Status& status) {
  if (status.ok()) return;
  std::cerr << status << std::endl;
  std::exit(EXIT_FAILURE);
}

template <typename T>
T Value(absl::StatusOr<T> result) {
  Check(result.status());
  return *std::move(result);
}

std::string RowOf(int i) { return absl::StrFormat("com.example/page-%06d", i); }

// Writes a file with a cell in each row, and returns what it has.
bigtable::SSTableFileInfo Write(const std::string& path,
                                const bigtable::SSTableWriterOptions& options) {
  const auto writer = Value(bigtable::SSTableWriter::Create(path, options));
  for (int i = 0; i < kRows; ++i) {
    const std::string row = RowOf(i);
    const std::string value = absl::StrFormat("<html>The contents of page %d</html>", i);
    Check(writer->Add({.row = row, .family = "contents", .value = value}));
  }
  return Value(writer->Finish());
}

// Whether all rows are there, the whole file is intact, and its filter excludes a row that is not.
bool IsRight(const std::string& path, bigtable::FileSystem* files) {
  const auto reader = Value(bigtable::SSTableReader::Open(path, {.file_system = files}));
  Check(reader->Verify());
  bigtable::SSTableReader::Cursor cursor(reader.get());
  int rows = 0;
  for (cursor.SeekToFirst(); cursor.valid(); cursor.Next(), ++rows) {
    if (cursor.entry().row != RowOf(rows)) return false;
  }
  Check(cursor.status());
  cursor.SeekToRow(RowOf(kRows / 2));
  return rows == kRows && cursor.valid() && cursor.entry().row == RowOf(kRows / 2) &&
         reader->MayContainRow(RowOf(7)) && !reader->MayContainRow("org.example/");
}

}  // namespace

int main() {
  bigtable::InMemoryFileSystem memory;  // without `file_system`, the paths are those of the disk
  Check(memory.CreateDirectory("/files"));
  struct Setting {
    const char* path;
    bigtable::Compression compression;
    size_t block_size;
  };
  bool right = true;
  for (const Setting& setting :
       {Setting{"/files/plain.sst", bigtable::Compression::kNone, 16 << 10},
        Setting{"/files/small.sst", bigtable::Compression::kNone, 4 << 10},
        Setting{"/files/zstd.sst", bigtable::Compression::kZstd, 64 << 10}}) {
    const bigtable::SSTableFileInfo info = Write(setting.path, {.compression = setting.compression,
                                                                .block_size = setting.block_size,
                                                                .file_system = &memory});
    std::cout << absl::StreamFormat("%s: %d bytes in %d blocks, an index of %d\n", setting.path,
                                    info.file_size, info.blocks, info.index_bytes);
    right = right && info.entries == kRows && IsRight(setting.path, &memory);
  }
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
