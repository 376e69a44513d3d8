from __future__ import annotations

import unittest

import bigtable
from bigtable import Cell, Filter, Mutation, ReadOptions, Row, RowSet
from support import DatabaseTest


class RowTest(DatabaseTest):
    def test_a_row_has_its_cells_in_order(self) -> None:
        self.write(b"r", value=b"old")
        self.table.set(b"r", "contents:", b"new", 5)
        row = self.table.read_row(b"r")
        self.assertEqual(row.key, b"r")
        cells = [Cell("contents", b"", 5, b"new"), Cell("contents", b"", 1, b"old")]
        self.assertEqual(list(row), cells)
        self.assertEqual(row, Row(b"r", cells))
        self.assertNotEqual(row, Row(b"r", []))
        self.assertNotEqual(row, b"r")
        self.assertEqual(len(row), 2)
        self.assertEqual(row.get("contents:"), b"new")
        self.assertIsNone(row.get(b"anchor:x"))
        self.assertEqual(cells[0].column, b"contents:")
        self.assertIn("b'new'", repr(row))
        self.assertEqual(list(self.table.read_row(b"none")), [])
        with self.assertRaises(bigtable.InvalidArgumentError):
            self.table.read_row(b"")

    def test_get_returns_the_newest_value(self) -> None:
        self.write(b"r", value=b"old")
        self.table.set(b"r", "contents:", b"new", 5)
        self.assertEqual(self.table.get(b"r", "contents:"), b"new")
        with self.assertRaisesRegex(bigtable.NotFoundError, "anchor:x") as raised:
            self.table.get(b"r", "anchor:x")
        self.assertEqual(raised.exception.code, bigtable.Code.NOT_FOUND)
        self.assertIsNone(raised.exception.retry_after)

    def test_a_snapshot_does_not_change(self) -> None:
        self.write(b"r", value=b"before")
        with self.db.snapshot() as snapshot:
            self.assertGreater(snapshot.sequence, 0)
            self.write(b"r", b"s", value=b"after")
            at = ReadOptions(snapshot=snapshot)
            self.assertEqual(self.table.get(b"r", "contents:", at), b"before")
            self.assertEqual(self.table.read_row(b"r", None, at).get("contents:"), b"before")
            self.assertEqual(self.keys(self.table.scan(options=at)), b"r")
            scanner = self.table.scan(options=at)
        self.assertEqual(self.keys(scanner), b"r")
        with self.assertRaisesRegex(bigtable.ClosedError, "snapshot is closed"):
            self.table.get(b"r", "contents:", at)
        with self.assertRaises(bigtable.ClosedError):
            snapshot.sequence
        with self.assertRaises(bigtable.ClosedError):
            snapshot.__enter__()


