"""Small faults in the text of a C++ source: each is one line, changed in one place.

Plain text is enough for this, because the project's sources are all formatted alike: a comparison
has a space on both sides and a template has none, a statement begins a line. What does not compile
is not counted (run).

A fault is a Mutant: its line, the name of its operator, and the line after the change. `mutants`
returns them in the order of the lines, always the same for the same text.
"""

import re
from typing import Iterator, NamedTuple


class Mutant(NamedTuple):
    line: int  # from 1
    operator: str
    before: str
    after: str


SWAPS = {
    "comparison": [(" < ", " <= "), (" <= ", " < "), (" > ", " >= "), (" >= ", " > "),
                   (" == ", " != "), (" != ", " == ")],
    "logic": [(" && ", " || "), (" || ", " && ")],
    "constant": [(" + 1", " + 2"), (" - 1", " - 2"), ("return true;", "return false;"),
                 ("return false;", "return true;"), (" = true;", " = false;"),
                 (" = false;", " = true;")],
}

# A condition that is whole on its line, without an initializer.
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
# Lines whose change no test can be asked to find.
SKIPPED = re.compile(r"^\s*(#|static_assert|assert\(|template\b|BT_DCHECK)")


def masked(text: str) -> str:
    """`text` with the insides of comments, strings and characters as spaces, of the same length."""
    kinds = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])'", re.S)
    return kinds.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)


def balanced(text: str) -> bool:
    depth = 0
    for character in text:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth < 0:
            return False
    return depth == 0


def changes_of_line(code: str, begins_statement: bool) -> Iterator[tuple[str, int, int, str]]:
    """(operator, begin, end, replacement) for each fault in one masked line."""
    for operator, swaps in SWAPS.items():
        for old, new in swaps:
            begin = code.find(old)
            while begin >= 0:
                if operator != "constant" or not code[begin + len(old):begin + len(old) + 1].isalnum():
                    yield operator, begin, begin + len(old), new
                begin = code.find(old, begin + 1)
    condition = CONDITION.search(code)
    if condition and balanced(condition.group(2)):
        inside = condition.group(2)
        # The turned comparison is the same fault.
        if not (re.search(r" [=!]= ", inside) and not re.search(r"&&|\|\|", inside)):
            yield "condition", *condition.span(2), "!(" + inside + ")"
    jump = JUMP.search(code)
    if jump and not code.rstrip().startswith("case"):
        yield "jump left out", *jump.span(), ";"
    error = HEEDED_ERROR.search(code)
    if error and balanced(error.group(1)):
        yield "error not heeded", error.start(), error.end(), "(void)(" + error.group(1) + ");"
    elif begins_statement and STATEMENT.match(code) and not NOT_LEFT_OUT.match(code):
        begin = len(code) - len(code.lstrip())
        yield "statement left out", begin, len(code), ";"
    for number in NAMED_NUMBER.finditer(code):
        yield "constant", *number.span(2), str(int(number.group(2)) + 1)


def mutants(text: str) -> list[Mutant]:
    found = []
    lines = text.split("\n")
    begins_statement = False
    for index, code in enumerate(masked(text).split("\n")):
        code = code.rstrip()
        if code and not SKIPPED.match(code):
            line = lines[index]
            for operator, begin, end, replacement in changes_of_line(code, begins_statement):
                # What was masked comes back: the replacement may hold a part of the line.
                if operator in ("condition", "error not heeded"):
                    original = line[begin:end]
                    replacement = ("!(" + original + ")" if operator == "condition" else
                                   "(void)(" + original[len("BT_RETURN_IF_ERROR("):])
                after = line[:begin] + replacement + line[end:]
                found.append(Mutant(index + 1, operator, line, after))
        if code.strip():
            begins_statement = code.endswith((";", "{", "}", ":"))
    return found
