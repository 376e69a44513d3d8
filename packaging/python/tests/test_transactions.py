from __future__ import annotations

import threading
import unittest

import bigtable
from bigtable import Mutation, Transaction
from support import DatabaseTest


class TransactionTest(DatabaseTest):
    def test_a_transaction_commits_at_the_end_of_its_block(self) -> None:
        with self.db.transaction() as transaction:
            transaction.apply(self.table, Mutation(b"a").set("contents:", b"1"))
            self.assertEqual(transaction.read_row(self.table, b"a").get("contents:"), b"1")
            self.assertEqual(self.keys(transaction.scan(self.table)), b"a")
            self.assertEqual(self.keys(self.table.scan()), b"")
        self.assertEqual(self.keys(self.table.scan()), b"a")

    def test_a_transaction_is_rolled_back_after_an_exception(self) -> None:
        with self.assertRaises(KeyError), self.db.transaction() as transaction:
            transaction.apply(self.table, Mutation(b"a").set("contents:", b"1"))
            raise KeyError
        with self.db.transaction() as transaction:
            transaction.apply(self.table, Mutation(b"b").set("contents:", b"1"))
            transaction.rollback()
        self.assertEqual(self.keys(self.table.scan()), b"")

    def test_a_conflict_aborts(self) -> None:
        self.write(b"a")
        with self.assertRaises(bigtable.AbortedError) as raised:
            with self.db.transaction() as transaction:
                transaction.read_row(self.table, b"a")
                transaction.apply(self.table, Mutation(b"b").set("contents:", b"1"))
                self.write(b"a", value=b"other")
        self.assertEqual(raised.exception.code, bigtable.Code.ABORTED)
        self.assertEqual(self.keys(self.table.scan()), b"a")
        transaction = self.db.transaction()
        self.assertEqual(self.keys(transaction.scan(self.table, prefix=b"a")), b"a")
        transaction.apply(self.table, Mutation(b"b").set("contents:", b"1"))
        self.write(b"aa")
        with self.assertRaises(bigtable.AbortedError):
            transaction.commit(durability=bigtable.Durability.SYNC)

    def test_a_transaction_that_has_ended_is_an_error(self) -> None:
        self.write(b"a", b"b")
        transaction = self.db.transaction(timeout=60)
        scanner = transaction.scan(self.table)
        next(scanner)
        transaction.commit()
        for use in (
            transaction.commit,
            transaction.rollback,
            transaction.__enter__,
            lambda: transaction.read_row(self.table, b"a"),
            lambda: transaction.scan(self.table),
            lambda: transaction.apply(self.table, Mutation(b"a").set("contents:", b"1")),
            lambda: next(scanner),
        ):
            with self.assertRaisesRegex(bigtable.ClosedError, "transaction has ended"):
                use()
        transaction.close()

    def test_invalid_calls_are_reported(self) -> None:
        with self.assertRaisesRegex(bigtable.Error, "none"), self.db.transaction() as transaction:
            transaction.apply(self.table, Mutation(b"a").set("none:", b"1"))
        with self.db.snapshot() as snapshot, self.db.transaction() as transaction:
            options = bigtable.ReadOptions(snapshot=snapshot)
            with self.assertRaisesRegex(bigtable.InvalidArgumentError, "snapshot"):
                transaction.read_row(self.table, b"a", None, options)
        with self.open(f"{self.directory}/second") as second:
            other = second.create_table("t", bigtable.Schema(["f"]))
            with self.db.transaction() as transaction:
                for use in (
                    lambda: transaction.read_row(other, b"a"),
                    lambda: transaction.scan(other),
                    lambda: transaction.apply(other, Mutation(b"a").set("f:", b"1")),
                ):
                    with self.assertRaisesRegex(bigtable.InvalidArgumentError, "another database"):
                        use()


class RunTransactionTest(DatabaseTest):
    def test_a_function_is_run_again_after_a_conflict(self) -> None:
        self.write(b"a", value=b"1")
        calls = []

        def double(transaction: Transaction) -> int:
            calls.append(transaction)
            number = int(transaction.read_row(self.table, b"a").get("contents:") or 0)
            if len(calls) < 3:
                self.table.set(b"a", "contents:", b"%d" % (number + 1))
            transaction.apply(self.table, Mutation(b"a").set("contents:", b"%d" % (2 * number)))
            return number

        result = self.db.run_transaction(double, durability=bigtable.Durability.SYNC, timeout=60)
        self.assertEqual(result, 3)
        self.assertEqual(len(calls), 3)
        self.assertEqual(self.table.get(b"a", "contents:"), b"6")

    def test_an_exception_of_the_function_passes_on(self) -> None:
        def fail(transaction: Transaction) -> None:
            transaction.apply(self.table, Mutation(b"a").set("contents:", b"1"))
            raise error

        for error in (KeyError("k"), KeyboardInterrupt(), bigtable.AbortedError("by the function")):
            with self.assertRaises(type(error)) as raised:
                self.db.run_transaction(fail)
            self.assertIs(raised.exception, error)
        self.assertEqual(self.keys(self.table.scan()), b"")

    def test_an_error_of_the_commit_is_raised(self) -> None:
        def invalid(transaction: Transaction) -> None:
            transaction.apply(self.table, Mutation(b"a").set("none:", b"1"))

        with self.assertRaisesRegex(bigtable.Error, "none"):
            self.db.run_transaction(invalid)
        cancellation = bigtable.Cancellation()
        cancellation.cancel()
        with self.assertRaises(bigtable.CancelledError):
            self.db.run_transaction(invalid, cancellation=cancellation)

    def test_a_transaction_does_not_outlive_its_function(self) -> None:
        self.write(b"a", b"b")
        kept: list[Transaction] = []
        scanners: list[bigtable.Scanner] = []

        def keep(transaction: Transaction) -> None:
            kept.append(transaction)
            scanners.append(transaction.scan(self.table))
            next(scanners[0])
            for end in (transaction.commit, transaction.rollback):
                with self.assertRaisesRegex(bigtable.InvalidArgumentError, "run_transaction"):
                    end()

        self.db.run_transaction(keep)
        with self.assertRaises(bigtable.ClosedError):
            kept[0].read_row(self.table, b"a")
        with self.assertRaises(bigtable.ClosedError):
            next(scanners[0])

    def test_threads_count_without_losing_one(self) -> None:
        self.write(b"n", value=b"0")

        def count() -> None:
            for _ in range(20):
                self.db.run_transaction(increment)

        def increment(transaction: Transaction) -> None:
            number = int(transaction.read_row(self.table, b"n").get("contents:") or 0)
            transaction.apply(self.table, Mutation(b"n").set("contents:", b"%d" % (number + 1)))

        threads = [threading.Thread(target=count) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(self.table.get(b"n", "contents:"), b"80")


if __name__ == "__main__":
    unittest.main()
