// The properties of an HTML page for the Webtable: its language and its links.
#ifndef BIGTABLE_EXAMPLES_WEBTABLE_PAGE_H_
#define BIGTABLE_EXAMPLES_WEBTABLE_PAGE_H_

#include <string>
#include <string_view>
#include <vector>

namespace webtable {

struct Link {
  std::string href;  // as the page has it, entities decoded
  // The text between <a> and </a>, with the alt of images, each run of white space as one space.
  // May be empty.
  std::string text;
};

// Plain value.
struct Page {
  // The declared language of the page (<html lang>, xml:lang, or <meta
  // http-equiv="content-language">); otherwise "en", "de", "fr", "es" or "it" if the commonest
  // words of its text clearly indicate it; otherwise "und", which is BCP 47 for undetermined.
  std::string language;
  std::string base;         // the href of <base>, against which links are resolved; mostly empty
  std::vector<Link> links;  // of each <a href>, in the order of the page
};

// Any bytes can be parsed, as in a browser. Text is assumed to be UTF-8.
Page ParsePage(std::string_view html);

}  // namespace webtable

#endif  // BIGTABLE_EXAMPLES_WEBTABLE_PAGE_H_
