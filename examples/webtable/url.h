// URLs for the Webtable: links resolved by RFC 3986, and row keys made of them.
#ifndef BIGTABLE_EXAMPLES_WEBTABLE_URL_H_
#define BIGTABLE_EXAMPLES_WEBTABLE_URL_H_

#include <optional>
#include <string>
#include <string_view>

namespace webtable {

// An http or https URL without user and fragment, normalized (RFC 3986, 6.2.2 and 6.2.3): lower
// case scheme and host, no default port, no dot segments, a path of "/" at least, escapes in upper
// case and only where necessary. Bytes that are not allowed in a URL are escaped. Plain value.
struct Url {
  std::string scheme;
  std::string host;
  std::string port;  // empty: the default of the scheme
  std::string path;
  std::optional<std::string> query;

  friend bool operator==(const Url&, const Url&) = default;
};

// nullopt if `text` is not an absolute http or https URL with a host.
std::optional<Url> ParseUrl(std::string_view text);

// Resolves `reference`, as written in a page, against the page's URL `base` (RFC 3986, 5.2; white
// space at its ends is ignored, as in HTML). nullopt if the result is not an http or https URL.
std::optional<Url> ResolveLink(const Url& base, std::string_view reference);

std::string ToString(const Url& url);

// The row of a page: its host with the components reversed, then port, path and query. The scheme
// is not part of it: http and https serve the same page.
//   https://www.postgresql.org/docs/15/acronyms.html -> org.postgresql.www/docs/15/acronyms.html
std::string RowKey(const Url& url);

// The path of a file as the path of a URL: special characters are escaped.
std::string EscapeFilePath(std::string_view path);

}  // namespace webtable

#endif  // BIGTABLE_EXAMPLES_WEBTABLE_URL_H_