class FilterTest(DatabaseTest):
    def setUp(self) -> None:
        super().setUp()
        mutation = Mutation(b"r").set("anchor:a", b"1", 1).set("anchor:ab", b"2", 2)
        mutation.set("anchor:b", b"3", 3).set("contents:", b"new", 9).set("contents:", b"old", 8)
        self.table.apply(mutation)

    def values(self, filter: Filter) -> bytes:
        read = self.table.read_row(b"r", filter)
        scanned = list(self.table.scan(filter=filter))
        self.assertEqual([read] if read.cells else [], scanned)
        return b" ".join(cell.value for cell in read)

    def test_filters_select_cells(self) -> None:
        expected = {
            b"1 2 3 new old": Filter.pass_all(),
            b"": Filter.block_all(),
            b"1 2 3 new": Filter.latest(1),
            b"1 2 3": Filter.family("anchor"),
            b"new old": Filter.family_regex("con.*"),
            b"2": Filter.column("anchor", "ab"),
            b"1 2": Filter.column_prefix("anchor", b"a"),
            b"2 3": Filter.column_range("anchor", "ab"),
            b"1": Filter.column_range("anchor", "a", "ab"),
            b"3": Filter.column_regex("b"),
            b"2 3 old": Filter.timestamp_range(2, 9),
            b"3 new old": Filter.timestamp_range(3),
            b"old": Filter.value_regex("o.."),
            b"2 3 new": Filter.value_range(b"2", b"o"),
            b"1 2": Filter.cells_row_limit(2),
            b"new old": Filter.cells_row_offset(3),
            b"    ": Filter.strip_value(),
            b"1 2 3 new old": Filter.row_regex("r"),
            b"2": Filter.chain(Filter.family("anchor"), Filter.value_regex("2|old")),
            b"1 old": Filter.interleave(Filter.value_regex("1"), Filter.value_regex("old")),
            b"3": Filter.condition(Filter.block_all(), Filter.pass_all(), Filter.value_regex("3")),
            b"": Filter.condition(Filter.block_all(), Filter.pass_all()),
            b"1 2 3 new old": Filter.interleave(Filter.chain(Filter.pass_all(), Filter.sink())),
        }
        for values, filter in expected.items():
            with self.subTest(values):
                self.assertEqual(self.values(filter), values)
        self.assertIn(self.values(Filter.row_sample(0.5)), (b"", b"1 2 3 new old"))

    def test_cells_have_labels(self) -> None:
        label = Filter.chain(Filter.cells_row_limit(1), Filter.apply_label("x"))
        both = Filter.interleave(label, Filter.column("anchor", "b"))
        labels = [cell.label for cell in self.table.read_row(b"r", both)]
        self.assertEqual(labels, ["x", ""])
        self.assertEqual([cell.label for cell in next(self.table.scan(filter=both))], labels)

    def test_an_invalid_filter_is_reported_when_it_is_made(self) -> None:
        for make in (
            lambda: Filter.latest(0),
            lambda: Filter.latest(2**64 + 1),
            lambda: Filter.timestamp_range(0, 2**64 + 1),
            lambda: Filter.value_regex("("),
            lambda: Filter.row_sample(2),
            lambda: Filter.apply_label("No Label"),
            lambda: Filter.timestamp_range(5, 5),
        ):
            with self.assertRaises(bigtable.InvalidArgumentError):
                make()


