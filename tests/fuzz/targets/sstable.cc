// An SSTable: a whole file, or parts that are put together with valid checksums.
#include "bigtable/sstable.h"

#include <memory>
#include <string>
#include <string_view>

#include "bigtable/testing/in_memory_file_system.h"

#include "blocks/stored_block.h"
#include "fuzz/input.h"
#include "fuzz/target.h"
#include "sstable/footer.h"
#include "support/scoped_shortcuts.h"

namespace bigtable {
namespace {

constexpr uint64_t kIdentity = 7;

BlockHandle Append(std::string_view section, FuzzInput* input, std::string* file) {
  const BlockHandle handle{file->size(), section.size()};
  file->append(section);
  const auto encoding = static_cast<BlockEncoding>(input->Below(3));
  AppendBlockTrailer(file, handle.offset, encoding, kIdentity, handle.offset);
  return handle;
}

// The parts: blocks of data, index, filter, dictionary and properties; and changes of the footer.
std::string Assembled(FuzzInput input) {
  std::string file;
  for (int blocks = input.Below(4); blocks > 0; --blocks) Append(input.Piece(), &input, &file);
  Footer footer;
  footer.identity = kIdentity;
  footer.index = Append(input.Piece(), &input, &file);
  footer.filter = Append(input.Piece(), &input, &file);
  footer.dictionary = Append(input.Piece(), &input, &file);
  footer.properties = Append(input.Piece(), &input, &file);
  BlockHandle* const handles[] = {&footer.index, &footer.filter, &footer.dictionary,
                                  &footer.properties};
  for (int changes = input.Below(3); changes > 0; --changes) {
    BlockHandle* const handle = handles[input.Below(4)];
    (input.Below(2) == 0 ? handle->offset : handle->size) = input.Number();
  }
  footer.EncodeTo(&file);
  return file;
}

void ReadAll(const SSTableReader& reader) {
  constexpr int kMost = 2000;
  SSTableReader::Cursor cursor(&reader);
  std::string row;
  int entries = 0;
  for (cursor.SeekToFirst(); cursor.valid() && entries < kMost; cursor.Next(), ++entries) {
    row = cursor.entry().row;
  }
  static_cast<void>(reader.MayContainRow(row));
  static_cast<void>(reader.MayContainColumn(row, "f", "q"));
  cursor.SeekToRow(row);
  cursor.SeekBefore(row);
  if (cursor.valid()) cursor.Prev();
  cursor.Seek(row, "f", "q");
  cursor.SeekToLast();
  const absl::Status verified = reader.Verify();
  Require(
      !verified.ok() || entries == kMost || static_cast<uint64_t>(entries) == reader.info().entries,
      "a file that verifies has the entries that it states");
}

void FuzzSSTable(std::string_view bytes) {
  FuzzInput input(bytes);
  InMemoryFileSystem files;
  const uint8_t form = input.Below(4);
  files.SetContents("/table", form < 2 ? std::string(input.Rest()) : Assembled(input));
  const auto mode =
      form % 2 == 0 ? FileSystem::ReadMode::kMapped : FileSystem::ReadMode::kPositional;
  for (const uint64_t off : {uint64_t{0}, ScopedShortcuts::Bit(Shortcut::kWholeIndex)}) {
    const ScopedShortcuts shortcuts(off);
    const auto reader = SSTableReader::Open("/table", {.read_mode = mode, .file_system = &files});
    if (reader.ok()) ReadAll(**reader);
  }
}

const FuzzTargetRegistration sstable_target("sstable", FuzzSSTable);

}  // namespace
}  // namespace bigtable
