#include "page.h"

#include <algorithm>
#include <array>
#include <gumbo.h>
#include <memory>
#include <unordered_map>
#include <utility>

#include "absl/strings/ascii.h"

namespace webtable {
namespace {

const GumboVector* Children(const GumboNode* node) {
  if (node->type == GUMBO_NODE_ELEMENT) return &node->v.element.children;
  if (node->type == GUMBO_NODE_DOCUMENT) return &node->v.document.children;
  return nullptr;
}

// The node after `node` below `root` in the order of the page, or null. This walk needs no stack,
// however deep the page is nested.
const GumboNode* NextNode(const GumboNode* node, const GumboNode* root) {
  const GumboVector* children = Children(node);
  if (children != nullptr && children->length > 0) {
    return static_cast<const GumboNode*>(children->data[0]);
  }
  for (; node != root; node = node->parent) {
    const GumboVector* siblings = Children(node->parent);
    const size_t next = node->index_within_parent + 1;
    if (next < siblings->length) return static_cast<const GumboNode*>(siblings->data[next]);
  }
  return nullptr;
}

bool IsElement(const GumboNode* node, GumboTag tag) {
  return node->type == GUMBO_NODE_ELEMENT && node->v.element.tag == tag;
}

// Null if there is no such attribute.
const char* Attribute(const GumboNode* element, const char* name) {
  const GumboAttribute* attribute = gumbo_get_attribute(&element->v.element.attributes, name);
  return attribute == nullptr ? nullptr : attribute->value;
}

// Appends `text` with each run of white space, U+00A0 included, as one space, and none at the
// beginning of `out`.
void AppendNormalized(std::string_view text, std::string& out) {
  constexpr std::string_view kNoBreakSpace = "\xC2\xA0";
  for (size_t i = 0; i < text.size(); ++i) {
    const bool no_break_space = text.substr(i).starts_with(kNoBreakSpace);
    if (no_break_space) ++i;
    if (no_break_space || absl::ascii_isspace(static_cast<unsigned char>(text[i]))) {
      if (!out.empty() && out.back() != ' ') out += ' ';
    } else {
      out += text[i];
    }
  }
}

// The visible text below `root`; stops soon after `limit` bytes.
std::string TextOf(const GumboNode* root, size_t limit) {
  std::string text;
  for (const GumboNode* node = root; node != nullptr && text.size() < limit;
       node = NextNode(node, root)) {
    if (node->type == GUMBO_NODE_TEXT || node->type == GUMBO_NODE_WHITESPACE ||
        node->type == GUMBO_NODE_CDATA) {
      const bool code =
          IsElement(node->parent, GUMBO_TAG_SCRIPT) || IsElement(node->parent, GUMBO_TAG_STYLE);
      if (!code) AppendNormalized(node->v.text.text, text);
    } else if (IsElement(node, GUMBO_TAG_BR)) {
      AppendNormalized(" ", text);
    } else if (IsElement(node, GUMBO_TAG_IMG)) {
      const char* alt = Attribute(node, "alt");
      if (alt != nullptr) AppendNormalized(alt, text);
    }
  }
  if (text.ends_with(' ')) text.pop_back();
  return text;
}

// The text as a language tag (the letters, digits and hyphens of BCP 47), or empty.
std::string LanguageTag(const char* text) {
  constexpr size_t kMaxTagSize = 35;
  const std::string_view tag = text == nullptr ? "" : text;
  const bool valid =
      tag.size() <= kMaxTagSize && std::all_of(tag.begin(), tag.end(), [](unsigned char c) {
        return absl::ascii_isalnum(c) || c == '-';
      });
  return valid ? std::string(tag) : "";
}

struct CommonWords {
  std::string_view language;
  std::string_view words;
};

constexpr std::array<CommonWords, 5> kCommonWords = {{
    {"en", "the of and to is that for with this are be it as by which"},
    {"de", "der die das und ist nicht mit von den ein eine zu auf für werden"},
    {"fr", "le les des et est une dans pour que qui pas sur du au avec"},
    {"es", "el los las y es una para que por con del se como más su"},
    {"it", "il di che è per una non sono della con gli del dei alla nel"},
}};

// Removes the next word from the front of `text`, whose words have one space between them.
std::string_view TakeWord(std::string_view& text) {
  const size_t end = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

// The languages, as indexes in kCommonWords, that each word is common in.
std::unordered_map<std::string_view, std::vector<size_t>> IndexCommonWords() {
  std::unordered_map<std::string_view, std::vector<size_t>> index;
  for (size_t i = 0; i < kCommonWords.size(); ++i) {
    std::string_view words = kCommonWords[i].words;
    while (!words.empty()) index[TakeWord(words)].push_back(i);
  }
  return index;
}

// By the share of common words: the winner needs 5 in 100 words and twice the share of the second.
std::string GuessLanguage(std::string text) {
  constexpr int kMinWords = 20;
  static const auto* const common_words = new auto(IndexCommonWords());
  absl::AsciiStrToLower(&text);
  int words = 0;
  std::array<int, kCommonWords.size()> hits = {};
  for (std::string_view rest = text; !rest.empty(); ++words) {
    const auto found = common_words->find(TakeWord(rest));
    if (found == common_words->end()) continue;
    for (const size_t language : found->second) ++hits[language];
  }
  const size_t best = std::max_element(hits.begin(), hits.end()) - hits.begin();
  const int best_hits = std::exchange(hits[best], 0);
  const int second_hits = *std::max_element(hits.begin(), hits.end());
  const bool clear = words >= kMinWords && best_hits * 20 >= words && best_hits >= 2 * second_hits;
  return clear ? std::string(kCommonWords[best].language) : "und";
}

// The language that a <meta> element declares, or empty.
std::string ContentLanguage(const GumboNode* meta) {
  const char* name = Attribute(meta, "http-equiv");
  if (name == nullptr) return "";
  std::string lower_name = name;
  absl::AsciiStrToLower(&lower_name);
  return lower_name == "content-language" ? LanguageTag(Attribute(meta, "content")) : "";
}

}  // namespace

Page ParsePage(std::string_view html) {
  constexpr size_t kAll = std::string_view::npos;
  constexpr size_t kLanguageSample = 16 << 10;

  GumboOptions options = kGumboDefaultOptions;
  options.max_errors = 0;
  const auto destroy = [&options](GumboOutput* output) { gumbo_destroy_output(&options, output); };
  const std::unique_ptr<GumboOutput, decltype(destroy)> output(
      gumbo_parse_with_options(&options, html.data(), html.size()), destroy);

  Page page;
  page.language = LanguageTag(Attribute(output->root, "lang"));
  if (page.language.empty()) page.language = LanguageTag(Attribute(output->root, "xml:lang"));
  for (const GumboNode* node = output->root; node != nullptr; node = NextNode(node, output->root)) {
    if (IsElement(node, GUMBO_TAG_A)) {
      const char* href = Attribute(node, "href");
      if (href != nullptr) page.links.push_back({href, TextOf(node, kAll)});
    } else if (IsElement(node, GUMBO_TAG_BASE) && page.base.empty()) {
      const char* href = Attribute(node, "href");
      if (href != nullptr) page.base = href;
    } else if (IsElement(node, GUMBO_TAG_META) && page.language.empty()) {
      page.language = ContentLanguage(node);
    }
  }
  if (page.language.empty()) page.language = GuessLanguage(TextOf(output->root, kLanguageSample));
  return page;
}

}  // namespace webtable
