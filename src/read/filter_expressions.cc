#include "read/filter_expressions.h"

#include <algorithm>
#include <bit>

namespace bigtable {

uint64_t ExpressionMemory(int expressions) {
  const uint64_t share = kMostExpressionMemory / static_cast<uint64_t>(std::max(expressions, 1));
  return std::max(std::bit_floor(share), kLeastExpressionMemory);
}

std::shared_ptr<const RE2> MakeExpression(std::string_view regex, uint64_t memory) {
  const re2::StringPiece pattern(regex.data(), regex.size());
  RE2::Options options;
  options.set_encoding(RE2::Options::EncodingLatin1);
  options.set_log_errors(false);
  options.set_dot_nl(true);
  while (true) {
    options.set_max_mem(static_cast<int64_t>(memory));
    auto expression = std::make_shared<const RE2>(pattern, options);
    if (expression->error_code() != RE2::ErrorPatternTooLarge || memory >= kMostExpressionMemory) {
      return expression;
    }
    memory *= 2;
  }
}

uint64_t MostBytesOf(const RE2& expression) {
  // Of its memory RE2 gives two thirds to the forward program, and half of these to the automaton
  // that matches whole texts. Instructions have 16 bytes, and tables of about as much.
  constexpr uint64_t kBytesOfInstruction = 48;
  return static_cast<uint64_t>(expression.options().max_mem()) / 3 +
         static_cast<uint64_t>(std::max(expression.ProgramSize(), 0)) * kBytesOfInstruction;
}

}  // namespace bigtable
