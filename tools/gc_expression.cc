#include "tools/gc_expression.h"

#include <cctype>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/time/time.h"

#include "bigtable/string_view.h"

#include "tools/status.h"
#include "tools/text.h"

namespace bigtable::tools {
namespace {

struct Unit {
  std::string_view name;
  absl::Duration duration;
};

// From the largest to the smallest.
const std::vector<Unit>& Units() {
  static const auto* const units = new std::vector<Unit>{
      {"d", absl::Hours(24)},      {"h", absl::Hours(1)},         {"m", absl::Minutes(1)},
      {"s", absl::Seconds(1)},     {"ms", absl::Milliseconds(1)}, {"us", absl::Microseconds(1)},
      {"ns", absl::Nanoseconds(1)}};
  return *units;
}

// Takes a number and its unit from the front of the text.
bool TakeTerm(std::string_view* text, absl::Duration* age) {
  size_t digits = 0, end = 0;
  while (digits < text->size() && std::isdigit((*text)[digits])) ++digits;
  for (end = digits; end < text->size() && !std::isdigit((*text)[end]);) ++end;
  uint64_t number = 0;
  if (!absl::SimpleAtoi(ToAbsl(text->substr(0, digits)), &number) || number > INT64_MAX) {
    return false;
  }
  for (const Unit& unit : Units()) {
    if (unit.name != text->substr(digits, end - digits)) continue;
    *age += static_cast<int64_t>(number) * unit.duration;
    text->remove_prefix(end);
    return true;
  }
  return false;
}

absl::StatusOr<GcRule> ParseMaxVersions(std::string_view text) {
  int64_t n = 0;
  if (!absl::SimpleAtoi(ToAbsl(text), &n) || n < 1) {
    return UsageError(Cat("maxversions=", text, " is not a whole number of at least 1"));
  }
  return GcRule::MaxVersions(n);
}

// Recursive descent: one function for each level of precedence.
class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) { Advance(); }

  absl::StatusOr<GcRule> Parse() {
    if (word_ == "never") {
      Advance();
      if (!word_.empty()) return UsageError("never stands alone: it keeps everything");
      return GcRule();
    }
    TOOLS_ASSIGN_OR_RETURN(GcRule rule, Or());
    if (!word_.empty()) return Unexpected("and, or, or the end");
    return rule;
  }

 private:
  // Deep enough for any rule, and far from the end of the stack.
  static constexpr int kMaxDepth = 100;

  absl::StatusOr<GcRule> Or() {
    TOOLS_ASSIGN_OR_RETURN(GcRule rule, And());
    while (word_ == "or" || word_ == "||") {
      Advance();
      TOOLS_ASSIGN_OR_RETURN(const GcRule other, And());
      rule = GcRule::Union(rule, other);
    }
    return rule;
  }

  absl::StatusOr<GcRule> And() {
    TOOLS_ASSIGN_OR_RETURN(GcRule rule, Term());
    while (word_ == "and" || word_ == "&&") {
      Advance();
      TOOLS_ASSIGN_OR_RETURN(const GcRule other, Term());
      rule = GcRule::Intersection(rule, other);
    }
    return rule;
  }

  absl::StatusOr<GcRule> Term() {
    const std::string_view word = word_;
    if (word == "(") return InParentheses();
    if (word.starts_with("maxage=")) {
      Advance();
      TOOLS_ASSIGN_OR_RETURN(const absl::Duration age, ParseAge(word.substr(7), "maxage"));
      return GcRule::MaxAge(age);
    }
    if (word.starts_with("maxversions=")) {
      Advance();
      return ParseMaxVersions(word.substr(12));
    }
    return Unexpected("maxversions=N, maxage=DURATION, (, or never alone");
  }

  absl::StatusOr<GcRule> InParentheses() {
    if (++depth_ > kMaxDepth) return UsageError("more than 100 parentheses within one another");
    Advance();
    TOOLS_ASSIGN_OR_RETURN(GcRule rule, Or());
    if (word_ != ")") return Unexpected(")");
    Advance();
    --depth_;
    return rule;
  }

  absl::Status Unexpected(std::string_view expected) const {
    if (word_.empty()) return UsageError(Cat("the rule ends where ", expected, " should follow"));
    return UsageError(Cat("the rule has ", Quoted(word_), " where ", expected, " should be"));
  }

  // word_ is the next word, or "" at the end.
  void Advance() {
    while (!rest_.empty() && std::isspace(static_cast<uint8_t>(rest_[0]))) rest_.remove_prefix(1);
    size_t size = 0;
    const auto is_operator = [&](size_t i) {
      return rest_.substr(i, 2) == "&&" || rest_.substr(i, 2) == "||";
    };
    if (!rest_.empty() && (rest_[0] == '(' || rest_[0] == ')')) {
      size = 1;
    } else if (is_operator(0)) {
      size = 2;
    } else {
      while (size < rest_.size() && !std::isspace(static_cast<uint8_t>(rest_[size])) &&
             rest_[size] != '(' && rest_[size] != ')' && !is_operator(size)) {
        ++size;
      }
    }
    word_ = rest_.substr(0, size);
    rest_.remove_prefix(size);
  }

  std::string_view rest_;
  std::string_view word_;
  int depth_ = 0;
};

}  // namespace

std::string FormatAge(absl::Duration age) {
  for (const Unit& unit : Units()) {
    absl::Duration rest;
    const int64_t number = absl::IDivDuration(age, unit.duration, &rest);
    if (rest == absl::ZeroDuration() && number > 0) return Cat(number, unit.name);
  }
  return "0ms";
}

absl::StatusOr<absl::Duration> ParseAge(std::string_view text, std::string_view what) {
  absl::Duration age = absl::ZeroDuration();
  std::string_view rest = text;
  do {
    if (!TakeTerm(&rest, &age)) {
      return UsageError(Cat(what, "=", text,
                            " is not a duration; write a number and a unit, as in ", what,
                            "=30d (d, h, m, s, ms, us or ns)"));
    }
  } while (!rest.empty());
  if (age < absl::Milliseconds(1) || age == absl::InfiniteDuration()) {
    return UsageError(Cat(what, "=", text, " is out of range; the least is 1ms"));
  }
  return age;
}

absl::StatusOr<GcRule> ParseGcExpression(std::string_view text) { return Parser(text).Parse(); }

std::string FormatGcExpression(const GcRule& rule) {
  std::vector<std::string> steps;
  for (const GcRule::Step& step : rule.steps()) {
    std::vector<std::string> parts;
    if (step.versions > 0) parts.push_back(Cat("maxversions=", step.versions));
    if (step.age != -absl::InfiniteDuration()) parts.push_back(Cat("maxage=", FormatAge(step.age)));
    const bool in_parentheses = parts.size() > 1 && rule.steps().size() > 1;
    const std::string text = Join(parts, " and ");
    steps.push_back(in_parentheses ? Cat("(", text, ")") : text);
  }
  return steps.empty() ? "never" : Join(steps, " or ");
}

}  // namespace bigtable::tools
