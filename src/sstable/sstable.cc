#include "sstable/sstable.h"

#include <algorithm>
#include <utility>

#include "absl/base/macros.h"
#include "absl/status/status.h"

#include "base/entry_key.h"
#include "base/shortcuts.h"
#include "base/status.h"
#include "base/strings.h"
#include "base/try_allocate.h"
#include "blocks/block_builder.h"
#include "blocks/compression.h"
#include "blocks/stored_block.h"
#include "cache/budget_access.h"
#include "monitoring/thread_calls.h"
#include "sstable/filter_pages.h"
#include "sstable/footer.h"
#include "sstable/hashed_lines.h"

namespace bigtable {
namespace {

// Reads the sections of one file. Its errors name the file.
class SectionReader {
 public:
  SectionReader(const RandomAccessFile& file, const std::string& path) : file_(file), path_(path) {}

  absl::StatusOr<Footer> ReadFooter() {
    if (file_.size() < Footer::kSize) {
      return absl::DataLossError(
          Cat(path_, ": too short for an SSTable: ", file_.size(), " bytes"));
    }
    char bytes[Footer::kSize];
    BT_RETURN_IF_ERROR(file_.Read(file_.size() - sizeof bytes, sizeof bytes, bytes));
    BT_ASSIGN_OR_RETURN(Footer footer, Footer::Decode({bytes, sizeof bytes}, path_, file_.size()));
    identity_ = footer.identity;
    return footer;
  }

  // Returns a section, verified and decoded. `most`: its decoded size may not be larger; if it is
  // stored as it is, that does not matter.
  absl::StatusOr<std::string> Read(const BlockHandle& handle, std::string_view name,
                                   uint64_t most) {
    BT_ASSIGN_OR_RETURN(std::string bytes, ReadBytes(handle.offset, StoredSize(handle), name));
    BT_RETURN_IF_ERROR(Verify(handle, name, bytes.data()));
    const BlockEncoding encoding = EncodingOf(bytes.data(), handle.size);
    bytes.resize(handle.size);
    return encoding == BlockEncoding::kRaw ? std::move(bytes) : Decode(handle, name, bytes, most);
  }
  absl::StatusOr<std::string> ReadBytes(uint64_t offset, uint64_t size, std::string_view name) {
    std::string bytes;
    if (!TryResize(&bytes, size)) return NoMemoryFor(path_, Cat("its ", name), size);
    BT_RETURN_IF_ERROR(file_.Read(offset, bytes.size(), bytes.data()));
    return bytes;
  }
  // `stored`: the bytes of the handle and its block trailer.
  absl::Status Verify(const BlockHandle& handle, std::string_view name, const char* stored) const {
    return BlockTrailerHolds(stored, handle.size, identity_, handle.offset)
               ? absl::OkStatus()
               : Damaged(handle, name, "it has a wrong checksum");
  }
  // What these bytes, which are compressed and have been verified, decode to.
  absl::StatusOr<std::string> Decode(const BlockHandle& handle, std::string_view name,
                                     std::string_view bytes, uint64_t most) const {
    std::string decoded;
    const uint64_t size = DecompressedSize(bytes);
    if (size != kUnknownSize && size <= most) {
      if (!TryResize(&decoded, size)) return NoMemoryFor(path_, Cat("its ", name), size);
      if (Decompress(bytes, nullptr, decoded.data(), decoded.size())) return decoded;
    }
    return Damaged(handle, name, "it does not decompress");
  }

  absl::Status Damaged(const BlockHandle& handle, std::string_view name,
                       std::string_view what) const {
    return absl::DataLossError(
        Cat(path_, ": the ", name, " at offset ", handle.offset, " cannot be read: ", what));
  }
  absl::Status Damaged(const BlockHandle& handle, std::string_view name,
                       const absl::Status& why) const {
    return absl::Status(why.code(), ToAbsl(Cat(path_, ": the ", name, " at offset ", handle.offset,
                                               " cannot be read: ", ToStd(why.message()))));
  }

