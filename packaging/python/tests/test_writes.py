from __future__ import annotations

import math
import pickle
import unittest

import bigtable
from bigtable import Filter, Mutation, ReadModifyWrite, WriteBatch
from support import DatabaseTest


class MutationTest(DatabaseTest):
    def values(self, row: bytes) -> list[tuple[bytes, int, bytes]]:
        return [(c.column, c.timestamp, c.value) for c in self.table.read_row(row)]

    def test_keys_and_values_are_any_bytes(self) -> None:
        row, value = b"r\0\xff\xfe", b"\0v\0\xff"
        mutation = Mutation(row).set(b"anchor:\0:\xff", value, 1).set("anchor:\u00e4", b"", 2)
        self.table.apply(mutation)
        self.table.set(bytearray(b"r"), "contents:", memoryview(b"w"), 3)
        expected = [(b"anchor:\0:\xff", 1, value), ("anchor:\u00e4".encode(), 2, b"")]
        self.assertEqual(self.values(row), expected)
        self.assertEqual([found.key for found in self.table.scan()], [b"r", row])
        self.assertEqual(list(self.table.scan(begin=row))[0].cells[0].value, value)
        self.assertEqual(self.table.get(row, b"anchor:\0:\xff"), value)

    def test_text_is_no_key_and_no_value(self) -> None:
        with self.assertRaisesRegex(TypeError, "must be bytes, not str"):
            Mutation("r")  # type: ignore[arg-type]
        with self.assertRaisesRegex(TypeError, "must be bytes, not str"):
            Mutation(b"r").set("contents:", "v")  # type: ignore[arg-type]
        with self.assertRaisesRegex(TypeError, "must be bytes, not str"):
            self.table.get("r", "contents:")  # type: ignore[arg-type]
        with self.assertRaisesRegex(TypeError, "str or bytes, not int"):
            Mutation(b"r").set(1, b"v")  # type: ignore[arg-type]

    def test_a_mutation_deletes(self) -> None:
        fill = Mutation(b"r")
        for timestamp in range(1, 6):
            fill.set("contents:", b"%d" % timestamp, timestamp)
        fill.set("contents:x", b"x", 1).set("anchor:y", b"y", 1)
        self.table.apply(fill)
        self.assertEqual(len(fill), 7)
        self.assertGreater(fill.byte_size, 50)
        deletions = Mutation(b"r").delete_cell("contents:", 5).delete_column("contents:x")
        self.table.apply(deletions.delete_time_range("contents:", 1, 3).delete_family("anchor"))
        expected = [(b"contents:", 4, b"4"), (b"contents:", 3, b"3")]
        self.assertEqual(self.values(b"r"), expected)
        self.table.apply(Mutation(b"r").delete_time_range("contents:", 4))
        self.assertEqual(self.values(b"r"), expected[1:])
        self.table.apply(Mutation(b"r").delete_row())
        self.assertEqual(self.values(b"r"), [])

    def test_invalid_mutations_are_reported(self) -> None:
        with self.assertRaisesRegex(bigtable.InvalidArgumentError, "row key must not be empty"):
            Mutation(b"")
        with self.assertRaisesRegex(bigtable.InvalidArgumentError, "must not be negative"):
            Mutation(b"r").set("contents:", b"v", -1)
        with self.assertRaisesRegex(bigtable.InvalidArgumentError, "out of range"):
            Mutation(b"r").set("contents:", b"v", 2**63)
        bad = Mutation(b"r").set("no colon", b"v")
        for apply in (bad.check, lambda: self.table.apply(bad)):
            with self.assertRaisesRegex(bigtable.InvalidArgumentError, "no colon"):
                apply()
        with self.assertRaisesRegex(bigtable.Error, "none"):
            self.table.apply(Mutation(b"r").set("contents:", b"v").set("none:", b"v"))
        self.assertEqual(self.values(b"r"), [])
        Mutation(b"r").set("contents:", b"v").check()

    def test_a_mutation_without_operations_is_refused(self) -> None:
        empty, full = Mutation(b"e"), Mutation(b"f").set("contents:", b"v", 1)
        self.assertEqual(len(empty), 0)
        self.assertTrue(empty)
        apply, batch = self.table.apply, self.table.apply_batch
        for refuse in (lambda: apply(empty), lambda: batch([full, empty])):
            with self.assertRaisesRegex(bigtable.InvalidArgumentError, "b'e' has no operations"):
                refuse()
        self.table.apply_batch([])
        self.assertEqual(self.keys(self.table.scan()), b"")

    def test_a_mutation_is_pickled(self) -> None:
        mutation = pickle.loads(pickle.dumps(Mutation(b"r").set("contents:", b"\0v", 7)))
        self.table.apply(mutation.set("contents:", b"w", 8))
        self.table.apply(mutation)
        expected = [(b"contents:", 8, b"w"), (b"contents:", 7, b"\0v")]
        self.assertEqual(self.values(b"r"), expected)

    def test_durability_and_limits_are_passed(self) -> None:
        mutation = Mutation(b"r").set("contents:", b"v")
        for durability in bigtable.Durability:
            self.table.apply(mutation, durability=durability, timeout=60)
        with self.assertRaises(bigtable.InvalidArgumentError):
            self.table.apply(mutation, durability=17)  # type: ignore[arg-type]
        with self.assertRaises(bigtable.DeadlineExceededError):
            self.table.apply(mutation, timeout=-1)
        cancellation = bigtable.Cancellation()
        self.table.apply(mutation, cancellation=cancellation)
        cancellation.cancel()
        with self.assertRaises(bigtable.CancelledError):
            self.table.apply(mutation, cancellation=cancellation)

    def test_aggregates_are_merged(self) -> None:
        types = bigtable.ValueType
        families = {
            "sum": bigtable.Family(value_type=types.INT64_SUM),
            "users": bigtable.Family(value_type=types.HYPER_LOG_LOG),
        }
        table = self.db.create_table("sums", bigtable.Schema(families))
        table.apply(Mutation(b"r").add("sum:", 5, 1).add("sum:", -7, 1))
        self.assertEqual(bigtable.decode_int64(table.get(b"r", "sum:")), -2)
        table.apply(Mutation(b"r").merge("sum:", bigtable.encode_int64(10), 1))
        self.assertEqual(bigtable.decode_int64(table.get(b"r", "sum:")), 8)
        users = Mutation(b"r")
        for user in range(10):
            users.add("users:", b"user %d" % (user % 3), 1)
        table.apply(users)
        self.assertEqual(bigtable.estimate_hyper_log_log(table.get(b"r", "users:")), 3)
        with self.assertRaises(bigtable.InvalidArgumentError):
            bigtable.estimate_hyper_log_log(b"no such value")
        with self.assertRaisesRegex(bigtable.InvalidArgumentError, "64 bits"):
            Mutation(b"r").add("sum:", 2**63, 1)
        with self.assertRaises(bigtable.InvalidArgumentError):
            table.apply(Mutation(b"r").add("sum:", b"no number", 1))
        with self.assertRaises(bigtable.InvalidArgumentError):
            bigtable.decode_int64(b"short")

    def test_aggregates_of_doubles_are_merged(self) -> None:
        types = bigtable.ValueType
        families = {
            "sum": bigtable.Family(value_type=types.DOUBLE_SUM),
            "min": bigtable.Family(value_type=types.DOUBLE_MIN),
            "max": bigtable.Family(value_type=types.DOUBLE_MAX),
        }
        table = self.db.create_table("doubles", bigtable.Schema(families))
        for _ in range(10):
            table.apply(Mutation(b"r").add("sum:", 0.1, 1))
        table.apply(Mutation(b"r").add("min:", 0.5, 1).add("min:", -0.25, 1))
        table.apply(Mutation(b"r").add("max:", 0.5, 1).add("max:", float("nan"), 1))
        total = table.get(b"r", "sum:")
        self.assertEqual(bigtable.decode_double_sum(total), 1.0)
        self.assertEqual(bigtable.decode_double(table.get(b"r", "min:")), -0.25)
        self.assertEqual(bigtable.decode_double(table.get(b"r", "max:")), 0.5)
        table.apply(Mutation(b"r").merge("sum:", total, 1))
        self.assertEqual(bigtable.decode_double_sum(table.get(b"r", "sum:")), 2.0)
        table.apply(Mutation(b"r").add("sum:", float("-inf"), 1))
        self.assertEqual(bigtable.decode_double_sum(table.get(b"r", "sum:")), float("-inf"))
        self.assertEqual(bigtable.encode_double(-math.nan), bytes.fromhex("7ff8000000000000"))
        with self.assertRaises(bigtable.InvalidArgumentError):
            bigtable.decode_double_sum(b"")
        with self.assertRaises(bigtable.InvalidArgumentError):
            bigtable.decode_double(b"short")
        with self.assertRaises(bigtable.InvalidArgumentError):
            table.apply(Mutation(b"r").add("sum:", b"no number", 1))


