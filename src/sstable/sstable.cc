#include "sstable/sstable.h"

#include <algorithm>
#include <utility>

#include "absl/base/macros.h"
#include "absl/status/status.h"

#include "base/status.h"
#include "base/strings.h"
#include "base/try_allocate.h"
#include "blocks/compression.h"
#include "blocks/stored_block.h"
#include "cache/block_cache.h"
#include "monitoring/thread_calls.h"
#include "sstable/footer.h"

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

  // Returns a section, verified and decoded. `decoded_size` is its decoded size if it is
  // compressed.
  absl::StatusOr<std::string> Read(const BlockHandle& handle, std::string_view name,
                                   uint64_t decoded_size) {
    std::string bytes;
    if (!TryResize(&bytes, handle.size + kBlockTrailerSize)) {
      return NoMemoryFor(path_, Cat("its ", name), handle.size);
    }
    BT_RETURN_IF_ERROR(file_.Read(handle.offset, bytes.size(), bytes.data()));
    if (!BlockTrailerHolds(bytes.data(), handle.size, identity_, handle.offset)) {
      return Damaged(handle, name, "it has a wrong checksum");
    }
    const BlockEncoding encoding = EncodingOf(bytes.data(), handle.size);
    bytes.resize(handle.size);
    if (encoding == BlockEncoding::kRaw) return bytes;
    std::string decoded;
    if (encoding == BlockEncoding::kZstd && DecompressedSize(bytes) == decoded_size) {
      if (!TryResize(&decoded, decoded_size)) {
        return NoMemoryFor(path_, Cat("its ", name), decoded_size);
      }
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
  const auto can_be = [](uint64_t decoded, uint64_t stored) {
    return decoded <= std::max(stored, MostDecompressed(stored));
  };
  if (!can_be(properties.index_size, footer.index.size)) {
    return damaged(Cat("it states ", properties.index_size, " bytes of index, which are not in ",
                       footer.index.size, " bytes of the file"));
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

// Reads the filter of the kind that the properties state. `blocks`: how many the file has.
absl::Status ReadFilter(SectionReader* sections, const BlockHandle& handle,
                        const SSTableProperties& properties, size_t blocks, BloomFilter* bloom,
                        RowIndex* row_index) {
  BT_ASSIGN_OR_RETURN(const std::string bytes, sections->Read(handle, "filter", 0));
  const uint64_t probes = properties.filter_probes;
  if (properties.filter == FilterKind::kRowIndex) {
    if (!RowIndex::IsWellFormed(bytes, probes)) {
      return sections->Damaged(handle, "row index", "its size or number of bits is impossible");
    }
    *row_index = RowIndex(bytes, static_cast<int>(probes), blocks);
  } else if (!BloomFilter::IsWellFormed(bytes, probes)) {
    return sections->Damaged(handle, "filter", "its size or number of probes is impossible");
  } else {
    *bloom = BloomFilter(bytes, static_cast<int>(probes));
  }
  return absl::OkStatus();
}

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

  // The sections as they are in the file, and the structures made from them.
  charge->Set(2 * std::max(footer.index.size, properties->index_size));
  BT_ASSIGN_OR_RETURN(bytes, sections.Read(footer.index, "index", properties->index_size));
  auto index = BlockIndex::Load(bytes, properties->data_size);
  if (!index.ok()) return sections.Damaged(footer.index, "index", index.status());
  if (index->size() != properties->blocks) {
    return sections.Damaged(
        footer.index, "index",
        Cat("it has ", index->size(), " blocks, and the file ", properties->blocks));
  }
  bytes = std::string();
  charge->Set(index->memory() + 2 * footer.filter.size);
  BloomFilter filter;
  RowIndex row_index;
  if (footer.filter.size > 0) {
    BT_RETURN_IF_ERROR(
        ReadFilter(&sections, footer.filter, *properties, index->size(), &filter, &row_index));
  }

  source.path = path;
  source.number = expected != nullptr ? expected->file_number : properties->info.file_number;
  source.identity = footer.identity;
  source.compressed = properties->compression != Compression::kNone;
  source.largest_block = properties->largest_block;
  source.dictionary = footer.dictionary;
  source.dictionary_size = properties->dictionary_size;
  return Contents{*std::move(properties), *std::move(index), std::move(filter),
                  std::move(row_index), std::move(source)};
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

void SSTable::Become(Contents contents) const {
  ABSL_ASSERT(!is_open() && "a file is opened once, and then constant");
  properties_ = std::move(contents.properties);
  index_ = std::move(contents.index);
  filter_ = std::move(contents.filter);
  row_index_ = std::move(contents.row_index);
  filter_has_columns_ = properties_.filter == FilterKind::kRowAndColumn && info_.row_deletions == 0;
  blocks_.emplace(
      std::move(contents.source), &index_, options_.budget.get(),
      BlockReader::Options{.in_memory = options_.in_memory, .residency = options_.residency});
  charge_.Set(sizeof(SSTable) + kAround + info_.smallest_key.capacity() +
              info_.largest_key.capacity() +
              info_.families.capacity() * sizeof(SSTableInfo::FamilyBytes) + 3 * path_.capacity() +
              properties_.memory() + index_.memory() + filter_.memory() + row_index_.memory());
  is_open_.store(true, std::memory_order_release);
}

SSTable::~SSTable() {
  if (options_.on_close != nullptr) options_.on_close(this);
}

std::vector<std::string> SSTable::SampleKeys(size_t n) const {
  if (!EnsureOpen().ok()) return {};
  const size_t blocks = index_.size();
  std::vector<std::string> keys;
  for (size_t i = 0; i < std::min(n, blocks); ++i) {
    keys.push_back(index_.LastKey(blocks <= n ? i : i * blocks / n));
  }
  return keys;
}

uint64_t SSTable::BytesBefore(std::string_view key) const {
  ABSL_ASSERT(is_open() && "the index is read from the file");
  const size_t block = index_.Find(key);
  if (block == index_.size()) return info_.size;
  const BlockHandle last = index_.handle(index_.size() - 1);
  // Index and filter take a share of each block.
  const double share = static_cast<double>(index_.handle(block).offset) /
                       static_cast<double>(last.offset + last.size + kBlockTrailerSize);
  return static_cast<uint64_t>(share * static_cast<double>(info_.size));
}

}  // namespace bigtable
