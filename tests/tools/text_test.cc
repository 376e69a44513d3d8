// Escapes, UTF-8, names that were meant.
#include "tools/text.h"

#include <string>

#include "gtest/gtest.h"

namespace bigtable::tools {
namespace {

using namespace std::string_literals;

TEST(TextTest, EscapesLikeGo) {
  EXPECT_EQ(Quoted("plain \"text\" \\"), R"("plain \"text\" \\")");
  EXPECT_EQ(Quoted("\a\b\f\n\r\t\v"), R"("\a\b\f\n\r\t\v")");
  EXPECT_EQ(Quoted("\0\x1f\x7f"s), R"("\x00\x1f\x7f")");
  EXPECT_EQ(Quoted("\xff\xc3"), R"("\xff\xc3")");
  EXPECT_EQ(Quoted("größe 漢 🎈"), "\"größe 漢 🎈\"");
  EXPECT_EQ(Quoted("\u00a0\u200b\ufeff\U000e0001"), R"("\u00a0\u200b\ufeff\U000e0001")");
}

TEST(TextTest, OutsideOfQuotationMarksTheyAreNotEscaped) {
  EXPECT_EQ(Escaped("a\"b\n"), R"(a"b\n)");
}

TEST(TextTest, EveryByteIsReadBackFromItsEscape) {
  for (int first = 0; first < 256; ++first) {
    for (const char* rest : {"", "0", "a", "\x80"}) {
      const std::string bytes = std::string(1, static_cast<char>(first)) + rest;
      const absl::StatusOr<std::string> read = Unescaped(Escaped(bytes));
      ASSERT_TRUE(read.ok()) << Escaped(bytes) << read.status();
      EXPECT_EQ(*read, bytes) << Escaped(bytes);
    }
  }
}

TEST(TextTest, EscapesThatDoNotExistAreRefused) {
  EXPECT_EQ(*Unescaped("\\x0012\\u00fc\\U0001f388"),
            "\0"
            "12\u00fc\U0001f388"s);
  for (const char* bad : {"\\", "\\q", "\\x", "\\x1", "\\x1g", "\\u123", "\\U00110000", "\\0"}) {
    EXPECT_FALSE(Unescaped(bad).ok()) << bad;
  }
}

TEST(TextTest, Utf8IsWhatUnicodeDefines) {
  for (const std::string& good : {""s, "a\0"s, "\x7f"s, "\u0080"s, "\u07ff"s, "\u0800"s, "\uffff"s,
                                  "\U00010000"s, "\U0010ffff"s}) {
    EXPECT_TRUE(IsUtf8(good)) << Escaped(good);
  }
  for (const char* bad :
       {"\x80", "\xc0\x80", "\xc1\xbf", "\xc3", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xed\xbf\xbf",
        "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf8\x88\x80\x80", "\xc3\x28", "\xff"}) {
    EXPECT_FALSE(IsUtf8(bad)) << Escaped(bad);
  }
}

TEST(TextTest, ANearNameIsFoundAndADistantOneIsNot) {
  EXPECT_EQ(Nearest("webtabel", {"users", "webtable"}), "webtable");
  EXPECT_EQ(Nearest("wbe", {"web", "counts"}), "web");
  EXPECT_EQ(Nearest("zz", {"ab"}), "");
  EXPECT_EQ(Nearest("x", {}), "");
}

TEST(TextTest, SplitKeepsEmptyParts) {
  EXPECT_EQ(Split("", ','), std::vector<std::string>());
  EXPECT_EQ(Split("a", ','), (std::vector<std::string>{"a"}));
  EXPECT_EQ(Split("a,,b,", ','), (std::vector<std::string>{"a", "", "b", ""}));
}

TEST(TextTest, NumbersHaveCommas) {
  EXPECT_EQ(WithCommas(0), "0");
  EXPECT_EQ(WithCommas(999), "999");
  EXPECT_EQ(WithCommas(1000), "1,000");
  EXPECT_EQ(WithCommas(1234567), "1,234,567");
}

}  // namespace
}  // namespace bigtable::tools
