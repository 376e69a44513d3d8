#include "webtable/url.h"

#include <optional>
#include <string>

#include "gtest/gtest.h"

namespace webtable {
namespace {

// The URL as text, or "none".
std::string Resolve(const std::string& base, const std::string& reference) {
  const std::optional<Url> url = ResolveLink(ParseUrl(base).value(), reference);
  return url ? ToString(*url) : "none";
}

std::string Normalize(const std::string& text) {
  const std::optional<Url> url = ParseUrl(text);
  return url ? ToString(*url) : "none";
}

TEST(WebtableUrl, ResolvesTheNormalExamplesOfRfc3986) {
  const std::string base = "http://a/b/c/d;p?q";
  EXPECT_EQ(Resolve(base, "g"), "http://a/b/c/g");
  EXPECT_EQ(Resolve(base, "./g"), "http://a/b/c/g");
  EXPECT_EQ(Resolve(base, "g/"), "http://a/b/c/g/");
  EXPECT_EQ(Resolve(base, "/g"), "http://a/g");
  EXPECT_EQ(Resolve(base, "//g"), "http://g/");  // in full, a path is at least a slash
  EXPECT_EQ(Resolve(base, "?y"), "http://a/b/c/d;p?y");
  EXPECT_EQ(Resolve(base, "g?y"), "http://a/b/c/g?y");
  EXPECT_EQ(Resolve(base, "#s"), "http://a/b/c/d;p?q");  // fragments are dropped
  EXPECT_EQ(Resolve(base, "g#s"), "http://a/b/c/g");
  EXPECT_EQ(Resolve(base, "g?y#s"), "http://a/b/c/g?y");
  EXPECT_EQ(Resolve(base, ";x"), "http://a/b/c/;x");
  EXPECT_EQ(Resolve(base, "g;x"), "http://a/b/c/g;x");
  EXPECT_EQ(Resolve(base, "g;x?y#s"), "http://a/b/c/g;x?y");
  EXPECT_EQ(Resolve(base, ""), "http://a/b/c/d;p?q");
  EXPECT_EQ(Resolve(base, "."), "http://a/b/c/");
  EXPECT_EQ(Resolve(base, "./"), "http://a/b/c/");
  EXPECT_EQ(Resolve(base, ".."), "http://a/b/");
  EXPECT_EQ(Resolve(base, "../"), "http://a/b/");
  EXPECT_EQ(Resolve(base, "../g"), "http://a/b/g");
  EXPECT_EQ(Resolve(base, "../.."), "http://a/");
  EXPECT_EQ(Resolve(base, "../../"), "http://a/");
  EXPECT_EQ(Resolve(base, "../../g"), "http://a/g");
}

TEST(WebtableUrl, ResolvesTheAbnormalExamplesOfRfc3986) {
  const std::string base = "http://a/b/c/d;p?q";
  EXPECT_EQ(Resolve(base, "../../../g"), "http://a/g");
  EXPECT_EQ(Resolve(base, "../../../../g"), "http://a/g");
  EXPECT_EQ(Resolve(base, "/./g"), "http://a/g");
  EXPECT_EQ(Resolve(base, "/../g"), "http://a/g");
  EXPECT_EQ(Resolve(base, "g."), "http://a/b/c/g.");
  EXPECT_EQ(Resolve(base, ".g"), "http://a/b/c/.g");
  EXPECT_EQ(Resolve(base, "g.."), "http://a/b/c/g..");
  EXPECT_EQ(Resolve(base, "..g"), "http://a/b/c/..g");
  EXPECT_EQ(Resolve(base, "./../g"), "http://a/b/g");
  EXPECT_EQ(Resolve(base, "./g/."), "http://a/b/c/g/");
  EXPECT_EQ(Resolve(base, "g/./h"), "http://a/b/c/g/h");
  EXPECT_EQ(Resolve(base, "g/../h"), "http://a/b/c/h");
  EXPECT_EQ(Resolve(base, "g;x=1/./y"), "http://a/b/c/g;x=1/y");
  EXPECT_EQ(Resolve(base, "g;x=1/../y"), "http://a/b/c/y");
  EXPECT_EQ(Resolve(base, "g?y/../x"), "http://a/b/c/g?y/../x");
  EXPECT_EQ(Resolve(base, "g#s/../x"), "http://a/b/c/g");
}

TEST(WebtableUrl, FollowsLinksToWebServersOnly) {
  const std::string base = "https://a/";
  EXPECT_EQ(Resolve(base, "g:h"), "none");
  EXPECT_EQ(Resolve(base, "mailto:x@y"), "none");
  EXPECT_EQ(Resolve(base, "javascript:f()"), "none");
  EXPECT_EQ(Resolve(base, "https:g"), "none");
  EXPECT_EQ(Resolve(base, "http://"), "none");
  EXPECT_EQ(Resolve(base, "http://a b/"), "none");
  EXPECT_EQ(Resolve(base, "http://a:port/"), "none");
  EXPECT_EQ(Resolve(base, "//b/"), "https://b/");
}

TEST(WebtableUrl, NormalizesSoThatOnePageHasOneRow) {
  EXPECT_EQ(Normalize("HTTP://User:Secret@Example.ORG.:80"), "http://example.org/");
  EXPECT_EQ(Normalize("https://example.org:443/a"), "https://example.org/a");
  EXPECT_EQ(Normalize("https://example.org:80/a"), "https://example.org:80/a");
  EXPECT_EQ(Normalize("http://x/%7euser/%2f%c3%bc"), "http://x/~user/%2F%C3%BC");
  EXPECT_EQ(Normalize("http://x/a b?c d|%"), "http://x/a%20b?c%20d%7C%25");
  EXPECT_EQ(Normalize("http://x/\xC3\xBC"), "http://x/%C3%BC");
  EXPECT_EQ(Resolve("http://x/", " \n a\n.html\t"), "http://x/a.html");
}

TEST(WebtableUrl, RowKeysReverseTheHost) {
  const auto key = [](const std::string& text) { return RowKey(ParseUrl(text).value()); };
  EXPECT_EQ(key("http://maps.google.com/index.html"), "com.google.maps/index.html");
  EXPECT_EQ(key("https://www.cnn.com"), "com.cnn.www/");
  EXPECT_EQ(key("http://localhost:8080/a?b"), "localhost:8080/a?b");
  EXPECT_EQ(key("http://127.0.0.1/a"), "127.0.0.1/a");
  EXPECT_EQ(key("http://[::1]:81/a"), "[::1]:81/a");
}

TEST(WebtableUrl, AFilesPathIsWhatLinksToItResolveTo) {
  for (const std::string name :
       {"a b.html", "50%.html", "what?.html", "\xC3\xBC#.html", "a+b.htm"}) {
    const std::string link = EscapeFilePath(name);
    EXPECT_EQ(Resolve("http://x/", link), "http://x/" + link);
  }
}

}  // namespace
}  // namespace webtable
