#include "webtable/page.h"

#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace webtable {

bool operator==(const Link& a, const Link& b) { return a.href == b.href && a.text == b.text; }

namespace {

using testing::ElementsAre;

constexpr std::string_view kEnglish =
    "<p>Of the many ways to do it, this is the one that most of us would take, and it is as good "
    "as any other with which to begin.</p>";

TEST(WebtablePage, FindsLinksWithTheirTextInOrder) {
  const Page page = ParsePage(R"(
      <a href="1.html">one</a> <A HREF='2.html'>  t<b>w</b>o&nbsp;
      &amp; more </A><a href=3.html><img alt="three"></a><a href="4.html"></a>
      <a name="no-link">not a link</a><a href="5.html?a=1&amp;b=2">a<br>b)");
  EXPECT_THAT(page.links, ElementsAre(Link{"1.html", "one"}, Link{"2.html", "two & more"},
                                      Link{"3.html", "three"}, Link{"4.html", ""},
                                      Link{"5.html?a=1&b=2", "a b"}));
}

TEST(WebtablePage, LinksInCommentsAndScriptsAreNone) {
  const Page page = ParsePage(R"(<!-- <a href="1">1</a> --><script>"<a href='2'>2</a>"</script>)");
  EXPECT_THAT(page.links, ElementsAre());
}

TEST(WebtablePage, BaseIsTheFirstOne) {
  EXPECT_EQ(ParsePage(R"(<base target="x"><base href="../"><base href="no">)").base, "../");
  EXPECT_EQ(ParsePage("").base, "");
}

TEST(WebtablePage, TheDeclaredLanguageComesFirst) {
  EXPECT_EQ(ParsePage(R"(<html lang="pt-BR">)" + std::string(kEnglish)).language, "pt-BR");
  EXPECT_EQ(ParsePage(R"(<html xml:lang="de">)" + std::string(kEnglish)).language, "de");
  EXPECT_EQ(ParsePage(R"(<meta http-equiv="Content-Language" content="fr">)").language, "fr");
  EXPECT_EQ(ParsePage(R"(<html lang="not a tag">)" + std::string(kEnglish)).language, "en");
}

TEST(WebtablePage, GuessesTheLanguageOnlyWhereTheTextIsClear) {
  EXPECT_EQ(ParsePage(kEnglish).language, "en");
  EXPECT_EQ(ParsePage("<p>Der Tag ist nicht lang, und die Nacht mit den Sternen von oben ist auch "
                      "nicht das, was ein Kind auf der Erde sehen kann.</p>")
                .language,
            "de");
  EXPECT_EQ(ParsePage("<p>the of and</p>").language, "und");  // too little
  EXPECT_EQ(ParsePage("").language, "und");
  std::string numbers;
  for (int i = 0; i < 100; ++i) numbers += std::to_string(i) + " ";
  EXPECT_EQ(ParsePage(numbers).language, "und");
}

TEST(WebtablePage, AnyBytesHaveAParse) {
  std::string bytes;
  for (int i = 0; i < 4096; ++i) bytes += static_cast<char>(i * 7919 >> 3 & 0xff);
  EXPECT_EQ(ParsePage(bytes + "<a href=x>y</a>").language, "und");
  EXPECT_EQ(ParsePage(std::string_view("<a href=x>\0y", 12)).links.size(), 1u);
}

TEST(WebtablePage, DeepNestingNeedsNoStackOfOurs) {
  std::string deep;
  for (int i = 0; i < 10000; ++i) deep += "<div>";
  EXPECT_THAT(ParsePage(deep + "<a href=x>y</a>").links, ElementsAre(Link{"x", "y"}));
}

}  // namespace
}  // namespace webtable
