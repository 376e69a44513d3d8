#include "url.h"

#include <algorithm>

#include "absl/strings/ascii.h"

namespace webtable {
namespace {

// A URL or a relative reference in its five parts (RFC 3986, appendix B), the fragment left out.
struct Parts {
  std::optional<std::string_view> scheme;
  std::optional<std::string_view> authority;
  std::string_view path;
  std::optional<std::string_view> query;
};

bool IsSchemeName(std::string_view text) {
  if (text.empty() || !absl::ascii_isalpha(static_cast<unsigned char>(text[0]))) return false;
  for (const char c : text) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '+' && c != '-' && c != '.') {
      return false;
    }
  }
  return true;
}

Parts Split(std::string_view text) {
  Parts parts;
  text = text.substr(0, text.find('#'));
  const size_t colon = text.find_first_of(":/?");
  if (colon != text.npos && text[colon] == ':' && IsSchemeName(text.substr(0, colon))) {
    parts.scheme = text.substr(0, colon);
    text.remove_prefix(colon + 1);
  }
  if (text.starts_with("//")) {
    text.remove_prefix(2);
    const size_t end = std::min(text.find_first_of("/?"), text.size());
    parts.authority = text.substr(0, end);
    text.remove_prefix(end);
  }
  const size_t question = text.find('?');
  if (question != text.npos) parts.query = text.substr(question + 1);
  parts.path = text.substr(0, question);
  return parts;
}

constexpr std::string_view kUnreserved =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
constexpr std::string_view kPathCharacters =
    "!$&'()*+,;=:@/";  // in addition to the unreserved ones
constexpr std::string_view kQueryCharacters = "!$&'()*+,;=:@/?";

void AppendEscaped(unsigned char byte, std::string& out) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  out += '%';
  out += kDigits[byte >> 4];
  out += kDigits[byte & 15];
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Escapes characters that are neither unreserved nor in `allowed`. Existing escapes stay, in upper
// case, unless they stand for an unreserved character.
std::string NormalizeEscapes(std::string_view text, std::string_view allowed) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    const bool escape =
        c == '%' && i + 2 < text.size() && HexDigit(text[i + 1]) >= 0 && HexDigit(text[i + 2]) >= 0;
    if (escape) {
      c = static_cast<char>(HexDigit(text[i + 1]) << 4 | HexDigit(text[i + 2]));
      i += 2;
    }
    if (kUnreserved.find(c) != kUnreserved.npos || (!escape && allowed.find(c) != allowed.npos)) {
      out += c;
    } else {
      AppendEscaped(static_cast<unsigned char>(c), out);
    }
  }
  return out;
}

// RFC 3986, 5.2.4, for a path that begins with a slash.
std::string RemoveDotSegments(std::string_view path) {
  std::string out;
  while (!path.empty()) {
    const size_t end = std::min(path.find('/', 1), path.size());
    const std::string_view segment = path.substr(0, end);  // with the slash before it
    path.remove_prefix(end);
    const bool last = path.empty();
    if (segment == "/.") {
      if (last) out += '/';
    } else if (segment == "/..") {
      const size_t slash = out.rfind('/');
      out.resize(slash == out.npos ? 0 : slash);
      if (last) out += '/';
    } else {
      out += segment;
    }
  }
  return out;
}

// Fills in scheme, host and port. False if the authority does not name an http server.
bool SetServer(std::string_view scheme, std::string_view authority, Url& url) {
  url.scheme = std::string(scheme);
  absl::AsciiStrToLower(&url.scheme);
  if (url.scheme != "http" && url.scheme != "https") return false;
  const size_t at = authority.rfind('@');
  if (at != authority.npos) authority.remove_prefix(at + 1);
  const size_t bracket = authority.rfind(']');  // of an IPv6 address, which has colons of its own
  const size_t colon = authority.find(':', bracket == authority.npos ? 0 : bracket);
  if (colon != authority.npos) {
    url.port = std::string(authority.substr(colon + 1));
    if (url.port.find_first_not_of("0123456789") != url.port.npos) return false;
    if (url.port == (url.scheme == "http" ? "80" : "443")) url.port.clear();
  }
  url.host = std::string(authority.substr(0, colon));
  absl::AsciiStrToLower(&url.host);
  if (url.host.ends_with('.')) url.host.pop_back();
  for (const char c : url.host) {
    if (static_cast<unsigned char>(c) <= ' ' || c == 0x7f) return false;
  }
  return !url.host.empty();
}

