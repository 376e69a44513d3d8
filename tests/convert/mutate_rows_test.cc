#include "convert/mutate_rows.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "google/bigtable/v2/bigtable.pb.h"
#include "google/protobuf/stubs/logging.h"
#include "gtest/gtest.h"

#include "convert/limits.h"
#include "convert/object_budget.h"
#include "convert/parse_text.h"
#include "convert/status.h"
#include "schema/mutation_format.h"
#include "server/calls/request_objects.h"
#include "support/random.h"
#include "support/seeds.h"
#include "support/tally.h"

namespace bigtable::convert {
namespace {

using google::bigtable::v2::MutateRowsRequest;
using google::bigtable::v2::MutateRowsResponse;

constexpr Timestamp kRequestTime(9'876'543);

std::string ShowMutation(const absl::StatusOr<RowMutation>& mutation) {
  if (!mutation.ok()) return mutation.status().ToString();
  const EncodedMutation encoded = EncodedMutation::Of(*mutation);
  return std::string(encoded.row) + "|" + std::string(encoded.operations);
}

// What the message has, in the same text as of the object of protocol buffers.
std::vector<std::string> ShowRequest(const MutateRowsMessage& message) {
  std::vector<std::string> shown{std::string(message.table_name()),
                                 std::string(message.authorized_view_name()),
                                 std::to_string(message.mutation_count())};
  for (size_t i = 0; i < message.entry_count(); ++i) {
    RowMutation mutation("other");
    mutation.DeleteRow();  // as if it had been used for another entry
    const absl::Status status = message.MutationOf(i, kRequestTime, &mutation);
    shown.push_back(status.ok() ? ShowMutation(mutation) : ShowMutation(status));
  }
  return shown;
}
std::vector<std::string> ShowRequest(const MutateRowsRequest& request) {
  std::vector<std::string> shown{request.table_name(), request.authorized_view_name(), ""};
  int mutations = 0;
  for (const MutateRowsRequest::Entry& entry : request.entries()) {
    mutations += entry.mutations_size();
    shown.push_back(ShowMutation(ToRowMutation(entry.row_key(), entry.mutations(), kRequestTime)));
  }
  shown[2] = std::to_string(mutations);
  return shown;
}

// Requests as bytes, over few names, most of them well formed: with fields twice, missing, unknown
// or in any order, and written otherwise than they should be.
class RandomRequests {
 public:
  explicit RandomRequests(Random* random) : random_(random) {}

  std::string Next() {
    std::string request = Fields(3, [this] {
      switch (random_->Below(8)) {
        case 0:
          return Bytes(1, Text());
        case 1:
          return Bytes(3, Text());
        case 2:
          return random_->OneIn(4) ? Bytes(5, Text()) : Bytes(1, Text());
        default:
          return Bytes(2, Entry());
      }
    });
    if (random_->OneIn(8)) Damage(&request);
    return request;
  }

 private:
  std::string Entry() {
    return Fields(3, [this] {
      if (random_->OneIn(20)) return Bytes(3, Text());
      return random_->OneIn(3) ? Bytes(1, Text()) : Bytes(2, Mutation());
    });
  }
  std::string Mutation() {
    if (!random_->OneIn(6)) return Bytes(1, Cell());
    return Fields(2, [this] {
      const int number = static_cast<int>(random_->Between(1, 7));
      return Bytes(number, number == 4 ? "" : number == 1 ? Cell() : Change());
    });
  }
  std::string Cell() {
    return Fields(4, [this] {
      switch (random_->Below(5)) {
        case 0:
          return Bytes(2, Text());
        case 1:
          return Tag(3, 0) + Varint(Number());
        case 2:
          return Bytes(4, Text());
        default:
          return Bytes(1, Text());
      }
    });
  }
  // A family and Values, as AddToCell has them.
  std::string Change() {
    return Fields(4, [this] {
      const int number = static_cast<int>(random_->Between(1, 4));
      return Bytes(number, number == 1         ? "f"
                           : random_->OneIn(2) ? Bytes(8, Text())
                                               : Tag(9, 0) + Varint(Number()));
    });
  }

