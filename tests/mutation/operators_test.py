"""What operators.py changes, what it leaves alone, and how it puts faults behind switches."""

import unittest

from operators import IS_ON, NAMESPACE, can_be_together, masked, mutants, switched


def after(text):
    return [(mutant.operator, mutant.after.strip()) for mutant in mutants("{\n" + text + "\n}")]


def switched_line(line, *operators):
    """`line` with the faults of `operators` behind switches, which are numbered from 1."""
    text = "{\n" + line + "\n}"
    chosen = [mutant for mutant in mutants(text) if mutant.operator in operators]
    text = switched(text, dict(enumerate(chosen, 1)))
    for number in range(1, len(chosen) + 1):
        text = text.replace(IS_ON % number, f"on{number}")
    return text.split("\n")[1].replace(NAMESPACE, "")


class OperatorsTest(unittest.TestCase):
    def test_turns_each_comparison_of_a_line(self):
        self.assertEqual(after("  return a < b && c == d;"), [
            ("comparison", "return a <= b && c == d;"),
            ("comparison", "return a < b && c != d;"),
            ("logic", "return a < b || c == d;"),
        ])

    def test_negates_a_condition_unless_turning_its_comparison_does(self):
        self.assertEqual(after("  if (Ended(x)) {"), [("condition", "if (!(Ended(x))) {")])
        self.assertEqual(after("  if (a == b) {"), [("comparison", "if (a != b) {")])

    def test_does_not_negate_a_declaration(self):
        self.assertEqual(after("  if (const Range* x = Find(y)) {"), [])

    def test_keeps_the_text_of_strings_in_what_it_changes(self):
        self.assertEqual(after('  if (Has("a < b")) {'), [("condition", 'if (!(Has("a < b"))) {')])

    def test_leaves_out_statements_but_not_declarations(self):
        self.assertEqual(after("  spare_.reset();"), [("statement left out", ";")])
        self.assertEqual(after("  state->ended = 1;"), [("statement left out", ";")])
        self.assertEqual(after("  ++count_;"), [("statement left out", ";")])
        self.assertEqual(after("  Lock lock(mutex_);"), [])
        self.assertEqual(after("  return Total(x);"), [])

    def test_leaves_out_only_what_begins_a_statement(self):
        self.assertEqual(after("  const int x =\n      Total(y);"), [])

    def test_does_not_heed_an_error(self):
        self.assertEqual(after('  BT_RETURN_IF_ERROR(Sync("a"));'),
                         [("error not heeded", '(void)(Sync("a"));')])

    def test_changes_constants_by_one(self):
        self.assertEqual(after("  constexpr int kLimit = 10;"),
                         [("constant", "constexpr int kLimit = 11;")])
        self.assertEqual(after("  const int x = y + 1;"), [("constant", "const int x = y + 2;")])
        self.assertEqual(after("  const int x = y + 10;"), [])

    def test_leaves_comments_assertions_and_templates_alone(self):
        self.assertEqual(after("  // a < b"), [])
        self.assertEqual(after("  assert(a < b);"), [])
        self.assertEqual(after("  ABSL_ASSERT(a &&\n              b < f(c) && d);"), [])
        self.assertEqual(after("  const std::vector<int> x(y);"), [])

    def test_masks_comments_and_strings_to_the_same_length(self):
        text = 'a("x // y"); /* b\nc */ d(\'"\'); // e'
        self.assertEqual(len(masked(text)), len(text))
        self.assertEqual(masked(text).split(), ['a("', '");', "d('", "');"])


class SwitchedTest(unittest.TestCase):
    def test_a_comparison_needs_no_operands(self):
        self.assertEqual(switched_line("  x = f(a) < b + 1;", "comparison"),
                         "  x = f(a) < Less{1} < b + 1;")

    def test_operands_of_logic_end_at_what_binds_less(self):
        for line, expected in [
                ("  x = a == b && c;", "  x = (on1 != ((on1 != bool(a == b)) && (on1 != bool(c))));"),
                ("  return f(a, b && c);",
                 "  return f(a, (on1 != ((on1 != bool(b)) && (on1 != bool(c)))));"),
                ("  x = a && b == 'c';", "  x = (on1 != ((on1 != bool(a)) && (on1 != bool(b == 'c'))));"),
                ("  return a ? b : c || d[0];",
                 "  return a ? b : (on1 != ((on1 != bool(c)) || (on1 != bool(d[0]))));"),
                ("  for (; a::b || c; ) {",
                 "  for (; (on1 != ((on1 != bool(a::b)) || (on1 != bool(c)))); ) {")]:
            self.assertEqual(switched_line(line, "logic"), expected)

    def test_statements_are_blocks(self):
        self.assertEqual(switched_line("  a();  // b", "statement left out"),
                         "  { if (!on1) { a(); } }  // b")
        self.assertEqual(switched_line("  if (a) continue;", "condition", "jump left out"),
                         "  if (on1 != bool(a)) { if (!on2) { continue; } }")

    def test_constants_and_errors(self):
        self.assertEqual(switched_line("  return true;", "constant"), "  return (true != on1);")
        self.assertEqual(switched_line("  BT_RETURN_IF_ERROR(a(b - 1));", "constant",
                                       "error not heeded"),
                         "  BT_RETURN_IF_ERROR(Heeded(2, a(b - (1 + on1))));")

    def test_operands_that_overlap_do_not_fit_together(self):
        first, second = (mutant for mutant in mutants("{\nx = a && b && c;\n}")
                         if mutant.operator == "logic")
        self.assertFalse(can_be_together(first, second))
        self.assertTrue(can_be_together(first, first))


if __name__ == "__main__":
    unittest.main()
