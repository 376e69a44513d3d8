#include "sstable/file_parts.h"

#include "base/status.h"
#include "base/strings.h"
#include "blocks/cached_blocks.h"

namespace bigtable {

// Only this class looks up the handle of a part of the index, so what is found is one.
Ref<IndexPart> FileParts::FindIndex(size_t i) const {
  const Ref<Block> found = blocks_.cache()->Find(root_[i].handle);
  return Ref<IndexPart>(static_cast<IndexPart*>(found.get()));
}

absl::Status FileParts::ReadIndex(size_t i, const ReadSettings& settings,
                                  Ref<IndexPart>* part) const {
  *part = FindIndex(i);
  if (*part) return absl::OkStatus();
  const IndexRoot::Part place = root_[i];
  Ref<Block> bytes;
  BT_RETURN_IF_ERROR(blocks_.file()->Read(place.handle, settings.limits, nullptr, &bytes));
  auto index = BlockIndex::LoadPart(bytes->data(), place.data_begin, place.data_end);
  if (index.ok() && index->size() != place.blocks) {
    index =
        absl::DataLossError(Cat("it has ", index->size(), " blocks, and the file ", place.blocks));
  }
  if (!index.ok()) {
    return blocks_.file()->Damaged(place.handle,
                                   Cat("is no part of the index: ", index.status().message()));
  }
  *part = MakeRef<IndexPart>(*std::move(index), place.first_block);
  blocks_.cache()->Add(place.handle, settings, *part);
  return absl::OkStatus();
}

const char* FileParts::ReadLine(size_t number, const CallLimits* limits, Ref<Block>* page) const {
  const ReadSettings settings{.limits = limits};
  const BlockHandle place = filter_.pages[number / FilterPages::kLines];
  std::string_view bytes;
  if (!blocks_.ReadAt(place, settings, &bytes, page).ok()) return nullptr;
  if (bytes.size() != place.size) return nullptr;  // it is not a page
  return bytes.data() + number % FilterPages::kLines * HashedLines::kLineSize;
}

RowIndex::Answer FileParts::LookUp(uint64_t hash, RowIndex::Location* location,
                                   const CallLimits* limits) const {
  using Answer = RowIndex::Answer;
  if (filter_.pages.lines() == 0) return Answer::kUnknown;
  if (!filter_.is_row_index) return MayContain(hash, limits) ? Answer::kUnknown : Answer::kAbsent;
  Ref<Block> page;
  return filter_.row_index.Find(hash, filter_.pages.lines(), location,
                                [&](size_t number) { return ReadLine(number, limits, &page); });
}

bool FileParts::MayContain(uint64_t hash, const CallLimits* limits) const {
  const uint64_t lines = filter_.pages.lines();
  if (lines == 0 || filter_.is_row_index) return true;
  Ref<Block> page;
  const char* const line = ReadLine(HashedLines::NumberOf(hash, lines), limits, &page);
  return line == nullptr || filter_.bloom.MayContain(line, hash);
}

bool FileParts::HasPage(uint64_t hash) const {
  const uint64_t lines = filter_.pages.lines();
  return lines == 0 ||
         blocks_.HasAt(filter_.pages[HashedLines::NumberOf(hash, lines) / FilterPages::kLines]);
}

}  // namespace bigtable