  std::string Fields(uint64_t most, const std::function<std::string()>& field) {
    std::string fields;
    for (uint64_t i = random_->Below(most + 1); i-- > 0;) {
      fields += random_->OneIn(60) ? Other() : field();
    }
    return fields;
  }
  // A field that does not belong here, or that is written as another type, or a group.
  std::string Other() {
    const int number = static_cast<int>(random_->Between(1, 20));
    switch (random_->Below(5)) {
      case 0:
        return Tag(number, 0) + Varint(Number());
      case 1:
        return Tag(number, 1) + random_->Bytes(8);
      case 2:
        return Tag(number, 5) + random_->Bytes(4);
      case 3:
        return Tag(number, 3) + Bytes(1, Text()) + Tag(number, 4);
      default:
        return Bytes(number, Text());
    }
  }
  void Damage(std::string* request) {
    if (request->empty()) return;
    const size_t place = random_->Below(request->size());
    switch (random_->Below(3)) {
      case 0:
        request->resize(place);
        break;
      case 1:
        (*request)[place] = static_cast<char>((*request)[place] ^ (1 << random_->Below(8)));
        break;
      default:
        request->insert(place, 1, static_cast<char>(random_->Below(256)));
    }
  }

  std::string Tag(int number, int type) {
    return Varint(static_cast<uint64_t>(number) << 3 | static_cast<uint64_t>(type));
  }
  std::string Bytes(int number, const std::string& bytes) {
    return Tag(number, 2) + Varint(bytes.size()) + bytes;
  }
  // Seldom longer than it needs to be.
  std::string Varint(uint64_t value) {
    std::string bytes;
    for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<char>(value | 0x80));
    bytes.push_back(static_cast<char>(value));
    for (uint64_t i = random_->OneIn(100) ? random_->Between(1, 9) : 0; i > 0; --i) {
      bytes.back() = static_cast<char>(bytes.back() | 0x80);
      bytes.push_back(static_cast<char>(random_->OneIn(4)));
    }
    return bytes;
  }
  uint64_t Number() {
    static const std::vector<uint64_t> numbers = {
        0, 1000, 7000, 7001, ~uint64_t{0}, ~uint64_t{1}, uint64_t{1} << 63, uint64_t{1} << 35};
    return random_->Pick(numbers);
  }
  std::string Text() {
    static const std::vector<std::string> texts = {"f", "g", "f", "q", "r", "", "\xc3\xa9", "\x80"};
    return random_->Pick(texts);
  }