class BatchTest(DatabaseTest):
    def test_a_batch_has_an_error_for_each_mutation(self) -> None:
        good = Mutation(b"a").set("contents:", b"v")
        bad = Mutation(b"b").set("none:", b"v")
        self.table.apply_batch([good, Mutation(b"c").set("contents:", b"v")])
        with self.assertRaisesRegex(bigtable.Error, "none") as raised:
            self.table.apply_batch([Mutation(b"d").set("contents:", b"v"), bad])
        first, second = raised.exception.errors
        self.assertIsNone(first)
        self.assertEqual(str(second), str(raised.exception))
        self.assertEqual(self.keys(self.table.scan()), b"a c d")

    def test_a_write_batch_is_applied_together_or_not_at_all(self) -> None:
        other = self.db.create_table("other", bigtable.Schema(["f"]))
        batch = WriteBatch().add(self.table, Mutation(b"a").set("contents:", b"v"))
        batch.add(other, Mutation(b"b").set("f:", b"v"), Mutation(b"c").set("f:", b"v"))
        self.assertEqual(len(batch), 3)
        self.assertGreater(batch.byte_size, 10)
        batch.check()
        self.db.apply(batch)
        self.assertEqual(self.keys(other.scan()), b"b c")
        batch.clear()
        self.assertEqual(len(batch), 0)
        bad = Mutation(b"y").set("bad", b"v")
        batch.add(self.table, Mutation(b"x").set("contents:", b"v"), bad)
        for refuse in (batch.check, lambda: self.db.apply(batch)):
            with self.assertRaisesRegex(bigtable.InvalidArgumentError, "bad"):
                refuse()
        self.assertEqual(self.keys(self.table.scan()), b"a")

    def test_a_batch_of_another_database_is_refused(self) -> None:
        with self.open(f"{self.directory}/second") as second:
            table = second.create_table("t", bigtable.Schema(["f"]))
            batch = WriteBatch().add(table, Mutation(b"a").set("f:", b"v"))
            with self.assertRaises(bigtable.InvalidArgumentError):
                self.db.apply(batch)
        del second, table
        with self.assertRaises(bigtable.Error):
            self.db.apply(batch)


