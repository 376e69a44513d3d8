// Encoding and decoding messages, and bytes that are not messages.
#include "messages/message_format.h"

#include <iostream>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"

#include "bigtable/row_mutation.h"

#include "base/checksum.h"
#include "base/coding.h"
#include "base/strings.h"
#include "rpc/cell_block.h"
#include "schema/mutation_format.h"
#include "support/expect_status.h"
#include "support/random.h"
#include "support/seeds.h"
#include "support/tally.h"

namespace bigtable {
namespace {

using namespace std::string_literals;

// --- Random messages of each kind ---

absl::Duration RandomTimeout(Random& random) {
  if (random.OneIn(3)) return absl::InfiniteDuration();
  return absl::Microseconds(static_cast<int64_t>(random.Next() >> 1 >> random.Below(64)) / 2);
}

absl::Status RandomStatus(Random& random) {
  if (random.OneIn(2)) return absl::OkStatus();
  return absl::Status(static_cast<absl::StatusCode>(1 + random.Below(16)),
                      ToAbsl(random.Bytes(random.Below(20))));
}

RowRange RandomRange(Random& random) {
  const std::string begin = random.Bytes(random.Below(10));
  return random.OneIn(3) ? RowRange::StartingAt(begin)
                         : RowRange::RightOpen(begin, random.Bytes(random.Below(10)));
}

// The memory of a request's views.
struct Texts {
  std::string server;
  std::string filter;
  std::string caller;
  std::vector<RowMutation> mutations;
};

MutateRequest RandomMutateRequest(Random& random, Texts* texts) {
  texts->server = random.Bytes(random.Below(12));
  for (uint64_t n = random.Below(4); n > 0; --n) {
    RowMutation mutation(random.Bytes(1 + random.Below(20)));
    mutation.Set("f:q", random.Bytes(random.Below(300))).Delete("g:");
    texts->mutations.push_back(mutation);
  }
  MutateRequest request;
  request.server = texts->server;
  request.table_id = random.Next() >> random.Below(64);
  request.id = {random.Next(), static_cast<uint32_t>(random.Next()), random.Next()};
  request.durability = static_cast<Durability>(random.Below(3));
  request.is_batch = random.OneIn(2);
  request.timeout = RandomTimeout(random);
  texts->caller = random.Bytes(random.Below(9));
  if (random.OneIn(2)) request.caller = texts->caller;
  if (random.OneIn(2)) request.unchanged_since = random.Next() >> random.Below(64);
  for (const RowMutation& mutation : texts->mutations) {
    request.mutations.push_back({mutation.row(), EncodedMutation::Of(mutation).operations});
  }
  return request;
}

MutateResponse RandomMutateResponse(Random& random) {
  MutateResponse response;
  response.verdict = static_cast<MutateResponse::Verdict>(random.Below(4));
  for (uint64_t n = random.Below(5); n > 0; --n) {
    response.statuses.push_back(RandomStatus(random));
  }
  return response;
}

ScanRequest RandomScanRequest(Random& random, Texts* texts) {
  texts->server = random.Bytes(random.Below(12));
  texts->filter = random.Bytes(random.Below(30));
  ScanRequest request;
  request.server = texts->server;
  request.table_id = random.Next() >> random.Below(64);
  request.range = RandomRange(random);
  request.filter = texts->filter;
  if (random.OneIn(2)) request.sequence = random.Next() >> random.Below(64);
  if (random.OneIn(2)) request.now = static_cast<int64_t>(random.Next());
  request.reverse = random.OneIn(2);
  request.verify_checksums = random.OneIn(2);
  request.fill_cache = random.OneIn(2);
  request.row_limit = random.Below(1000);
  request.max_bytes = random.Next();
  request.timeout = RandomTimeout(random);
  texts->caller = random.Bytes(random.Below(9));
  if (random.OneIn(2)) request.caller = texts->caller;
  return request;
}

ScanResponse RandomScanResponse(Random& random) {
  ScanResponse response;
  response.superseded = random.OneIn(4);
  response.status = RandomStatus(random);
  response.sequence = random.Next() >> random.Below(64);
  if (random.OneIn(2)) response.rest = RandomRange(random);
  CellBlockBuilder cells(&response.cells);
  for (uint64_t n = random.Below(6); n > 0; --n) {
    const std::string row = random.Bytes(1 + random.Below(9));
    const std::string value = random.Bytes(random.Below(200));
    cells.Add({row, "f", "q", static_cast<int64_t>(random.Next() >> 1), value}, true);
    cells.Add({row, "f", "q", 5, ""}, false);
    cells.Add({row, "g", random.OneIn(2) ? "q" : "", 5, value}, false);
  }
  return response;
}

// --- Round trips ---

TEST(MessageFormatTest, AMutateRequestIsDecodedAsItWasEncodedRandom) {
  ForEachSeed(300, [](uint64_t seed) {
    Tally("cases");
    Random random(seed);
    Texts texts;
    const MutateRequest sent = RandomMutateRequest(random, &texts);
    const std::string bytes = EncodeMessage(sent);
    ASSERT_OK_AND_ASSIGN(const MutateRequest got, DecodeMutateRequest(bytes));
    EXPECT_EQ(got.server, sent.server);
    EXPECT_EQ(got.table_id, sent.table_id);
    EXPECT_EQ(got.id, sent.id);
    EXPECT_EQ(got.durability, sent.durability);
    EXPECT_EQ(got.is_batch, sent.is_batch);
    EXPECT_EQ(got.timeout, sent.timeout);
    EXPECT_EQ(got.caller, sent.caller);
    ASSERT_EQ(got.mutations.size(), sent.mutations.size());
    for (size_t i = 0; i < got.mutations.size(); ++i) {
      EXPECT_EQ(got.mutations[i].row, sent.mutations[i].row);
      EXPECT_EQ(got.mutations[i].operations, sent.mutations[i].operations);
    }
  });
}

TEST(MessageFormatTest, AScanRequestIsDecodedAsItWasEncodedRandom) {
  ForEachSeed(300, [](uint64_t seed) {
    Tally("cases");
    Random random(seed);
    Texts texts;
    const ScanRequest sent = RandomScanRequest(random, &texts);
    const std::string bytes = EncodeMessage(sent);
    ASSERT_OK_AND_ASSIGN(const ScanRequest got, DecodeScanRequest(bytes));
    EXPECT_EQ(got.server, sent.server);
    EXPECT_EQ(got.table_id, sent.table_id);
    EXPECT_EQ(got.range, sent.range);
    EXPECT_EQ(got.filter, sent.filter);
    EXPECT_EQ(got.sequence, sent.sequence);
    EXPECT_EQ(got.now, sent.now);
    EXPECT_EQ(got.reverse, sent.reverse);
    EXPECT_EQ(got.verify_checksums, sent.verify_checksums);
    EXPECT_EQ(got.fill_cache, sent.fill_cache);
    EXPECT_EQ(got.row_limit, sent.row_limit);
    EXPECT_EQ(got.max_bytes, sent.max_bytes);
    EXPECT_EQ(got.timeout, sent.timeout);
    EXPECT_EQ(got.caller, sent.caller);
  });
}

// Clocks differ, so a message has a duration and not a deadline.
TEST(MessageFormatTest, ATimeoutThatHasPassedIsEncodedAsZero) {
  ScanRequest request;
  request.timeout = -absl::Seconds(5);
  ASSERT_OK_AND_ASSIGN(const ScanRequest scan, DecodeScanRequest(EncodeMessage(request)));
  EXPECT_EQ(scan.timeout, absl::ZeroDuration());
  MutateRequest mutate;
  mutate.timeout = -absl::InfiniteDuration();
  const std::string bytes = EncodeMessage(mutate);
  ASSERT_OK_AND_ASSIGN(const MutateRequest got, DecodeMutateRequest(bytes));
  EXPECT_EQ(got.timeout, absl::ZeroDuration());
}

TEST(MessageFormatTest, ResponsesAreDecodedAsTheyWereEncodedRandom) {
  ForEachSeed(300, [](uint64_t seed) {
    Tally("cases");
    Random random(seed);
    const MutateResponse mutate = RandomMutateResponse(random);
    ASSERT_OK_AND_ASSIGN(const MutateResponse got, DecodeMutateResponse(EncodeMessage(mutate)));
    EXPECT_EQ(got, mutate);
    const ScanResponse scan = RandomScanResponse(random);
    ASSERT_OK_AND_ASSIGN(const ScanResponse scanned, DecodeScanResponse(EncodeMessage(scan)));
    EXPECT_EQ(scanned, scan);
  });
}

TEST(MessageFormatTest, TheWorkedExampleIsTrue) {
  ScanResponse response;
  response.superseded = true;
  const std::string bytes = EncodeMessage(response);
  EXPECT_EQ(bytes.substr(0, bytes.size() - 8), "\x01\x04\x01\x00\x00\x00"s);
}

// --- Bytes that are not messages ---

// A message of each kind, and its decoder.
struct Sample {
  std::string name;
  std::string bytes;
  absl::Status (*decode)(std::string_view);
};
std::vector<Sample> Samples(uint64_t seed) {
  Random random(seed);
  std::vector<Sample> samples;
  Texts texts;
  samples.push_back({"MutateRequest", EncodeMessage(RandomMutateRequest(random, &texts)),
                     [](std::string_view b) { return DecodeMutateRequest(b).status(); }});
  samples.push_back({"MutateResponse", EncodeMessage(RandomMutateResponse(random)),
                     [](std::string_view b) { return DecodeMutateResponse(b).status(); }});
  samples.push_back({"ScanRequest", EncodeMessage(RandomScanRequest(random, &texts)),
                     [](std::string_view b) { return DecodeScanRequest(b).status(); }});
  samples.push_back({"ScanResponse", EncodeMessage(RandomScanResponse(random)),
                     [](std::string_view b) { return DecodeScanResponse(b).status(); }});
  return samples;
}

// Adds a valid checksum, so that the fields are decoded.
std::string WithChecksum(std::string fields) {
  AppendFixed64(&fields, Checksum(fields));
  return fields;
}

TEST(MessageFormatTest, EveryTruncationIsRefusedRandom) {
  ForEachSeed(20, [](uint64_t seed) {
    Tally("cases");
    for (const Sample& sample : Samples(seed)) {
      SCOPED_TRACE(sample.name);
      ASSERT_OK(sample.decode(sample.bytes));
      for (size_t n = 0; n < sample.bytes.size(); ++n) {
        // In memory of its own, so that the sanitizers detect a read past the end.
        const std::vector<char> cut(sample.bytes.begin(),
                                    sample.bytes.begin() + static_cast<ptrdiff_t>(n));
        EXPECT_STATUS(kInvalidArgument, sample.name, sample.decode({cut.data(), n}));
      }
      const std::string fields = sample.bytes.substr(0, sample.bytes.size() - 8);
      for (size_t n = 2; n < fields.size(); ++n) {
        EXPECT_STATUS(kInvalidArgument, sample.name,
                      sample.decode(WithChecksum(fields.substr(0, n))));
      }
      EXPECT_STATUS(kInvalidArgument, "left over", sample.decode(WithChecksum(fields + "x")));
    }
  });
}

TEST(MessageFormatTest, EveryFlippedBitIsDetectedRandom) {
  ForEachSeed(5, [](uint64_t seed) {
    Tally("cases");
    for (const Sample& sample : Samples(seed)) {
      SCOPED_TRACE(sample.name);
      for (size_t bit = 0; bit < sample.bytes.size() * 8; ++bit) {
        std::string bytes = sample.bytes;
        bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
        EXPECT_STATUS(kInvalidArgument, sample.name, sample.decode(bytes));
      }
    }
  });
}

// A forger can compute a valid checksum, too. Then another message is read, or none.
TEST(MessageFormatTest, AnyFieldsAreReadOrRefusedRandom) {
  int read = 0, refused = 0;
  ForEachSeed(200, [&](uint64_t seed) {
    Tally("cases");
    Random random(seed);
    for (const Sample& sample : Samples(seed)) {
      SCOPED_TRACE(sample.name);
      for (int i = 0; i < 200; ++i) {
        std::string fields = sample.bytes.substr(0, sample.bytes.size() - 8);
        for (uint64_t n = 1 + random.Below(3); n > 0; --n) {
          const size_t at = 2 + random.Below(fields.size() - 2);
          fields[at] = static_cast<char>(random.OneIn(2) ? random.Next() : 0xff);
        }
        const absl::Status status = sample.decode(WithChecksum(fields));
        ++(status.ok() ? read : refused);
        if (!status.ok()) {
          ASSERT_TRUE(absl::IsInvalidArgument(status)) << status;
        }
      }
    }
  });
  std::cout << read << " were read, " << refused << " refused\n";
}

TEST(MessageFormatTest, AnErrorNamesTheReason) {
  ScanResponse response;
  const std::string good = EncodeMessage(response);
  EXPECT_STATUS(kInvalidArgument, "cut short, and has 3 bytes",
                DecodeScanResponse(good.substr(0, 3)).status());
  EXPECT_STATUS(kInvalidArgument, "its version is 2",
                DecodeScanResponse(WithChecksum("\x02\x04"s)).status());
  EXPECT_STATUS(kInvalidArgument, "its kind is 4", DecodeMutateResponse(good).status());
  EXPECT_STATUS(kInvalidArgument, "its checksum",
                DecodeScanResponse(good.substr(0, good.size() - 1) + "x").status());
  EXPECT_STATUS(kInvalidArgument, "its flags are 8",
                DecodeScanResponse(WithChecksum("\x01\x04\x08\0\0\0"s)).status());
  EXPECT_STATUS(kInvalidArgument, "its flags are 4",
                DecodeScanResponse(WithChecksum("\x01\x04\x04\0\0\0\0\0"s)).status());
  EXPECT_STATUS(kInvalidArgument, "no status with the code 17",
                DecodeScanResponse(WithChecksum("\x01\x04\0\x11\0\0\0"s)).status());
  EXPECT_STATUS(kInvalidArgument, "no verdict 4",
                DecodeMutateResponse(WithChecksum("\x01\x02\x04\0"s)).status());
  response.cells = "\x03\x05\x00"s;  // begins no row
  EXPECT_STATUS(kInvalidArgument, "a cell is not well formed",
                DecodeScanResponse(EncodeMessage(response)).status());
}

// A count that is larger than the number of fields allocates no memory.
TEST(MessageFormatTest, ACountIsNotTrusted) {
  std::string fields = "\x01\x02\0"s;
  AppendVarint64(&fields, std::numeric_limits<uint64_t>::max());
  EXPECT_STATUS(kInvalidArgument, "a field is cut short",
                DecodeMutateResponse(WithChecksum(fields)).status());
}

// --- Cells ---

TEST(CellBlockTest, CellsOmitFieldsOfTheCellBefore) {
  std::string bytes;
  CellBlockBuilder builder(&bytes);
  builder.Add({"r", "f", "q", 7, "v"}, true);
  builder.Add({"r", "f", "q", 5, ""}, false);
  builder.Add({"r", "g", "q", 5, "w"}, false);
  EXPECT_EQ(bytes,
            "\x00\x01r\x01"
            "f\x01q\x07\x01v"
            "\x03\x05\x00"
            "\x01\x01g\x01q\x05\x01w"s);
  builder.Add({"s", "g", "q", 5, "w"}, true);
  builder.Add({"s", "g", "r", 5, "w"}, false);
  EXPECT_EQ(builder.rows(), 2u);
  std::string text;
  CellBlockReader reader(bytes);
  while (reader.Next()) {
    const ReadCell& cell = reader.cell();
    text += Cat(reader.is_new_row() ? "|" : "", cell.row, "/", cell.family, ":", cell.qualifier,
                "@", cell.timestamp, "=", cell.value, " ");
  }
  EXPECT_TRUE(reader.ok());
  EXPECT_EQ(text, "|r/f:q@7=v r/f:q@5= r/g:q@5=w |s/g:q@5=w s/g:r@5=w ");
}

TEST(CellBlockTest, AnIncompleteRowIsDropped) {
  std::string bytes;
  CellBlockBuilder builder(&bytes);
  builder.DropRow();
  EXPECT_EQ(bytes, "");
  builder.Add({"r", "f", "q", 7, "v"}, true);
  const std::string first = bytes;
  builder.Add({"s", "f", "q", 7, "v"}, true);
  builder.Add({"s", "f", "r", 7, "v"}, false);
  builder.DropRow();
  EXPECT_EQ(bytes, first);
}

TEST(CellBlockTest, MalformedCellsAreRefused) {
  for (const std::string& bytes :
       {"\x01\x01g\x01q\x05\x01w"s, "\x04"s, "\x00\x00\x01"s, "\x00\x01r\x00\x00\x05\x00"s,
        "\x00\x01r\x01"
        "f\x01q\x07\x02v"s}) {
    CellBlockReader reader(bytes);
    EXPECT_FALSE(reader.Next());
    EXPECT_FALSE(reader.ok()) << Quoted(bytes);
  }
}

}  // namespace
}  // namespace bigtable
