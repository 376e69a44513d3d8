// The regular expressions of filters, and the memory that they take.
//
// RE2 compiles an expression to a program, and makes the states of an automaton while it matches,
// as far as its memory goes. Then it drops them all, and continues without an automaton where it
// would have to do so often. So the automata of a thousand expressions would grow to gigabytes. The
// expressions of a filter therefore share the memory that RE2 gives to one, and have at least so
// much each that the automata of small ones fit. Their programs are limited together, because a few
// bytes such as "(abc){1000}" may be a large one.
//
// Thread-safe.
#ifndef BIGTABLE_READ_FILTER_EXPRESSIONS_H_
#define BIGTABLE_READ_FILTER_EXPRESSIONS_H_

#include <cstdint>
#include <memory>
#include <string_view>

#include "re2/re2.h"

namespace bigtable {

// Memory of an expression, as RE2 means it (RE2::Options::max_mem): of one that is alone in its
// filter, which is RE2's default, and of one among many.
inline constexpr uint64_t kMostExpressionMemory = 8 << 20;
inline constexpr uint64_t kLeastExpressionMemory = 32 << 10;

// Instructions of the programs of a filter; RE2 allows an expression that is alone some 87,000.
inline constexpr int64_t kMostFilterInstructions = 100'000;

// The memory of each of so many expressions: a power of two.
uint64_t ExpressionMemory(int expressions);

// An expression with so much memory, or with more if its program needs it. It is of bytes, not of
// UTF-8: keys and values are arbitrary. RE2::error() says whether it is wrong.
std::shared_ptr<const RE2> MakeExpression(std::string_view regex, uint64_t memory);

// At most so many bytes are held by a valid expression that is only used to match whole texts.
uint64_t MostBytesOf(const RE2& expression);

}  // namespace bigtable

#endif  // BIGTABLE_READ_FILTER_EXPRESSIONS_H_
