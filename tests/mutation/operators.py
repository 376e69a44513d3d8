"""Small faults in the text of a C++ source: each changes one line in one place.

Plain text is enough for this, because the project's sources are all formatted alike: a comparison
has a space on both sides and a template has none, a statement begins a line.

A fault is a Mutant. `mutants` returns them in the order of the lines, always the same for the same
text. `switched` returns the text with many of them in it, each behind a switch (fault_switch.h), so
that one build serves all of them.
"""

import re
from typing import Iterable, Iterator, NamedTuple


class Wrap(NamedTuple):
    """Text that is put around text[begin:end]; "%d" in it is the number of the fault."""
    begin: int
    end: int
    before: str
    after: str


class Mutant(NamedTuple):
    line: int  # from 1
    operator: str
    before: str  # the line
    after: str   # the line after the change
    wraps: tuple[Wrap, ...]  # the same change behind a switch; none if it can only be compiled alone


NAMESPACE = "::bigtable::fault::"
IS_ON = NAMESPACE + "IsOn(%d)"

# The other comparison, and the type in fault_switch.h that stands between the two operands.
COMPARISONS = {" < ": (" <= ", "Less"), " <= ": (" < ", "LessOrEqual"), " > ": (" >= ", "Greater"),
               " >= ": (" > ", "GreaterOrEqual"), " == ": (" != ", "Equal"),
               " != ": (" == ", "Unequal")}
LOGIC = {" && ": " || ", " || ": " && "}
CONSTANTS = {" + 1": " + 2", " - 1": " - 2", "return true;": "return false;",
             "return false;": "return true;", " = true;": " = false;", " = false;": " = true;"}

# A condition that is whole on its line.
CONDITION = re.compile(r"\b(if|while) \((?!constexpr)([^;]+)\) ?(\{|return\b.*;|continue;|break;)?$")
# A call, an assignment or a step that is a statement by itself. A declaration has a space between its
# type and its name, so it does not match.
STATEMENT = re.compile(r"^\s*(?:[\w.:\[\]>*-]+(?:\(\))?(?:(?:->|\.)[\w\[\]]+(?:\(\))?)*"
                       r"(?:\(.*\)| [-+|&^]?= .*)|(?:\+\+|--)[\w.>-]+|[\w.>-]+(?:\+\+|--));$")
NOT_LEFT_OUT = re.compile(
    r"^\s*(return|throw|delete|using|static_assert|assert|goto|co_|BT_ASSIGN_OR_RETURN)\b")
JUMP = re.compile(r"\b(break|continue);$")
HEEDED_ERROR = re.compile(r"\bBT_RETURN_IF_ERROR\((.*)\);$")
NAMED_NUMBER = re.compile(r"\b(k[A-Z]\w* = )(\d+)(?=[;,) ])")
SKIPPED = re.compile(r"^\s*(#|template\b)")
# No test can be asked to find what an assertion no longer checks.
ASSERTION = re.compile(r"\b(ABSL_ASSERT|static_assert|assert)\(")


def masked(text: str) -> str:
    """`text` with comments, assertions and the insides of strings and characters as spaces, of the
    same length."""
    def blank(part: str) -> str:
        return re.sub(r"[^\n]", " ", part)

    def mask(found: re.Match) -> str:
        part = found.group()
        return blank(part) if part[0] == "/" else part[0] + blank(part[1:-1]) + part[-1]

    kinds = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])'", re.S)
    code = kinds.sub(mask, text)
    for assertion in ASSERTION.finditer(code):
        end = operand_end(code, assertion.end())
        code = code[:assertion.start()] + blank(code[assertion.start():end + 1]) + code[end + 1:]
    return code


def balanced(text: str) -> bool:
    depth = 0
    for character in text:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth < 0:
            return False
    return depth == 0


def operand_begin(code: str, at: int) -> int:
    """Where the left operand of the && or || at `at` begins, with all && that are in it."""
    depth = 0
    while at > 0:
        character, pair = code[at - 1], code[at - 2:at]
        depth += (character in ")]}") - (character in "([{")
        if depth < 0 or depth == 0 and (
                character in ";,?" or pair == "||" or
                character == ":" and pair != "::" and code[at:at + 1] != ":" or
                character == "=" and pair[0] not in "=!<>" and code[at:at + 1] != "=" or
                re.search(r"\breturn$", code[max(0, at - 7):at])):
            break
        at -= 1
    while code[at].isspace():
        at += 1
    return at


def operand_end(code: str, at: int) -> int:
    """Where what begins at `at` ends: an operand of && or ||, or what is in parentheses."""
    depth = 0
    while at < len(code):
        character = code[at]
        depth += (character in "([{") - (character in ")]}")
        if depth < 0 or depth == 0 and (
                character in ";,?" or code[at:at + 2] == "||" or
                character == ":" and code[at + 1:at + 2] != ":" and code[at - 1] != ":"):
            break
        at += 1
    while code[at - 1].isspace():
        at -= 1
    return at


def switched_logic(code: str, operator: int) -> tuple[Wrap, ...]:
    """For the && or || at `operator`, by de Morgan: m != ((m != a) && (m != b)) is a && b without the
    fault m, and a || b with it."""
    left = operand_begin(code, operator), operator
    right = operator + 4, operand_end(code, operator + 4)
    return (Wrap(left[0], right[1], f"({IS_ON} != (", "))"),
            Wrap(*left, f"({IS_ON} != bool(", "))"), Wrap(*right, f"({IS_ON} != bool(", "))"))


