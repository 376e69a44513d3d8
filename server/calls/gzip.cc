#include "server/calls/gzip.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <zlib.h>

#include "grpcpp/impl/codegen/proto_utils.h"
#include "grpcpp/support/slice.h"

namespace bigtable::server {
namespace {

// RFC 1952: a message begins with two bytes of its own, and ends with its size, in four bytes, the
// least significant first.
constexpr size_t kSizeBytes = 4;
// For zlib: 15 bits of window, and a header of gzip.
constexpr int kWindowOfGzip = 15 + 16;

// A stream of zlib, which ends with the object.
class Inflater {
 public:
  Inflater() : is_ready_(inflateInit2(&stream_, kWindowOfGzip) == Z_OK) {}
  ~Inflater() {
    if (is_ready_) inflateEnd(&stream_);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  bool is_ready() const { return is_ready_; }
  z_stream* stream() { return &stream_; }

 private:
  z_stream stream_ = {};
  const bool is_ready_;
};

// The next bytes of a message, of which no copy is made. Empty: these were all.
std::string_view NextOf(grpc::ProtoBufferReader* reader) {
  const void* data = nullptr;
  int size = 0;
  while (reader->Next(&data, &size)) {
    if (size > 0) return {static_cast<const char*>(data), static_cast<size_t>(size)};
  }
  return {};
}

}  // namespace

absl::Status DamagedGzipError() {
  return absl::InternalError("the request is compressed, and cannot be decompressed");
}

std::optional<uint64_t> GzipSize(grpc::ByteBuffer* message) {
  constexpr std::string_view kMagic = "\x1f\x8b";
  grpc::ProtoBufferReader reader(message);
  std::string first;
  std::string last;
  for (std::string_view piece; !(piece = NextOf(&reader)).empty();) {
    if (first.size() < kMagic.size()) {
      first += piece.substr(0, kMagic.size() - first.size());
      if (!kMagic.starts_with(first)) return std::nullopt;
    }
    last += piece.substr(piece.size() - std::min(piece.size(), kSizeBytes));
    if (last.size() > kSizeBytes) last.erase(0, last.size() - kSizeBytes);
  }
  if (first != kMagic) return std::nullopt;
  uint64_t size = 0;
  for (size_t i = last.size(); i > 0; --i) size = size << 8 | static_cast<uint8_t>(last[i - 1]);
  return size;
}

absl::Status Gunzip(uint64_t size, grpc::ByteBuffer* message) {
  Inflater inflater;
  if (!inflater.is_ready() || size > message->Length() * kMostGzipRatio) return DamagedGzipError();
  grpc::Slice output(static_cast<size_t>(size));
  z_stream* const stream = inflater.stream();
  stream->next_out = const_cast<uint8_t*>(output.begin());
  stream->avail_out = static_cast<uInt>(size);
  int result = Z_OK;
  bool is_whole = false;
  {
    grpc::ProtoBufferReader reader(message);
    for (std::string_view piece; result == Z_OK && !(piece = NextOf(&reader)).empty();) {
      stream->next_in = reinterpret_cast<uint8_t*>(const_cast<char*>(piece.data()));
      stream->avail_in = static_cast<uInt>(piece.size());
      while (result == Z_OK && stream->avail_in > 0) result = inflate(stream, Z_NO_FLUSH);
    }
    is_whole = result == Z_STREAM_END && stream->total_out == size && stream->avail_in == 0 &&
               NextOf(&reader).empty();
  }
  if (!is_whole) return DamagedGzipError();
  *message = grpc::ByteBuffer(&output, 1);
  return absl::OkStatus();
}

}  // namespace bigtable::server