void SetPathAndQuery(std::string_view path, std::optional<std::string_view> query, Url& url) {
  url.path = RemoveDotSegments(NormalizeEscapes(path, kPathCharacters));
  if (url.path.empty()) url.path = "/";
  url.query.reset();
  if (query) url.query = NormalizeEscapes(*query, kQueryCharacters);
}

// HTML ignores white space at both ends of an attribute's URL, and line ends and tabs inside it.
std::string StripWhitespace(std::string_view text) {
  constexpr std::string_view kWhitespace = " \t\r\n\f";
  const size_t begin = text.find_first_not_of(kWhitespace);
  if (begin == text.npos) return "";
  text = text.substr(begin, text.find_last_not_of(kWhitespace) - begin + 1);
  std::string out;
  for (const char c : text) {
    if (c != '\t' && c != '\r' && c != '\n') out += c;
  }
  return out;
}

bool IsIpAddress(std::string_view host) {
  return host.starts_with('[') || host.find_first_not_of("0123456789.") == host.npos;
}

std::string ReverseComponents(std::string_view host) {
  std::string out;
  while (true) {
    const size_t dot = host.rfind('.');
    if (dot == host.npos) return out.append(host);
    out.append(host.substr(dot + 1)).append(1, '.');
    host = host.substr(0, dot);
  }
}

}  // namespace

std::optional<Url> ParseUrl(std::string_view text) {
  const Parts parts = Split(text);
  Url url;
  if (!parts.scheme || !parts.authority || !SetServer(*parts.scheme, *parts.authority, url)) {
    return std::nullopt;
  }
  SetPathAndQuery(parts.path, parts.query, url);
  return url;
}

std::optional<Url> ResolveLink(const Url& base, std::string_view reference) {
  const std::string text = StripWhitespace(reference);
  const Parts parts = Split(text);
  if (parts.scheme) return ParseUrl(text);

  Url url = base;
  if (parts.authority) {
    url = Url();
    if (!SetServer(base.scheme, *parts.authority, url)) return std::nullopt;
    SetPathAndQuery(parts.path, parts.query, url);
  } else if (parts.path.empty()) {
    if (parts.query) SetPathAndQuery(base.path, parts.query, url);
  } else if (parts.path.starts_with('/')) {
    SetPathAndQuery(parts.path, parts.query, url);
  } else {
    const std::string directory = base.path.substr(0, base.path.rfind('/') + 1);
    SetPathAndQuery(directory + std::string(parts.path), parts.query, url);
  }
  return url;
}

std::string ToString(const Url& url) {
  std::string out = url.scheme + "://" + url.host;
  if (!url.port.empty()) out.append(":").append(url.port);
  out += url.path;
  if (url.query) out.append("?").append(*url.query);
  return out;
}

std::string RowKey(const Url& url) {
  std::string key = IsIpAddress(url.host) ? url.host : ReverseComponents(url.host);
  if (!url.port.empty()) key.append(":").append(url.port);
  key += url.path;
  if (url.query) key.append("?").append(*url.query);
  return key;
}

std::string EscapeFilePath(std::string_view path) {
  std::string out;
  for (const char c : path) {
    if (kUnreserved.find(c) != kUnreserved.npos ||
        kPathCharacters.find(c) != kPathCharacters.npos) {
      out += c;
    } else {
      AppendEscaped(static_cast<unsigned char>(c), out);
    }
  }
  return out;
}

}  // namespace webtable