def changes_of_line(code: str, begin: int, end: int, begins_statement: bool
                    ) -> Iterator[tuple[str, int, int, str, tuple[Wrap, ...]]]:
    """(operator, begin, end, replacement, its wraps) for each fault in the line code[begin:end] of
    the masked text. "\\0" in a replacement is what it replaces."""
    def places(swaps: Iterable[str]) -> Iterator[tuple[int, str]]:
        for old in swaps:
            at = code.find(old, begin, end)
            while at >= 0:
                yield at, old
                at = code.find(old, at + 1, end)

    def span(found: re.Match, group: int = 0) -> tuple[int, int]:
        return begin + found.start(group), begin + found.end(group)

    for at, old in places(COMPARISONS):
        new, switch = COMPARISONS[old]
        after = at + len(old)
        yield "comparison", at, after, new, (
            Wrap(after, after, f"{NAMESPACE}{switch}{{%d}}{old}", ""),)
    for at, old in places(LOGIC):
        yield "logic", at, at + len(old), LOGIC[old], switched_logic(code, at)
    for at, old in places(CONSTANTS):
        if old[-1] == "1":
            if not code[at + len(old)].isalnum():
                one = at + len(old) - 1
                yield "constant", at, one + 1, CONSTANTS[old], (
                    Wrap(one, one + 1, "(", f" + {IS_ON})"),)
        else:
            value = at + old.rfind(" ") + 1, at + len(old) - 1
            yield "constant", at, at + len(old), CONSTANTS[old], (Wrap(*value, "(", f" != {IS_ON})"),)

    line = code[begin:end]
    condition = CONDITION.search(line)
    if condition and balanced(condition.group(2)):
        inside = condition.group(2)
        is_declaration = re.match(r"[\w:<>*& ]+ = ", inside)
        # The turned comparison is the same fault.
        is_comparison = re.search(r" [=!]= ", inside) and not re.search(r"&&|\|\|", inside)
        if not is_declaration and not is_comparison:
            yield "condition", *span(condition, 2), "!(\0)", (
                Wrap(*span(condition, 2), f"{IS_ON} != bool(", ")"),)
    jump = JUMP.search(line)
    if jump and not line.startswith("case"):
        yield "jump left out", *span(jump), ";", (
            Wrap(*span(jump), f"{{ if (!{IS_ON}) {{ ", " } }"),)
    error = HEEDED_ERROR.search(line)
    if error and balanced(error.group(1)):
        yield "error not heeded", *span(error, 1), "(void)(\0)", (
            Wrap(*span(error, 1), f"{NAMESPACE}Heeded(%d, ", ")"),)
    elif begins_statement and STATEMENT.match(line) and not NOT_LEFT_OUT.match(line):
        statement = begin + len(line) - len(line.lstrip()), end
        yield "statement left out", *statement, ";", (
            Wrap(*statement, f"{{ if (!{IS_ON}) {{ ", " } }"),)
    for number in NAMED_NUMBER.finditer(line):
        yield "constant", *span(number, 2), str(int(number.group(2)) + 1), ()


def mutants(text: str) -> list[Mutant]:
    found = []
    code = masked(text)
    begin = 0
    begins_statement = False
    for index, line in enumerate(text.split("\n")):
        end = begin + len(line)
        end_of_code = begin + len(code[begin:end].rstrip())
        if end_of_code > begin and not SKIPPED.match(code[begin:end_of_code]):
            for operator, first, last, replacement, wraps in changes_of_line(
                    code, begin, end_of_code, begins_statement):
                replacement = replacement.replace("\0", text[first:last])
                after = line[:first - begin] + replacement + line[last - begin:]
                if operator == "error not heeded":
                    after = line[:line.index("BT_")] + replacement + line[last - begin + 1:]
                found.append(Mutant(index + 1, operator, line, after, wraps))
        if code[begin:end].strip():
            begins_statement = code[begin:end_of_code].endswith((";", "{", "}", ":"))
        begin = end + 1
    return found


def can_be_together(one: Mutant, other: Mutant) -> bool:
    """Whether their switches fit into one text: no wrap begins in another and ends behind it."""
    return not any(a.begin < b.begin < a.end < b.end or b.begin < a.begin < b.end < a.end
                   for a in one.wraps for b in other.wraps)


def switched(text: str, numbered: dict[int, Mutant]) -> str:
    """`text` with the faults of `numbered` behind switches, on the same lines. Any two of them
    can_be_together."""
    insertions = []  # (place, what stands where at one place, the text)
    wraps = [(number, wrap) for number, mutant in numbered.items() for wrap in mutant.wraps]
    for index, (number, wrap) in enumerate(wraps):
        before, after = (part.replace("%d", str(number)) for part in (wrap.before, wrap.after))
        # At one place: first what ends there, the innermost first; last what begins, the outermost
        # first.
        if wrap.begin == wrap.end:
            insertions.append((wrap.begin, (1,), before))
        else:
            insertions.append((wrap.begin, (2, -wrap.end, index), before))
            insertions.append((wrap.end, (0, -wrap.begin, -index), after))
    for place, _, inserted in sorted(insertions, reverse=True):
        text = text[:place] + inserted + text[place:]
    return text