 private:
  const RandomAccessFile& file_;
  const std::string& path_;
  uint64_t identity_ = 0;
};

absl::Status CheckExpected(const std::string& path, const SSTableInfo& found,
                           const SSTableInfo& expected) {
  const uint64_t number =
      expected.ingested.has_value() ? expected.ingested->file_number : expected.file_number;
  if (found.identity == expected.identity && found.file_number == number) {
    return absl::OkStatus();
  }
  return absl::DataLossError(Cat(path, ": another SSTable than expected: number ",
                                 found.file_number, ", identity ", found.identity, " instead of ",
                                 number, ", ", expected.identity));
}

// Compares the sizes in the properties with the file, before memory is allocated for them: the data
// blocks end before the sections begin, and no section decodes to more than its bytes can hold.
absl::Status CheckSizes(const SectionReader& sections, const Footer& footer,
                        const SSTableProperties& properties) {
  const auto damaged = [&](std::string_view what) {
    return sections.Damaged(footer.properties, "list of properties", what);
  };
  for (const BlockHandle& section :
       {footer.index, footer.filter, footer.dictionary, footer.properties}) {
    if (section.size > 0 && section.offset < properties.data_size) {
      return damaged(Cat("it states ", properties.data_size, " bytes of data, but a section begins",
                         " at offset ", section.offset));
    }
  }
  if (footer.filter.size > 0 && footer.filter.offset < footer.index.offset + footer.index.size) {
    return damaged(Cat("the filter begins at offset ", footer.filter.offset,
                       ", which is before the end of the index"));
  }
  if (footer.index.size < kBlockHeaderSize) {
    return damaged(Cat("the index has ", footer.index.size, " bytes"));
  }
  if (properties.blocks > properties.data_size / kBlockTrailerSize) {
    return damaged(Cat("it states ", properties.blocks, " blocks, and ", properties.data_size,
                       " bytes of data"));
  }
  const auto can_be = [](uint64_t decoded, uint64_t stored) {
    return decoded <= std::max(stored, MostDecompressed(stored));
  };
  const uint64_t index_end = footer.index.offset + footer.index.size;
  if (!can_be(properties.index_size, index_end - properties.data_size)) {
    return damaged(Cat("it states ", properties.index_size, " bytes of index, which are not in ",
                       index_end - properties.data_size, " bytes of the file"));
  }
  if (!can_be(properties.dictionary_size, footer.dictionary.size)) {
    return damaged(Cat("it states ", properties.dictionary_size,
                       " bytes of dictionary, which are not in ", footer.dictionary.size,
                       " bytes of the file"));
  }
  return absl::OkStatus();
}

// Memory of an open SSTable that is not counted elsewhere: the file, its entry in OpenTables, its
// slots in a tablet and its versions, and the allocator's overhead for these.
constexpr size_t kAround = 768;

// Whether the budget has room for all indexes and filters that are charged. Half of it: while
// writers are at their limit, memtables and log take as much, and little is left for blocks. With a
// quarter, a table four times as large as the memory did not fit, with blocks of 4 KiB and row
// indexes, and a file in parts is scanned at a tenth of the speed.
bool HasRoomForIndex(const MemoryBudget& budget) {
  return budget.used(MemoryBudget::Use::kIndexes) <= budget.limit() / 2;
}

// An upper estimate of the memory that they take.
uint64_t IndexAndFilterMemory(const Footer& footer, const SSTableProperties& properties) {
  constexpr uint64_t kOfBlock = 40;  // offset, number and place of the key; what is known of it
  return properties.index_size + kOfBlock * properties.blocks + footer.filter.size;
}

// Reads index and filter of one file.
class IndexReader {
 public:
  IndexReader(SectionReader* sections, const Footer& footer, const SSTableProperties& properties)
      : sections_(*sections), footer_(footer), properties_(properties) {}