class RowOperationTest(DatabaseTest):
    def test_a_row_is_checked_and_mutated(self) -> None:
        self.write(b"r")
        then = Mutation(b"r").set("anchor:then", b"1")
        otherwise = Mutation(b"r").set("anchor:else", b"1")
        check = self.table.check_and_mutate
        self.assertTrue(check(b"r", Filter.value_regex("v"), then, otherwise))
        self.assertFalse(check(b"r", Filter.value_regex("none"), then, otherwise))
        self.assertTrue(check(b"r", None, then))
        self.assertFalse(check(b"new", if_not=Mutation(b"new").set("contents:", b"v")))
        columns = [cell.column for cell in self.table.read_row(b"r")]
        self.assertEqual(set(columns), {b"anchor:then", b"anchor:else", b"contents:"})
        with self.assertRaises(bigtable.InvalidArgumentError):
            check(b"r")
        with self.assertRaises(bigtable.InvalidArgumentError):
            check(b"r", None, Mutation(b"another").set("contents:", b"v"))

    def test_counters_and_values_grow(self) -> None:
        self.assertEqual(self.table.increment(b"r", "contents:n"), 1)
        self.assertEqual(self.table.increment(b"r", "contents:n", -5), -4)
        self.assertEqual(self.table.append(b"r", "contents:t", b"a\0"), b"a\0")
        self.assertEqual(self.table.append(b"r", "contents:t", b"b"), b"a\0b")
        rules = ReadModifyWrite(b"r").increment("contents:n").append("contents:t", b"!")
        self.assertEqual(self.table.read_modify_write(rules).get("contents:t"), b"a\0b!")
        with self.assertRaisesRegex(bigtable.FailedPreconditionError, "8 bytes"):
            self.table.increment(b"r", "contents:t")
        with self.assertRaisesRegex(bigtable.InvalidArgumentError, "64 bits"):
            self.table.increment(b"r", "contents:n", 2**63)
        with self.assertRaises(bigtable.InvalidArgumentError):
            self.table.append(b"", "contents:t", b"a")

    def test_a_function_mutates_a_row(self) -> None:
        self.write(b"r", value=b"1")
        calls = []

        def double(row: bigtable.Row) -> Mutation:
            calls.append(row)
            if len(calls) == 1:
                self.table.set(b"r", "contents:", b"4", 2)  # a conflict
            number = int(row.get("contents:") or 0)
            doubled = Mutation(b"r").set("contents:", b"%d" % (2 * number), 3)
            return doubled.delete_cell("contents:", 1)

        self.table.mutate_atomically(b"r", double)
        self.assertEqual(len(calls), 2)
        self.assertEqual([cell.value for cell in self.table.read_row(b"r")], [b"8", b"4"])

    def test_a_function_adds_every_kind_of_operation(self) -> None:
        sums = bigtable.Family(value_type=bigtable.ValueType.INT64_SUM)
        table = self.db.create_table("t", bigtable.Schema({"s": sums, "f": bigtable.Family()}))
        fill = Mutation(b"r").set("f:a", b"1", 1).set("f:b", b"2", 1).set("f:b", b"3", 2)
        table.apply(fill)
        changes = Mutation(b"r").delete_column("f:a").delete_cell("f:b", 1).set("f:c", b"new")
        changes.delete_time_range("f:b", 2, 3).add("s:", 1, 1)
        changes.merge("s:", bigtable.encode_int64(2), 1)
        table.mutate_atomically(b"r", lambda row: changes)
        cells = [(cell.column, cell.value) for cell in table.read_row(b"r")]
        self.assertEqual(cells, [(b"f:c", b"new"), (b"s:", bigtable.encode_int64(3))])
        table.mutate_atomically(b"r", lambda row: Mutation(b"r").delete_family("s"))
        table.mutate_atomically(b"r", lambda row: Mutation(b"r").delete_row(), Filter.latest())
        self.assertEqual(len(table.read_row(b"r")), 0)

    def test_an_exception_of_the_function_passes_on(self) -> None:
        def fail(row: bigtable.Row) -> Mutation:
            raise KeyError("from the function")

        with self.assertRaisesRegex(KeyError, "from the function"):
            self.table.mutate_atomically(b"r", fail)
        with self.assertRaisesRegex(bigtable.InvalidArgumentError, "must be of the row"):
            self.table.mutate_atomically(b"r", lambda row: Mutation(b"s").set("contents:", b"v"))
        with self.assertRaises(AttributeError):
            self.table.mutate_atomically(b"r", lambda row: None)  # type: ignore
        with self.assertRaises(KeyboardInterrupt):
            self.table.mutate_atomically(b"r", self._interrupt)
        self.assertEqual(len(self.table.read_row(b"r")), 0)

    def _interrupt(self, row: bigtable.Row) -> Mutation:
        raise KeyboardInterrupt


if __name__ == "__main__":
    unittest.main()
