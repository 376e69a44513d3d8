"""What operators.py changes, and what it leaves alone."""

import unittest

from operators import masked, mutants


def after(text):
    return [(mutant.operator, mutant.after.strip()) for mutant in mutants("{\n" + text + "\n}")]


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
        self.assertEqual(after("  const std::vector<int> x(y);"), [])

    def test_masks_comments_and_strings_to_the_same_length(self):
        text = 'a("x // y"); /* b\nc */ d(\'"\'); // e'
        self.assertEqual(len(masked(text)), len(text))
        self.assertEqual(masked(text).split(), ["a(", ");", "d(", ");"])


if __name__ == "__main__":
    unittest.main()