  Random* const random_;
};

// In pieces, some of them empty. Each has memory of its own, so that a sanitizer sees what is read
// beyond its end.
struct Pieces {
  Pieces(std::string_view bytes, Random* random) {
    while (!bytes.empty() || random->OneIn(2)) {
      const size_t size = random->Between(0, random->OneIn(4) ? 3 : bytes.size());
      const std::string_view piece = bytes.substr(0, size);
      owned.push_back(std::make_unique<char[]>(piece.size()));
      piece.copy(owned.back().get(), piece.size());
      views.emplace_back(owned.back().get(), piece.size());
      bytes.remove_prefix(piece.size());
    }
  }
  std::vector<std::unique_ptr<char[]>> owned;
  std::vector<std::string_view> views;
};

absl::StatusOr<MutateRowsMessage> ReadPieces(const std::vector<std::string_view>& pieces) {
  ObjectBudget any_number;
  return MutateRowsMessage::Read(pieces, &any_number);
}
absl::StatusOr<MutateRowsMessage> ReadWhole(std::string_view bytes) { return ReadPieces({bytes}); }

std::string Repeated(const std::string& field, int times) {
  std::string bytes;
  for (int i = 0; i < times; ++i) bytes += field;
  return bytes;
}

TEST(RandomMutateRowsTest, IsReadAsProtocolBuffersReadIt) {
  const google::protobuf::LogSilencer silencer;  // of texts that are not UTF-8
  int plain = 0, rewritten = 0, refused = 0;
  ForEachSeed(kSlow ? 200 : 2000, [&](uint64_t seed) {
    Random random(seed);
    RandomRequests requests(&random);
    for (int i = 0; i < 100; ++i) {
      const std::string bytes = requests.Next();
      MutateRowsRequest expected;
      const bool is_request = expected.ParseFromString(bytes);
      const Pieces pieces(bytes, &random);
      const absl::StatusOr<MutateRowsMessage> message = ReadPieces(pieces.views);
      ASSERT_EQ(message.ok(), is_request) << absl::CHexEscape(bytes) << " " << message.status();
      if (!is_request) {
        ASSERT_EQ(message.status().code(), absl::StatusCode::kInternal);
        ++refused;
        continue;
      }
      ASSERT_EQ(ShowRequest(*message), ShowRequest(expected)) << expected.DebugString();
      ++(message->is_plain() ? plain : rewritten);
    }
  });
  // Each way was gone often.
  const int all = plain + rewritten + refused;
  EXPECT_GT(plain, all / 4);
  EXPECT_GT(rewritten, all / 50);
  EXPECT_GT(refused, all / 50);
  Tally("mutate_rows_requests", static_cast<uint64_t>(all));
}

TEST(MutateRowsMessageTest, IsPlainAsClientsWriteIt) {
  MutateRowsRequest request = ParseText<MutateRowsRequest>(R"pb(
    table_name: "projects/p/instances/i/tables/t"
    app_profile_id: "a"
    entries {
      row_key: "r"
      mutations {
        set_cell { family_name: "f" column_qualifier: "q" timestamp_micros: -1 value: "v" }
      }
      mutations { delete_from_row {} }
    })pb");
  const std::string bytes = request.SerializeAsString();
  const absl::StatusOr<MutateRowsMessage> message = ReadWhole(bytes);
  ASSERT_TRUE(message.ok()) << message.status();
  EXPECT_TRUE(message->is_plain());
  EXPECT_EQ(message->table_name(), "projects/p/instances/i/tables/t");
  EXPECT_EQ(message->entry_count(), 1);
  EXPECT_EQ(message->mutation_count(), 2);
  for (size_t size = 0; size <= bytes.size(); ++size) {
    const std::string_view whole = bytes;
    const std::vector<std::string_view> pieces = {whole.substr(0, size), whole.substr(size)};
    const absl::StatusOr<MutateRowsMessage> joined = ReadPieces(pieces);
    ASSERT_TRUE(joined.ok()) << joined.status();
    EXPECT_TRUE(joined->is_plain()) << "in pieces of " << size << " bytes and the rest";
    EXPECT_EQ(ShowRequest(*joined), ShowRequest(*message));
  }
}

// A plain request must not grow in memory to a multiple of its bytes.
TEST(MutateRowsMessageTest, CountsWhatIsTooMuch) {
  const auto counts = [](const std::string& bytes) {
    const absl::StatusOr<MutateRowsMessage> message = ReadWhole(bytes);
    return message.ok() ? message->CheckCounts().ToString() : message.status().ToString();
  };
  const std::string mutation("\x12\x00", 2);  // in an entry, and an entry in a request
  const std::string entry("\x12\x02\x12\x00", 4);
  EXPECT_EQ(counts(""), "INVALID_ARGUMENT: a MutateRows call must have an entry");
  EXPECT_EQ(counts(mutation),
            "INVALID_ARGUMENT: there must be from 1 to 100000 mutations, and there are 0");
  EXPECT_EQ(counts(Repeated(entry, kMaxMutations)), "OK");
  EXPECT_EQ(counts(Repeated(entry, kMaxMutations + 1)),
            "INVALID_ARGUMENT: there must be from 1 to 100000 mutations, and there are 100001");
  // What follows is not read.
  EXPECT_EQ(counts(Repeated(entry, kMaxMutations) + "\x12\x04\x12\x02\x0a\x01"),
            "INVALID_ARGUMENT: there must be from 1 to 100000 mutations, and there are 100001");
  EXPECT_EQ(counts(entry + Repeated(mutation, kMaxMutations)),
            "INVALID_ARGUMENT: there must be at most 100000 entries, and there are 100001");
}

// A field 2: an entry, or a mutation of one.
std::string Field2(const std::string& bytes) {
  std::string size;
  size_t rest = bytes.size();
  for (; rest >= 0x80; rest >>= 7) size.push_back(static_cast<char>(rest | 0x80));
  size.push_back(static_cast<char>(rest));
  return "\x12" + size + bytes;
}

// How many objects the reading of the request asks for, if it is given `most`.
struct Asked {
  size_t objects = 0;
  absl::Status status;
};
Asked AskedFor(const std::string& bytes, size_t most) {
  Asked asked;
  ObjectBudget budget(0, [&](size_t objects) {
    asked.objects = objects;
    return objects <= most ? absl::OkStatus() : absl::ResourceExhaustedError("too many objects");
  });
  const std::string_view whole = bytes;
  asked.status = MutateRowsMessage::Read({&whole, 1}, &budget).status();
  return asked;
}

// Whatever is made of a request is asked for before it is made, wherever it comes from.
TEST(MutateRowsMessageTest, AsksForRoomForWhatItMakes) {
  constexpr int kTimes = 100'000;
  const std::string unknown = Repeated(std::string("\x7a\x00", 2), kTimes);
  const std::string cell("\x0a\x00", 2);
  for (const auto& [bytes, objects] : std::vector<std::pair<std::string, size_t>>{
           {unknown, 2 * kTimes},                                         // of the request
           {Field2(unknown), 2 * kTimes},                                 // of an entry
           {Field2(Field2(unknown)), 2 * kTimes},                         // of a mutation
           {Repeated(Field2(Field2("\x7a\x02xx")), kTimes), 4 * kTimes},  // of small mutations
           {Repeated(Field2(Field2(cell)), kTimes), 2 * kTimes},          // cells
           {Repeated(Field2(""), kTimes), kTimes},                        // entries
           {Field2(Repeated(Field2(cell), kTimes)), kTimes},              // of one entry
       }) {
    const Asked given = AskedFor(bytes, 10 * kTimes);
    EXPECT_TRUE(given.status.ok()) << given.status;
    EXPECT_GE(given.objects, objects);
    EXPECT_LT(given.objects, objects + 3000);
    const Asked refused = AskedFor(bytes, objects / 2);
    EXPECT_EQ(refused.status, absl::ResourceExhaustedError("too many objects"));
    // At the latest when the first half has been made, unless all is counted before.
    EXPECT_LT(refused.objects, objects + 3000);
  }
}

// Of batches as clients write them nothing is asked for: their bytes count more.
TEST(MutateRowsMessageTest, AsksForNothingOfOrdinaryRequests) {
  MutateRowsRequest request;
  for (int i = 0; i < 1000; ++i) {
    MutateRowsRequest::Entry* const entry = request.add_entries();
    entry->set_row_key("user" + std::to_string(i));
    auto* const set = entry->add_mutations()->mutable_set_cell();
    set->set_family_name("f");
    set->set_column_qualifier("q");
    set->set_timestamp_micros(1'700'000'000'000'000);
    set->set_value(std::string(20, 'v'));
  }
  const std::string bytes = request.SerializeAsString();
  const std::string_view whole = bytes;
  ObjectBudget budget(bytes.size() / server::kCountedPerObject, [](size_t) -> absl::Status {
    ADD_FAILURE() << "asked for more";
    return absl::OkStatus();
  });
  EXPECT_TRUE(MutateRowsMessage::Read({&whole, 1}, &budget).ok());
}

TEST(MutateRowsResponseTest, HasTheStatusesThatProtocolBuffersRead) {
  std::vector<absl::Status> statuses(300);
  statuses[0] = absl::NotFoundError("no family");
  statuses[200] = absl::InvalidArgumentError("no key");
  MutateRowsResponse response;
  ASSERT_TRUE(response.ParseFromString(MutateRowsResponseOf(statuses)));
  ASSERT_EQ(response.entries_size(), 300);
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(response.entries(i).index(), i);
    EXPECT_TRUE(response.entries(i).has_status());
    EXPECT_EQ(response.entries(i).status().SerializeAsString(),
              ToRpcStatus(statuses[static_cast<size_t>(i)]).SerializeAsString());
  }
}

TEST(MutateRowsResponseTest, IsNotManyTimesTheRequest) {
  const std::vector<absl::Status> statuses(100'000, absl::NotFoundError(std::string(1000, 'x')));
  const std::string bytes = MutateRowsResponseOf(statuses);
  EXPECT_LT(bytes.size(), size_t{12} << 20);
  MutateRowsResponse response;
  ASSERT_TRUE(response.ParseFromString(bytes));
  ASSERT_EQ(response.entries_size(), 100'000);
  EXPECT_EQ(response.entries(0).status().message(), std::string(1000, 'x'));
  EXPECT_EQ(response.entries(99'999).status().message(), std::string(64, 'x') + "...");
  EXPECT_EQ(response.entries(99'999).status().code(),
            static_cast<int>(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace bigtable::convert
