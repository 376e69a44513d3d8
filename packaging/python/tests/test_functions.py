"""Functions that a program registers. Names are for the process, so each test has its own."""

from __future__ import annotations

import sys
import unittest

import bigtable
from bigtable import Family, Mutation, ObservedMutation, ObserverContext, OperationKind, Schema
from support import DatabaseTest


class Unprintable(Exception):
    def __str__(self) -> str:
        raise ValueError


class ObserverTest(DatabaseTest):
    def test_an_observer_sees_and_adds_mutations(self) -> None:
        seen: list[tuple[object, ...]] = []
        contexts: list[ObserverContext] = []

        def before(mutation: ObservedMutation, write: ObserverContext) -> None:
            contexts.append(write)
            value = write.read_after().get("contents:") or b""
            seen.append((write.read_before().get("contents:"), value, mutation))
            seen.append((write.read_row("index", b"old").get("f:"),))
            write.apply("index", Mutation(value).set("f:", mutation.row))

        def after(mutation: ObservedMutation, sequence: int) -> None:
            seen.append((mutation.row, sequence > 0))

        bigtable.register_observer("py-index", before, after)
        self.assertIn("py-index", bigtable.list_observers())
        index = self.db.create_table("index", Schema(["f"]))
        index.set(b"old", "f:", b"x")
        self.db.set_observers("web", ["py-index"])
        self.table.set(b"r\0", "contents:", b"v\xff", 7)
        operation = (OperationKind.SET, "contents", b"", b"v\xff", 7, -1)
        expected = [(None, b"v\xff", ("web", b"r\0", [operation])), (b"x",), (b"r\0", True)]
        self.assertEqual(seen, expected)
        self.assertEqual(index.get(b"v\xff", "f:"), b"r\0")
        for use in (contexts[0].read_before, lambda: contexts[0].read_row("index", b"r")):
            with self.assertRaisesRegex(bigtable.ClosedError, "observer has ended"):
                use()

    def test_an_exception_of_an_observer_refuses_the_write(self) -> None:
        failures: list[BaseException] = []

        def before(mutation: ObservedMutation, write: ObserverContext) -> None:
            raise failures[0]

        bigtable.register_observer("py-refuse", before)
        self.db.set_observers("web", ["py-refuse"])
        for failure, kind, message in (
            (bigtable.PermissionDeniedError("not you"), bigtable.PermissionDeniedError, "not you"),
            (bigtable.errors.new_error(-7, "own"), bigtable.UnknownError, "own"),
            (KeyError("k"), bigtable.UnknownError, "KeyError: 'k'"),
            (Unprintable(), bigtable.UnknownError, "Unprintable"),
            (KeyboardInterrupt(), bigtable.UnknownError, "KeyboardInterrupt"),
        ):
            failures[:] = [failure]
            with self.assertRaisesRegex(kind, message) as raised:
                self.write(b"r")
            self.assertEqual(raised.exception.code, getattr(failure, "code", bigtable.Code.UNKNOWN))
        self.assertEqual(len(self.table.read_row(b"r")), 0)

    def test_wrong_names_are_refused(self) -> None:
        bigtable.register_observer("py-twice", after=lambda mutation, sequence: None)
        with self.assertRaises(bigtable.AlreadyExistsError):
            bigtable.register_observer("py-twice", after=lambda mutation, sequence: None)
        with self.assertRaises(bigtable.InvalidArgumentError):
            bigtable.register_observer("py-nothing")
        with self.assertRaises(bigtable.InvalidArgumentError):
            bigtable.register_compaction_filter("no name", lambda cell: True)
        with self.assertRaises(bigtable.InvalidArgumentError):
            bigtable.register_operator("no name", lambda older, later: later)


class CompactionFilterTest(DatabaseTest):
    def test_a_filter_keeps_removes_and_replaces(self) -> None:
        cells: list[bigtable.CompactedCell] = []

        def decide(cell: bigtable.CompactedCell) -> bool | bytes:
            cells.append(cell)
            if cell.row == b"fail":
                raise KeyError("from the filter")
            return {b"keep": True, b"remove": False}.get(cell.row, b"\0new")

        bigtable.register_compaction_filter("py-filter", decide)
        self.assertIn("py-filter", bigtable.list_compaction_filters())
        self.db.set_family_compaction_filter("web", "contents", "py-filter")
        self.write(b"fail", b"keep", b"remove", b"replace")
        seen: list[str] = []
        hook = sys.unraisablehook
        sys.unraisablehook = lambda error: seen.append(str(error.exc_value))
        try:
            self.db.compact("web")
        finally:
            sys.unraisablehook = hook
        values = {row.key: row.cells[0].value for row in self.table.scan()}
        self.assertEqual(values, {b"fail": b"v", b"keep": b"v", b"replace": b"\0new"})
        self.assertEqual(cells[0][:5], (b"fail", "contents", b"", 1, b"v"))
        self.assertGreater(cells[0].now, 1_000_000)
        self.assertIn("from the filter", seen[0])


class OperatorTest(DatabaseTest):
    def test_an_operator_merges(self) -> None:
        fails = [True]

        def check_input(text: bytes) -> None:
            if not text.isdigit():
                raise bigtable.OutOfRangeError("no digits")

        def merge(older: bytes, later: bytes) -> bytes:
            if fails and b"13" in (older, later):
                raise bigtable.DataLossError("thirteen")
            return b"%d" % (int(older) * int(later))

        bigtable.register_operator(
            "py-product", merge, check_input=check_input, state_of=lambda text: text.lstrip(b"0")
        )
        self.assertIn("py-product", bigtable.list_operators())
        table = self.db.create_table("t", Schema({"f": Family(value_operator="py-product")}))
        table.apply(Mutation(b"r").add("f:", b"06", 1).add("f:", b"7", 1))
        table.apply(Mutation(b"r").merge("f:", b"2", 1))
        self.assertEqual(table.get(b"r", "f:"), b"84")
        with self.assertRaisesRegex(bigtable.OutOfRangeError, "no digits"):
            table.apply(Mutation(b"r").add("f:", b"x", 1))
        table.apply(Mutation(b"r").add("f:", b"13", 1))
        with self.assertRaisesRegex(bigtable.DataLossError, "thirteen"):
            table.get(b"r", "f:")
        fails.clear()
        self.assertEqual(table.get(b"r", "f:"), b"1092")


if __name__ == "__main__":
    unittest.main()