  absl::StatusOr<BlockIndex> ReadIndex() {
    absl::StatusOr<BlockIndex> index = ReadIndexUnchecked();
    if (index.ok() && index->size() != properties_.blocks) {
      index = absl::DataLossError(
          Cat("it has ", index->size(), " blocks, and the file ", properties_.blocks));
    }
    if (!index.ok()) return sections_.Damaged(footer_.index, "index", index.status());
    return index;
  }
  // The root of an index in parts. An index without parts is the only one of its root.
  absl::StatusOr<IndexRoot> ReadRoot() {
    absl::StatusOr<IndexRoot> root;
    if (properties_.index_parts == 0) {
      root = IndexRoot::OfOnePart(footer_.index, properties_.data_size, properties_.blocks,
                                  properties_.info.largest_key);
    } else {
      BT_ASSIGN_OR_RETURN(const std::string bytes, sections_.Read(footer_.index, "index", 0));
      root =
          IndexRoot::Load(bytes, properties_.data_size, properties_.blocks, footer_.index.offset);
      if (root.ok() && root->size() != properties_.index_parts) {
        root = absl::DataLossError(
            Cat("it has ", root->size(), " parts, and the file ", properties_.index_parts));
      }
    }
    if (!root.ok()) return sections_.Damaged(footer_.index, "index", root.status());
    return root;
  }
  // No pages if there is no filter.
  absl::StatusOr<FileParts::Filter> DescribeFilter() const {
    FileParts::Filter filter;
    if (footer_.filter.size == 0) return filter;
    const std::optional<FilterPages> pages = FilterPages::Of(footer_.filter);
    const uint64_t probes = properties_.filter_probes;
    filter.is_row_index = properties_.filter == FilterKind::kRowIndex;
    if (filter.is_row_index) {
      if (!pages.has_value() || !RowIndex::IsWellFormed(probes)) {
        return sections_.Damaged(footer_.filter, "row index",
                                 "its size or number of bits is impossible");
      }
      filter.row_index = RowIndex::Shape(static_cast<int>(probes), properties_.blocks);
    } else {
      if (!pages.has_value() || !BloomFilter::IsWellFormed(probes)) {
        return sections_.Damaged(footer_.filter, "filter",
                                 "its size or number of probes is impossible");
      }
      filter.bloom = {static_cast<int>(probes)};
    }
    filter.pages = *pages;
    return filter;
  }
  // The lines of a filter.
  absl::StatusOr<HashedLines> ReadLines(const FilterPages& pages) {
    BT_ASSIGN_OR_RETURN(
        const std::string stored,
        sections_.ReadBytes(footer_.filter.offset, StoredSize(footer_.filter), "filter"));
    HashedLines lines(pages.lines());
    for (uint64_t i = 0; i < pages.pages(); ++i) {
      const BlockHandle page = pages[i];
      const char* const bytes = stored.data() + (page.offset - footer_.filter.offset);
      BT_RETURN_IF_ERROR(sections_.Verify(page, "filter", bytes));
      if (EncodingOf(bytes, page.size) != BlockEncoding::kRaw) {
        return sections_.Damaged(page, "filter", "it is compressed");
      }
      lines.Set(i * FilterPages::kLines, {bytes, page.size});
    }
    return lines;
  }

 private:
  absl::StatusOr<BlockIndex> ReadIndexUnchecked() {
    if (properties_.index_parts == 0) {
      BT_ASSIGN_OR_RETURN(const std::string index,
                          sections_.Read(footer_.index, "index", properties_.index_size));
      return BlockIndex::Load(index, properties_.data_size);
    }
    BT_ASSIGN_OR_RETURN(const IndexRoot root, ReadRoot());
    const uint64_t begin = properties_.data_size;
    BT_ASSIGN_OR_RETURN(const std::string stored,
                        sections_.ReadBytes(begin, footer_.index.offset - begin, "index"));
    std::vector<std::string> decoded;
    std::vector<std::string_view> parts;
    decoded.reserve(root.size());
    uint64_t left = properties_.index_size;
    for (size_t i = 0; i < root.size(); ++i) {
      const BlockHandle part = root[i].handle;
      const char* const bytes = stored.data() + (part.offset - begin);
      BT_RETURN_IF_ERROR(sections_.Verify(part, "index", bytes));
      if (EncodingOf(bytes, part.size) == BlockEncoding::kRaw) {
        parts.emplace_back(bytes, part.size);
      } else {
        const uint64_t most = std::min(properties_.largest_index_part, left);
        BT_ASSIGN_OR_RETURN(decoded.emplace_back(),
                            sections_.Decode(part, "index", {bytes, part.size}, most));
        parts.emplace_back(decoded.back());
        left -= decoded.back().size();
      }
    }
    return BlockIndex::Load(parts, properties_.data_size);
  }

