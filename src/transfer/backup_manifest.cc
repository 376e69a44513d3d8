#include "transfer/backup_manifest.h"

#include <cstdint>
#include <limits>

#include "absl/status/status.h"

#include "base/coding.h"
#include "base/strings.h"

namespace bigtable {
namespace {

constexpr uint8_t kManifestVersion = 2;
constexpr int64_t kNever = std::numeric_limits<int64_t>::max();  // ToUnixMicros(InfiniteFuture())

}  // namespace

std::string BackupManifest::Encode() const {
  std::string out(1, static_cast<char>(kManifestVersion));
  AppendVarint64(&out, ZigZag(absl::ToUnixMicros(time)));
  AppendVarint64(&out, sequence);
  AppendLengthPrefixed(&out, description);
  AppendVarint64(&out, ZigZag(absl::ToUnixMicros(expire_time)));
  AppendVarint64(&out, new_files);
  AppendVarint64(&out, new_bytes);
  AppendVarint64(&out, service_files.size());
  for (const auto& [name, contents] : service_files) {
    AppendLengthPrefixed(&out, name);
    AppendLengthPrefixed(&out, contents);
  }
  AppendVarint64(&out, files.size());
  for (const BackupFile& file : files) {
    AppendVarint64(&out, file.number);
    AppendVarint64(&out, file.size);
    AppendFixed64(&out, file.identity);
    AppendFixed64(&out, file.checksum);
  }
  AppendVarint64(&out, tablets.size());
  for (const BackupTablet& tablet : tablets) {
    AppendLengthPrefixed(&out, tablet.row);
    AppendLengthPrefixed(&out, tablet.operations);
    AppendVarint64(&out, tablet.files.size());
    for (const uint64_t number : tablet.files) AppendVarint64(&out, number);
  }
  return out;
}

absl::StatusOr<BackupManifest> BackupManifest::Decode(std::string_view bytes) {
  Decoder in(bytes);
  const uint8_t version = in.Byte();
  if (in.ok() && (version < 1 || version > kManifestVersion)) {
    return absl::FailedPreconditionError(
        Cat("format version ", version, "; this program knows 1 to ", kManifestVersion));
  }
  BackupManifest manifest;
  manifest.time = absl::FromUnixMicros(UnZigZag(in.Varint()));
  manifest.sequence = in.Varint();
  manifest.description = in.LengthPrefixed();
  if (version >= 2) {
    const int64_t micros = UnZigZag(in.Varint());
    if (micros != kNever) manifest.expire_time = absl::FromUnixMicros(micros);
  }
  manifest.new_files = in.Varint();
  manifest.new_bytes = in.Varint();
  for (uint64_t n = in.Varint(); in.ok() && n > 0; --n) {
    const std::string_view name = in.LengthPrefixed();
    manifest.service_files[std::string(name)] = in.LengthPrefixed();
  }
  for (uint64_t n = in.Varint(); in.ok() && n > 0; --n) {
    BackupFile& file = manifest.files.emplace_back();
    file.number = in.Varint();
    file.size = in.Varint();
    file.identity = in.Fixed64();
    file.checksum = in.Fixed64();
  }
  for (uint64_t n = in.Varint(); in.ok() && n > 0; --n) {
    BackupTablet& tablet = manifest.tablets.emplace_back();
    tablet.row = in.LengthPrefixed();
    tablet.operations = in.LengthPrefixed();
    for (uint64_t files = in.Varint(); in.ok() && files > 0; --files) {
      tablet.files.insert(in.Varint());
    }
  }
  if (!in.ok() || !in.at_end() || manifest.sequence > kMaxSequence) {
    return absl::DataLossError("it is not the description of a backup");
  }
  return manifest;
}

}  // namespace bigtable