class ScanTest(DatabaseTest):
    def setUp(self) -> None:
        super().setUp()
        self.write(b"a", b"b", b"ba", b"bb", b"c", b"d")

    def test_a_scan_returns_the_rows_that_are_asked_for(self) -> None:
        scan = self.table.scan
        self.assertEqual(self.keys(scan()), b"a b ba bb c d")
        self.assertEqual(self.keys(scan(begin=b"bb")), b"bb c d")
        self.assertEqual(self.keys(scan(end=b"bb")), b"a b ba")
        self.assertEqual(self.keys(scan(begin=b"b", end=b"c")), b"b ba bb")
        self.assertEqual(self.keys(scan(prefix=b"b")), b"b ba bb")
        self.assertEqual(self.keys(scan([b"d", b"a", b"none"])), b"a d")
        self.assertEqual(self.keys(scan([])), b"")
        rows = RowSet().add_row(b"a").add_prefix(b"bb").add_range(b"c\0").add_range(b"c", b"c")
        self.assertEqual(self.keys(scan(rows)), b"a bb d")
        self.assertEqual(len(rows), 4)
        self.assertEqual(self.keys(scan(RowSet())), b"")
        self.assertEqual(self.keys(scan(reverse=True)), b"d c bb ba b a")
        self.assertEqual(self.keys(scan(row_limit=2)), b"a b")
        self.assertEqual(self.keys(scan(reverse=True, cell_limit=1)), b"d")
        checked = ReadOptions(verify_checksums=True, fill_cache=False, timeout=60)
        self.db.flush("web")
        self.assertEqual(self.keys(scan(options=checked)), b"a b ba bb c d")

    def test_wrong_arguments_of_a_scan_are_reported(self) -> None:
        with self.assertRaisesRegex(TypeError, "either rows"):
            self.table.scan(prefix=b"a", begin=b"a")
        with self.assertRaisesRegex(TypeError, "several keys"):
            self.table.scan(b"a")  # type: ignore[arg-type]
        with self.assertRaises(TypeError):
            self.table.scan(prefix="a")  # type: ignore[arg-type]
        for limit in (-1, 2**64 + 1):
            with self.assertRaises(bigtable.InvalidArgumentError):
                next(self.table.scan(row_limit=limit))

    def test_a_scan_fetches_many_rows(self) -> None:
        rows = [b"many %06d" % i for i in range(20000)]
        for first in range(0, len(rows), 1000):
            self.write(*rows[first : first + 1000], value=b"v" * 50)
        self.assertEqual([row.key for row in self.table.scan(prefix=b"many")], rows)
        backwards = self.table.scan(prefix=b"many", reverse=True)
        self.assertEqual([row.key for row in backwards], rows[::-1])

    def test_a_large_value_is_fetched(self) -> None:
        value = bytes(range(256)) * (16 << 10)
        self.table.set(b"large", "contents:", value, 1)
        self.assertEqual(next(self.table.scan([b"large"])).cells[0].value, value)

    def test_a_scan_goes_on_where_it_was_left(self) -> None:
        scanner = self.table.scan()
        for row in scanner:
            if row.key == b"b":
                break
        self.assertEqual(next(scanner).key, b"ba")
        self.assertEqual(self.keys(scanner), b"bb c d")
        self.assertEqual(self.keys(scanner), b"")
        with self.assertRaises(StopIteration):
            next(scanner)

    def test_an_abandoned_scan_frees_its_stream(self) -> None:
        for _ in range(50):
            with self.table.scan() as scanner:
                next(scanner)
            next(self.table.scan())
        self.db.close()

    def test_a_closed_scan_is_an_error(self) -> None:
        scanner = self.table.scan()
        self.assertEqual(next(scanner).key, b"a")
        scanner.close()
        scanner.close()
        for use in (lambda: next(scanner), lambda: list(scanner), scanner.__enter__):
            with self.assertRaisesRegex(bigtable.ClosedError, "scanner is closed"):
                use()
        with self.assertRaises(bigtable.ClosedError):
            for row in (scanner := self.table.scan()):
                scanner.close()

    def test_a_scan_is_resumed(self) -> None:
        scanner = self.table.scan(begin=b"b", resumable=True)
        self.assertEqual(next(scanner).key, b"b")
        self.assertEqual(next(scanner).key, b"ba")
        token = scanner.resume_token()
        scanner.close()
        with self.assertRaises(bigtable.ClosedError):
            scanner.resume_token()
        self.assertEqual(self.keys(self.table.resume_scan(token)), b"bb c d")
        again = self.table.resume_scan(token, row_limit=1, filter=Filter.latest())
        self.assertEqual(self.keys(again), b"bb")
        self.assertEqual(self.keys(self.table.resume_scan(again.resume_token())), b"c d")
        with self.assertRaises(bigtable.InvalidArgumentError):
            self.table.resume_scan(b"no token")
        with self.assertRaises(bigtable.InvalidArgumentError):
            self.table.resume_scan(token, reverse=True)
        with self.assertRaisesRegex(bigtable.FailedPreconditionError, "resumable"):
            self.table.scan().resume_token()

    def test_an_error_comes_again(self) -> None:
        cancellation = bigtable.Cancellation()
        options = ReadOptions(cancellation=cancellation)
        scanner = self.table.scan(resumable=True, options=options)
        next(scanner)
        cancellation.cancel()
        for _ in range(2):
            with self.assertRaises(bigtable.CancelledError):
                list(scanner)

    def test_sizes_are_estimated_and_rows_dropped(self) -> None:
        self.write(*(b"z%04d" % i for i in range(100)), value=b"v" * 1000)
        self.db.flush("web")
        rows = RowSet().add_prefix(b"z").add_row(b"none")
        sizes = self.table.approximate_sizes(rows)
        self.assertEqual(len(sizes), 2)
        self.assertGreater(sizes[0], 50_000)
        samples = self.table.sample_row_keys(timeout=60)
        self.assertEqual(samples[-1].row, b"")
        self.assertGreater(samples[-1].offset, 50_000)
        self.table.drop_rows(rows)
        self.assertEqual(self.keys(self.table.scan(begin=b"c")), b"c d")
        cancellation = bigtable.Cancellation()
        cancellation.cancel()
        for call in (self.table.drop_rows, self.table.approximate_sizes):
            with self.assertRaises(bigtable.CancelledError):
                call(rows, cancellation=cancellation)
        with self.assertRaises(bigtable.CancelledError):
            self.table.sample_row_keys(cancellation=cancellation)


if __name__ == "__main__":
    unittest.main()
