// Compressed requests: they become what their clients have sent, or are damaged, and take no more
// memory than they say.
#include "server/calls/gzip.h"

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>
#include <zlib.h>

#include "grpcpp/support/slice.h"
#include "gtest/gtest.h"

#include "support/seeds.h"

namespace bigtable::server {
namespace {

std::string Compress(const std::string& text) {
  z_stream stream = {};
  deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

grpc::ByteBuffer MessageOf(std::string_view bytes, size_t slice_bytes) {
  std::vector<grpc::Slice> slices;
  for (size_t at = 0; at < bytes.size(); at += slice_bytes) {
    const std::string_view piece = bytes.substr(at, slice_bytes);
    slices.emplace_back(piece.data(), piece.size());
    slices.emplace_back("", 0);
  }
  return grpc::ByteBuffer(slices.data(), slices.size());
}

std::string TextOf(const grpc::ByteBuffer& message) {
  std::vector<grpc::Slice> slices;
  EXPECT_TRUE(message.Dump(&slices).ok());
  std::string text;
  for (const grpc::Slice& slice : slices) {
    text.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return text;
}

// What the message is when it is decompressed; null: it cannot be.
std::optional<std::string> Unpacked(std::string_view bytes, size_t slice_bytes) {
  grpc::ByteBuffer message = MessageOf(bytes, slice_bytes);
  const std::optional<uint64_t> size = GzipSize(&message);
  if (!size.has_value() || !Gunzip(*size, &message).ok()) return std::nullopt;
  EXPECT_EQ(message.Length(), *size);
  return TextOf(message);
}

TEST(GzipTest, AMessageThatIsNotCompressedIsNotTakenForOne) {
  for (const std::string& text : {std::string(), std::string("\x1f"), std::string("\x0a\x03row"),
                                  std::string("\x1f\x8a and more than eighteen bytes")}) {
    grpc::ByteBuffer message = MessageOf(text, 1);
    EXPECT_FALSE(GzipSize(&message).has_value()) << text;
  }
}

TEST(GzipTest, ACompressedMessageBecomesWhatItWas) {
  for (const size_t bytes : {0, 1, 100, 100'000, 3'000'000}) {
    std::string text(bytes, 'a');
    for (size_t i = 0; i < bytes; i += 7) text[i] = static_cast<char>(i * i);
    for (const size_t slice_bytes : {1, 2, 3, 1000, 10'000'000}) {
      EXPECT_EQ(Unpacked(Compress(text), slice_bytes), text) << bytes << ", " << slice_bytes;
    }
  }
}

TEST(GzipTest, AWrongSizeIsDamage) {
  const std::string good = Compress(std::string(5000, 'x'));
  for (const uint32_t size : {0U, 4999U, 5001U, 1'000'000U, 0xffffffffU}) {
    std::string forged = good;
    for (size_t i = 0; i < 4; ++i) {
      forged[forged.size() - 4 + i] = static_cast<char>(size >> (8 * i));
    }
    grpc::ByteBuffer message = MessageOf(forged, 100);
    EXPECT_EQ(GzipSize(&message), size);
    EXPECT_EQ(Gunzip(size, &message).code(), absl::StatusCode::kInternal);
  }
}

TEST(GzipTest, MoreThanOneMemberIsDamage) {
  const std::string one = Compress("row");
  EXPECT_EQ(Unpacked(one + one, 1000), std::nullopt);
  EXPECT_EQ(Unpacked(one + one, one.size()), std::nullopt);
  EXPECT_EQ(Unpacked(one + "x", 1000), std::nullopt);
}

TEST(GzipTest, RandomDamageIsFoundOrHarmless) {
  ForEachSeed(300, [](uint64_t seed) {
    std::mt19937_64 random(seed);
    std::string text(random() % 3000, 'a');
    for (char& c : text) c = static_cast<char>(random() % (1 + seed % 256));
    std::string bytes = Compress(text);
    const size_t slice_bytes = 1 + random() % bytes.size();
    ASSERT_EQ(Unpacked(bytes, slice_bytes), text);
    if (random() % 4 == 0) {
      bytes.resize(random() % bytes.size());
    } else {
      bytes[random() % bytes.size()] ^= static_cast<char>(1 << random() % 8);
    }
    const std::optional<std::string> damaged = Unpacked(bytes, slice_bytes);
    if (damaged.has_value()) {
      ASSERT_EQ(*damaged, text);
    }
  });
}

}  // namespace
}  // namespace bigtable::server
