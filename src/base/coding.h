// Encoding of integers. Fixed widths are little-endian. Big-endian forms are for keys, because they
// compare with memcmp in numeric order. Varints have seven bits per byte, lowest bits first.
#ifndef BIGTABLE_BASE_CODING_H_
#define BIGTABLE_BASE_CODING_H_

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace bigtable {

static_assert(std::endian::native == std::endian::little,
              "bigtable needs a little-endian machine: its files are, and it reads them in place");

inline void StoreFixed32(char* to, uint32_t v) { std::memcpy(to, &v, sizeof v); }
inline void StoreFixed64(char* to, uint64_t v) { std::memcpy(to, &v, sizeof v); }
inline uint32_t LoadFixed32(const char* from) {
  uint32_t v;
  std::memcpy(&v, from, sizeof v);
  return v;
}
inline uint64_t LoadFixed64(const char* from) {
  uint64_t v;
  std::memcpy(&v, from, sizeof v);
  return v;
}
inline void StoreBigEndian64(char* to, uint64_t v) { StoreFixed64(to, __builtin_bswap64(v)); }
inline uint64_t LoadBigEndian64(const char* from) { return __builtin_bswap64(LoadFixed64(from)); }

inline void AppendFixed32(std::string* out, uint32_t v) {
  char buffer[4];
  StoreFixed32(buffer, v);
  out->append(buffer, sizeof buffer);
}
inline void AppendFixed64(std::string* out, uint64_t v) {
  char buffer[8];
  StoreFixed64(buffer, v);
  out->append(buffer, sizeof buffer);
}

inline constexpr int kMaxVarint32 = 5;
inline constexpr int kMaxVarint64 = 10;

inline char* StoreVarint64(char* to, uint64_t v) {
  while (v >= 0x80) {
    *to++ = static_cast<char>(v | 0x80);
    v >>= 7;
  }
  *to++ = static_cast<char>(v);
  return to;
}
inline int VarintLength(uint64_t v) { return (std::bit_width(v | 1) + 6) / 7; }
inline void AppendVarint64(std::string* out, uint64_t v) {
  char buffer[kMaxVarint64];
  out->append(buffer, static_cast<size_t>(StoreVarint64(buffer, v) - buffer));
}
// The text's length as a varint, then the text.
inline void AppendLengthPrefixed(std::string* out, std::string_view text) {
  AppendVarint64(out, text.size());
  out->append(text);
}

// Signed numbers such that small magnitudes have short varints.
inline uint64_t ZigZag(int64_t v) {
  return (static_cast<uint64_t>(v) << 1) ^ static_cast<uint64_t>(v >> 63);
}
inline int64_t UnZigZag(uint64_t v) {
  return static_cast<int64_t>(v >> 1) ^ -static_cast<int64_t>(v & 1);
}

// Decodes a varint from [p, end). Returns its end, or nullptr if it is truncated or too long.
inline const char* ParseVarint64(const char* p, const char* end, uint64_t* v) {
  uint64_t result = 0;
  for (int shift = 0; shift <= 63 && p < end; shift += 7) {
    const uint64_t byte = static_cast<unsigned char>(*p++);
    if (shift == 63 && byte > 1) return nullptr;
    result |= (byte & 0x7f) << shift;
    if (byte < 0x80) {
      *v = result;
      return p;
    }
  }
  return nullptr;
}
inline const char* ParseVarint32(const char* p, const char* end, uint32_t* v) {
  if (p < end && static_cast<unsigned char>(*p) < 0x80) [[likely]] {
    *v = static_cast<unsigned char>(*p);
    return p + 1;
  }
  uint64_t wide;
  p = ParseVarint64(p, end, &wide);
  if (p == nullptr || wide > UINT32_MAX) return nullptr;
  *v = static_cast<uint32_t>(wide);
  return p;
}

// Reads values one by one from the front of untrusted bytes. After a failed read all later ones
// fail: read everything, then check ok().
class Decoder {
 public:
  explicit Decoder(std::string_view bytes) : p_(bytes.data()), end_(p_ + bytes.size()) {}

  uint8_t Byte() { return Need(1) ? static_cast<uint8_t>(*p_++) : uint8_t{0}; }
  uint32_t Fixed32() {
    if (!Need(4)) return 0;
    p_ += 4;
    return LoadFixed32(p_ - 4);
  }
  uint64_t Fixed64() {
    if (!Need(8)) return 0;
    p_ += 8;
    return LoadFixed64(p_ - 8);
  }
  uint64_t Varint() {
    uint64_t v = 0;
    const char* next = ok_ ? ParseVarint64(p_, end_, &v) : nullptr;
    if (next == nullptr) {
      ok_ = false;
      return 0;
    }
    p_ = next;
    return v;
  }
  std::string_view Bytes(uint64_t n) {
    if (!Need(n)) return {};
    p_ += n;
    return {p_ - n, static_cast<size_t>(n)};
  }
  std::string_view LengthPrefixed() { return Bytes(Varint()); }

  bool ok() const { return ok_; }
  bool at_end() const { return p_ == end_; }
  std::string_view rest() const { return {p_, static_cast<size_t>(end_ - p_)}; }

 private:
  bool Need(uint64_t n) {
    if (ok_ && n <= static_cast<uint64_t>(end_ - p_)) return true;
    ok_ = false;
    return false;
  }

  const char* p_;
  const char* end_;
  bool ok_ = true;
};

}  // namespace bigtable

#endif  // BIGTABLE_BASE_CODING_H_