  SectionReader& sections_;
  const Footer& footer_;
  const SSTableProperties& properties_;
};

}  // namespace

absl::StatusOr<Ref<SSTable>> SSTable::Open(FileSystem* file_system, std::string path,
                                           const SSTableInfo& expected, Options options) {
  return OpenExpecting(file_system, std::move(path), &expected, std::move(options));
}

absl::StatusOr<Ref<SSTable>> SSTable::OpenUnknown(FileSystem* file_system, std::string path,
                                                  Options options) {
  return OpenExpecting(file_system, std::move(path), nullptr, std::move(options));
}

absl::StatusOr<Ref<SSTable>> SSTable::OpenExpecting(FileSystem* file_system, std::string path,
                                                    const SSTableInfo* expected, Options options) {
  BudgetCharge charge(options.budget.get(), MemoryBudget::Use::kIndexes);
  BT_ASSIGN_OR_RETURN(Contents contents, Read(file_system, path, expected, options, &charge));
  SSTableInfo info = std::exchange(contents.properties.info, {});
  if (expected != nullptr && expected->ingested.has_value()) info = *expected;
  const Ref<SSTable> table(new SSTable(std::move(path), info, std::move(options)));
  charge.Set(0);
  table->Become(std::move(contents));
  return table;
}

Ref<SSTable> SSTable::Defer(std::string path, const SSTableInfo& expected, Options options) {
  Ref<SSTable> table(new SSTable(std::move(path), expected, std::move(options)));
  table->hold_ = std::make_unique<FilePool::Hold>(table->options_.files, table->path_);
  return table;
}

absl::Status SSTable::OpenNow(const CallLimits* limits) const {
  const WaitTimer wait;
  const LimitedMutexLock lock(&open_mutex_, limits, "the read");
  BT_RETURN_IF_ERROR(lock.status());
  if (is_open()) return absl::OkStatus();
  BudgetCharge charge(options_.budget.get(), MemoryBudget::Use::kIndexes);
  absl::StatusOr<Contents> contents = Read(nullptr, path_, &info_, options_, &charge);
  if (absl::IsNotFound(contents.status())) {
    // METADATA names the file, so it existed.
    return absl::DataLossError(contents.status().message());
  }
  BT_RETURN_IF_ERROR(contents.status());
  contents->properties.info = {};
  charge.Set(0);
  Become(*std::move(contents));
  hold_.reset();
  return absl::OkStatus();
}

absl::StatusOr<SSTable::Contents> SSTable::Read(FileSystem* file_system, const std::string& path,
                                                const SSTableInfo* expected, const Options& options,
                                                BudgetCharge* charge) {
  BlockSource source;
  BT_ASSIGN_OR_RETURN(source.file, options.files != nullptr
                                       ? options.files->Open(path, options.read_mode)
                                       : file_system->NewRandomAccessFile(path, options.read_mode));
  if (expected != nullptr && source.file->size() != expected->size) {
    return absl::DataLossError(
        Cat(path, ": has ", source.file->size(), " bytes instead of ", expected->size));
  }
  SectionReader sections(*source.file, path);
  BT_ASSIGN_OR_RETURN(const Footer footer, sections.ReadFooter());
  BT_ASSIGN_OR_RETURN(std::string bytes, sections.Read(footer.properties, "list of properties", 0));
  auto properties = SSTableProperties::Decode(bytes);
  if (!properties.ok()) {
    return sections.Damaged(footer.properties, "list of properties", properties.status());
  }
  properties->info.size = source.file->size();
  if (properties->info.identity != footer.identity) {
    return sections.Damaged(footer.properties, "list of properties", "it belongs to another file");
  }
  if (expected != nullptr) {
    BT_RETURN_IF_ERROR(CheckExpected(path, properties->info, *expected));
  }

  BT_RETURN_IF_ERROR(CheckSizes(sections, footer, *properties));

  Contents contents;
  const uint64_t memory = IndexAndFilterMemory(footer, *properties);
  charge->Set(memory);
  contents.whole = options.whole || options.in_memory ||
                   (Shortcuts().Has(Shortcut::kWholeIndex) && HasRoomForIndex(*options.budget));
  IndexReader reader(&sections, footer, *properties);
  BT_ASSIGN_OR_RETURN(contents.filter_in_parts, reader.DescribeFilter());
  const FileParts::Filter& filter = contents.filter_in_parts;
  if (!contents.whole) {
    charge->Set(StoredSize(footer.index));
    BT_ASSIGN_OR_RETURN(contents.root, reader.ReadRoot());
  } else {
    // The sections as they are in the file. That others are opened now is no reason to open a file
    // in parts.
    BudgetCharge sections_charge(options.budget.get(), MemoryBudget::Use::kReads);
    sections_charge.Set(memory);
    BT_ASSIGN_OR_RETURN(contents.index, reader.ReadIndex());
    charge->Set(contents.index.memory() + footer.filter.size);
    if (filter.pages.lines() > 0) {
      BT_ASSIGN_OR_RETURN(HashedLines lines, reader.ReadLines(filter.pages));
      if (filter.is_row_index) {
        contents.row_index = RowIndex(std::move(lines), filter.row_index);
      } else {
        contents.filter = BloomFilter(std::move(lines), filter.bloom);
      }
    }
  }

  BlockSource& opened = contents.source;
  opened = std::move(source);
  opened.path = path;
  opened.number = expected != nullptr ? expected->file_number : properties->info.file_number;
  opened.identity = footer.identity;
  opened.compressed = properties->compression != Compression::kNone;
  opened.largest_block = properties->largest_block;
  if (!contents.whole) {
    // Parts of the index and pages of the filter are blocks, too.
    opened.largest_block = std::max(
        {opened.largest_block, FilterPages::kPageSize, footer.index.size,
         properties->index_parts == 0 ? properties->index_size : properties->largest_index_part});
  }
  opened.dictionary = footer.dictionary;
  opened.dictionary_size = properties->dictionary_size;
  contents.properties = *std::move(properties);
  return contents;
}

SSTable::SSTable(std::string path, const SSTableInfo& info, Options options)
    : info_(info),
      path_(std::move(path)),
      options_(std::move(options)),
      charge_(options_.budget.get(), MemoryBudget::Use::kIndexes),
      sequence_shift_(info_.sequence_shift()) {
  charge_.Set(sizeof(SSTable) + kAround + info_.smallest_key.capacity() +
              info_.largest_key.capacity() + path_.capacity());
}

SSTable::Opened::Opened(Contents* contents, const Options& options)
    : properties(std::move(contents->properties)),
      index(std::move(contents->index)),
      blocks(std::move(contents->source), contents->whole ? &index : nullptr, options.budget.get(),
             {.in_memory = options.in_memory, .residency = options.residency}) {}

void SSTable::Become(Contents contents) const {
  ABSL_ASSERT(!is_open() && "a file is opened once, and then constant");
  opened_ = std::make_unique<Opened>(&contents, options_);
  filter_has_columns_ =
      opened_->properties.filter == FilterKind::kRowAndColumn && info_.row_deletions == 0;
  if (contents.whole) {
    filter_ = std::move(contents.filter);
    row_index_ = std::move(contents.row_index);
  } else {
    parts_ = std::make_unique<FileParts>(std::move(contents.root), contents.filter_in_parts,
                                         &opened_->blocks);
    BudgetAccess::CountInParts(*options_.budget, 1);
  }
  charge_.Set(sizeof(SSTable) + sizeof(Opened) + kAround + info_.smallest_key.capacity() +
              info_.largest_key.capacity() +
              info_.families.capacity() * sizeof(SSTableInfo::FamilyBytes) + 3 * path_.capacity() +
              opened_->properties.memory() + opened_->index.memory() + filter_.memory() +
              row_index_.memory() + (parts_ == nullptr ? 0 : parts_->memory()));
  state_.store(contents.whole ? State::kWhole : State::kInParts, std::memory_order_release);
}

SSTable::~SSTable() {
  if (parts_ != nullptr) BudgetAccess::CountInParts(*options_.budget, -1);
  if (options_.on_close != nullptr) options_.on_close(this);
}

RowIndex::Answer SSTable::LookUpRowSlowly(uint64_t row_hash, RowIndex::Location* location,
                                          const CallLimits* limits) const {
  if (!EnsureOpen(limits).ok()) return RowIndex::Answer::kUnknown;
  return is_whole() ? LookUpRow(row_hash, location, limits)
                    : parts_->LookUp(row_hash, location, limits);
}

bool SSTable::MayContainColumnSlowly(uint64_t row_hash, uint64_t column_hash,
                                     const CallLimits* limits) const {
  if (!EnsureOpen(limits).ok()) return true;
  if (is_whole()) return MayContainColumn(row_hash, column_hash, limits);
  return filter_has_columns_ ? parts_->MayContain(column_hash, limits)
                             : MayContainRow(row_hash, limits);
}

bool SSTable::IsRowInCache(std::string_view row_prefix, const RowIndex::Location* location) const {
  // It may be opened meanwhile.
  if (state_.load(std::memory_order_acquire) != State::kInParts) return false;
  const IndexRoot& root = parts_->root();
  const size_t i = location != nullptr ? root.PartOf(location->block) : root.Find(row_prefix);
  if (i == root.size()) return true;
  const Ref<IndexPart> part = parts_->FindIndex(i);
  if (!part) return false;
  const BlockIndex& index = part->index();
  size_t block =
      location != nullptr ? location->block - part->first_block() : index.Find(row_prefix);
  // Its last block may be that of another part.
  for (; block < index.size(); ++block) {
    if (!opened_->blocks.HasAt(index.handle(block))) return false;
    if (!index.RowContinues(block) || !index.KeyBeginsWith(block, row_prefix)) return true;
  }
  return false;
}

std::vector<std::string> SSTable::SampleKeys(size_t n) const {
  if (!EnsureOpen().ok()) return {};
  const size_t most = is_whole() ? opened_->index.size() : parts_->root().size();
  std::vector<std::string> keys;
  for (size_t i = 0; i < std::min(n, most); ++i) {
    const size_t at = most <= n ? i : i * most / n;
    const std::string key =
        WithWholeRow(is_whole() ? opened_->index.KeyOf(at) : parts_->root().KeyOf(at));
    // The last one may have been shortened to what is behind the file.
    keys.push_back(std::min(key, info_.largest_key));
  }
  return keys;
}

std::vector<std::string> SSTable::BlockEnds() const {
  ABSL_ASSERT(is_whole() && "the index is in memory");
  std::vector<std::string> keys;
  for (size_t i = 0; i < opened_->index.size(); ++i) keys.push_back(opened_->index.KeyOf(i));
  return keys;
}

uint64_t SSTable::BytesBefore(std::string_view key) const {
  ABSL_ASSERT(is_open() && "the index is read from the file");
  uint64_t before;
  if (is_whole()) {
    const size_t block = opened_->index.Find(key);
    if (block == opened_->index.size()) return info_.size;
    before = opened_->index.handle(block).offset;
  } else {
    const size_t part = parts_->root().Find(key);
    if (part == parts_->root().size()) return info_.size;
    before = parts_->root()[part].data_begin;
  }
  if (opened_->properties.data_size == 0) return 0;
  // Index and filter take a share of each block.
  const double share =
      static_cast<double>(before) / static_cast<double>(opened_->properties.data_size);
  return static_cast<uint64_t>(share * static_cast<double>(info_.size));
}

}  // namespace bigtable
