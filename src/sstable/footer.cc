#include "sstable/footer.h"

#include <algorithm>

#include "absl/base/macros.h"
#include "absl/status/status.h"

#include "base/checksum.h"
#include "base/coding.h"
#include "base/strings.h"

namespace bigtable {
namespace {

constexpr std::string_view kMagic = "BTsstabl";
constexpr size_t kBeforeChecksum = Footer::kSize - 16;

void AppendHandle(std::string* out, const BlockHandle& handle) {
  AppendFixed64(out, handle.offset);
  AppendFixed64(out, handle.size);
}

}  // namespace

void Footer::EncodeTo(std::string* out) const {
  const size_t begin = out->size();
  AppendHandle(out, index);
  AppendHandle(out, filter);
  AppendHandle(out, dictionary);
  AppendHandle(out, properties);
  AppendFixed64(out, identity);
  AppendFixed32(out, kFormatVersion);
  AppendFixed32(out, kSize);
  AppendFixed64(out, Checksum(std::string_view(*out).substr(begin)));
  out->append(kMagic);
  ABSL_ASSERT(out->size() - begin == kSize && "it is read from the last bytes of the file");
}

absl::StatusOr<Footer> Footer::Decode(std::string_view bytes, std::string_view path,
                                      uint64_t file_size) {
  const auto damaged = [&](std::string_view what) {
    return absl::DataLossError(Cat(path, ": the footer of this SSTable, at offset ",
                                   file_size - std::min<uint64_t>(file_size, kSize), ", ", what));
  };
  if (bytes.size() != kSize || file_size < kSize) return damaged("is cut off");
  if (!bytes.ends_with(kMagic))
    return damaged("does not end with the magic bytes: it is damaged, or the file is no SSTable");
  Decoder decoder(bytes);
  Footer footer;
  for (BlockHandle* handle :
       {&footer.index, &footer.filter, &footer.dictionary, &footer.properties}) {
    handle->offset = decoder.Fixed64();
    handle->size = decoder.Fixed64();
  }
  footer.identity = decoder.Fixed64();
  const uint32_t version = decoder.Fixed32();
  const uint32_t size = decoder.Fixed32();
  // The footer of a later version may be longer, and this program cannot verify its checksum.
  const bool sound = decoder.Fixed64() == Checksum(bytes.substr(0, kBeforeChecksum));
  if (version > kFormatVersion && (sound || size > kSize)) {
    return absl::FailedPreconditionError(Cat(path, ": this SSTable has format version ", version,
                                             "; this program knows version ", kFormatVersion));
  }
  if (!sound) return damaged("has a wrong checksum");
  if (version != kFormatVersion || size != kSize) return damaged("has an impossible version");
  for (const BlockHandle* handle :
       {&footer.index, &footer.filter, &footer.dictionary, &footer.properties}) {
    const uint64_t most = file_size - kSize;
    if (handle->size > most || handle->offset > most - handle->size ||
        (handle->size > 0 && most - handle->size - handle->offset < kBlockTrailerSize)) {
      return damaged("names a section that is not in the file");
    }
  }
  return footer;
}

}  // namespace bigtable
