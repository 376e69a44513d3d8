// A part of a sorted sequence behaves like a sequence without the rest.
#include "compaction/clipped_cursor.h"

#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "base/strings.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

// A cursor over entries in memory; it fails at a given key, if there is one.
class MapCursor final : public EntryCursor {
 public:
  explicit MapCursor(const std::map<std::string, std::string, std::less<>>* entries)
      : entries_(entries) {}

  void Seek(std::string_view target) override { Show(entries_->lower_bound(target)); }
  void SeekBefore(std::string_view target) override {
    const auto found = entries_->lower_bound(target);
    Show(found == entries_->begin() ? entries_->end() : std::prev(found));
  }
  void SeekToFirst() override { Show(entries_->begin()); }
  void SeekToLast() override {
    Show(entries_->empty() ? entries_->end() : std::prev(entries_->end()));
  }
  void Next() override { Show(std::next(place_)); }

  std::string fails_at;

 private:
  void Show(std::map<std::string, std::string, std::less<>>::const_iterator place) {
    place_ = place;
    valid_ = place != entries_->end();
    if (!valid_) return;
    if (place->first == fails_at) return Fail(absl::DataLossError("damaged"));
    key_ = place->first;
    value_ = place->second;
  }

  const std::map<std::string, std::string, std::less<>>* const entries_;
  std::map<std::string, std::string, std::less<>>::const_iterator place_;
};

class ClippedCursorTest : public testing::Test {
 protected:
  static std::string Show(const EntryCursor& cursor) {
    if (!cursor.status().ok()) return std::string(cursor.status().message());
    return cursor.valid() ? Cat(cursor.key(), "=", cursor.value()) : "-";
  }

  const std::map<std::string, std::string, std::less<>> entries_ = {
      {"b", "1"}, {"d", "2"}, {"f", "3"}, {"h", "4"}, {"j", "5"}};
  MapCursor input_{&entries_};
};

// Every call, compared to a cursor over only the entries of the part.
TEST_F(ClippedCursorTest, ReturnsTheEntriesOfASequenceWithoutTheRest) {
  const std::vector<std::string> keys = {"", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"};
  for (const std::string& begin : keys) {
    for (const std::string& end : keys) {
      if (!end.empty() && end <= begin) continue;
      SCOPED_TRACE(absl::StrCat("[", begin, ", ", end, ")"));
      std::map<std::string, std::string, std::less<>> part;
      for (const auto& [key, value] : entries_) {
        if (key >= begin && (end.empty() || key < end)) part[key] = value;
      }
      MapCursor expected(&part);
      ClippedCursor clipped(&input_, begin, end);
      const auto rest = [](EntryCursor* cursor) {
        std::string text = Show(*cursor);
        while (cursor->valid()) {
          cursor->Next();
          absl::StrAppend(&text, " ", Show(*cursor));
        }
        return text;
      };
      clipped.SeekToFirst();
      expected.SeekToFirst();
      EXPECT_EQ(rest(&clipped), rest(&expected));
      clipped.SeekToLast();
      expected.SeekToLast();
      EXPECT_EQ(rest(&clipped), rest(&expected));
      for (const std::string& target : keys) {
        SCOPED_TRACE(absl::StrCat("target ", target));
        clipped.Seek(target);
        expected.Seek(target);
        EXPECT_EQ(rest(&clipped), rest(&expected));
        clipped.SeekBefore(target);
        expected.SeekBefore(target);
        EXPECT_EQ(rest(&clipped), rest(&expected));
      }
      // All of it from the last to the first.
      std::string backward, expected_backward;
      for (clipped.SeekToLast(); clipped.valid(); clipped.SeekBefore(std::string(clipped.key()))) {
        absl::StrAppend(&backward, Show(clipped), " ");
      }
      for (const auto& [key, value] : part) expected_backward.insert(0, Cat(key, "=", value, " "));
      EXPECT_EQ(backward, expected_backward);
    }
  }
}

TEST_F(ClippedCursorTest, AnErrorInsideThePartIsReturned) {
  input_.fails_at = "f";
  ClippedCursor clipped(&input_, "c", "i");
  clipped.SeekToFirst();
  EXPECT_EQ(Show(clipped), "d=2");
  clipped.Next();
  EXPECT_FALSE(clipped.valid());
  EXPECT_STATUS(kDataLoss, "damaged", clipped.status());
}

}  // namespace
}  // namespace bigtable
