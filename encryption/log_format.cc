#include "encryption/log_format.h"

#include <algorithm>
#include <cstring>

#include "base/coding.h"
#include "base/status.h"

namespace bigtable {
namespace {

bool IsZero(const char* block) { return (LoadFixed64(block) | LoadFixed64(block + 8)) == 0; }

}  // namespace

absl::Status DecryptUnits(Xts* xts, uint64_t position, char* bytes, size_t n) {
  for (size_t done = 0; done < n; done += Xts::kUnit) {
    char* const unit = bytes + done;
    const size_t size = std::min(Xts::kUnit, n - done);
    uint32_t zeros = 0;  // a bit for each block
    for (size_t at = 0; at < size; at += Xts::kBlock) {
      if (IsZero(unit + at)) zeros |= 1u << at / Xts::kBlock;
    }
    if (zeros == (uint64_t{1} << size / Xts::kBlock) - 1) continue;
    BT_RETURN_IF_ERROR(xts->Transform((position + done) / Xts::kUnit, unit, size, unit));
    for (size_t at = 0; zeros != 0 && at < size; at += Xts::kBlock) {
      if ((zeros >> at / Xts::kBlock & 1) != 0) std::memset(unit + at, 0, Xts::kBlock);
    }
  }
  return absl::OkStatus();
}

}  // namespace bigtable
