"""Objects after close(), without close(), in any order, and in several threads."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import subprocess
import sys
import threading
import unittest
import warnings

import bigtable
from bigtable import Mutation
from bigtable._library import lib
from support import DatabaseTest

HERE = os.path.dirname(__file__)


class UseAfterCloseTest(DatabaseTest):
    def test_a_closed_database_refuses_every_call(self) -> None:
        self.write(b"a")
        db, table = self.db, self.table
        self.assertFalse(db.is_closed)
        db.close()
        db.close()
        self.assertTrue(db.is_closed)
        schema, batch = bigtable.Schema(["f"]), bigtable.WriteBatch()
        rows, mutation = bigtable.RowSet().add_row(b"a"), Mutation(b"a").set("contents:", b"v")
        calls = [
            db.list_tables,
            db.list_options,
            db.list_access_lists,
            db.list_table_quotas,
            db.list_user_quotas,
            db.statistics,
            db.storage,
            db.snapshot,
            db.transaction,
            db.wait_until_quiet,
            db.pause_compactions,
            db.continue_compactions,
            db.cancel_compactions,
            db.resume,
            db.__enter__,
            lambda: db.create_table("t", schema),
            lambda: db.open_or_create_table("t", schema),
            lambda: db.open_table("web"),
            lambda: db.open_table("web", user="ann"),
            lambda: db.delete_table("web"),
            lambda: db.get_schema("web"),
            lambda: db.add_family("web", "f"),
            lambda: db.drop_family("web", "f"),
            lambda: db.modify_families("web", bigtable.FamilyChanges()),
            lambda: db.apply(batch),
            lambda: db.run_transaction(lambda transaction: None),
            lambda: db.flush("web"),
            lambda: db.compact("web"),
            lambda: db.list_tablets("web"),
            lambda: db.set_option("compaction_rate", "0"),
            lambda: db.get_option("compaction_rate"),
            lambda: table.name,
            lambda: table.apply(mutation),
            lambda: table.apply_batch([mutation]),
            lambda: table.set(b"a", "contents:", b"v"),
            lambda: table.check_and_mutate(b"a", None, mutation),
            lambda: table.increment(b"a", "contents:"),
            lambda: table.append(b"a", "contents:", b"v"),
            lambda: table.mutate_atomically(b"a", lambda row: mutation),
            lambda: table.get(b"a", "contents:"),
            lambda: table.read_row(b"a"),
            lambda: table.scan(),
            lambda: table.resume_scan(b"token"),
            lambda: table.sample_row_keys(),
            lambda: table.approximate_sizes(rows),
            lambda: table.drop_rows(rows),
            lambda: batch.add(table, mutation),
        ]
        for i, call in enumerate(calls):
            with self.subTest(i):
                with self.assertRaisesRegex(bigtable.ClosedError, "database is closed"):
                    call()

    def test_what_came_from_a_database_outlives_it(self) -> None:
        self.write(*(b"%06d" % i for i in range(5000)))
        scanner, resumable = self.table.scan(), self.table.scan(resumable=True)
        snapshot, transaction = self.db.snapshot(), self.db.transaction()
        of_transaction = transaction.scan(self.table)
        next(scanner), next(resumable), next(of_transaction)
        options = bigtable.ReadOptions(snapshot=snapshot)
        self.db.close()
        for stream in (scanner, resumable, of_transaction):
            with self.assertRaises(bigtable.FailedPreconditionError):
                list(stream)
        with self.assertRaises(bigtable.FailedPreconditionError):
            transaction.read_row(self.table, b"000001")
        with self.assertRaises(bigtable.FailedPreconditionError):
            transaction.commit()
        with self.assertRaises(bigtable.ClosedError):
            self.table.scan(options=options)
        self.assertGreater(snapshot.sequence, 0)
        snapshot.close()

    def test_objects_of_the_process_are_not_pickled(self) -> None:
        with self.db.snapshot() as snapshot, self.db.transaction() as transaction:
            for thing in (
                self.db,
                self.table,
                snapshot,
                transaction,
                self.table.scan(),
                bigtable.Filter.latest(),
                bigtable.RowSet(),
                bigtable.WriteBatch(),
                bigtable.ReadModifyWrite(b"r"),
                bigtable.GcRule.max_versions(1),
                bigtable.Cancellation(),
                bigtable.MemoryBudget(1 << 20),
                bigtable.FamilyChanges(),
                self.db.get_schema("web"),
            ):
                for refuse in (pickle.dumps, copy.copy, copy.deepcopy):
                    with self.assertRaisesRegex(TypeError, "cannot be pickled"):
                        refuse(thing)

    def test_values_and_errors_are_pickled(self) -> None:
        self.write(b"a")
        row = self.table.read_row(b"a")
        self.assertEqual(pickle.loads(pickle.dumps(row)), row)
        with self.assertRaises(bigtable.NotFoundError) as raised:
            self.table.get(b"b", "contents:")
        error = pickle.loads(pickle.dumps(raised.exception))
        self.assertEqual((type(error), str(error)), (bigtable.NotFoundError, str(raised.exception)))
        unknown = pickle.loads(pickle.dumps(bigtable.errors.new_error(-7, "own", 2.5)))
        self.assertEqual((unknown.code, unknown.retry_after), (-7, 2.5))
        self.assertIsInstance(unknown, bigtable.UnknownError)


class GarbageTest(DatabaseTest):
    def test_objects_without_close_are_freed(self) -> None:
        path = f"{self.directory}/garbage"
        for _ in range(5):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                db = bigtable.Database(path, tablet_servers=1)
                table = db.open_or_create_table("t", bigtable.Schema(["f"]))
                table.apply_batch(Mutation(b"%04d" % i).set("f:", b"v") for i in range(1000))
                next(table.scan())
                scanner = iter(table.scan())
                next(scanner)
                transaction = db.transaction()
                next(transaction.scan(table))
                snapshot = db.snapshot()
                options = bigtable.ReadOptions(snapshot=snapshot)
                del db, table, scanner, transaction, snapshot, options
                gc.collect()
            self.assertTrue(any(w.category is ResourceWarning for w in caught))
            del caught  # has the database
        # All were freed: the directory is unlocked.
        self.open(path)

    def test_a_cycle_is_freed_in_the_right_order(self) -> None:
        path = f"{self.directory}/cycle"
        freed: list[str] = []
        for name in ("database", "transaction", "rows"):
            self.record_frees(name, freed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            for turn in range(6):
                db = bigtable.Database(path, tablet_servers=1)
                table = db.open_or_create_table("t", bigtable.Schema(["f"]))
                table.set(b"r", "f:", b"v")
                transaction = db.transaction()
                scanner = transaction.scan(table)
                next(scanner)
                things = [db, table, transaction, scanner, db.snapshot()]
                if turn % 2:
                    things.reverse()
                for thing in things:
                    thing.cycle = things  # type: ignore[attr-defined]
                del db, table, transaction, scanner, things, thing
                freed.clear()
                gc.collect()
                self.assertEqual(freed, ["rows", "transaction", "database"])
        self.open(path)

    def record_frees(self, name: str, freed: list[str]) -> None:
        """Adds the name to the list whenever such a C object is freed."""
        function = getattr(lib, f"bigtable_{name}_free")

        def free(pointer: int) -> None:
            freed.append(name)
            function(pointer)

        setattr(lib, f"bigtable_{name}_free", free)
        self.addCleanup(setattr, lib, f"bigtable_{name}_free", function)

    def test_a_process_may_end_without_close(self) -> None:
        program = (
            "import sys, threading, time, bigtable\n"
            "seen = []\n"
            "log = lambda *message: seen.append(message)\n"
            "db = bigtable.Database(sys.argv[1], log=log, tablet_servers=1)\n"
            "table = db.open_or_create_table('t', bigtable.Schema(['f']))\n"
            "none = bigtable.Durability.NONE\n"
            "table.set(b'r', 'f:', b'v', durability=none)\n"
            "scanner = table.scan(); next(scanner)\n"
            "transaction = db.transaction(); of = transaction.scan(table); next(of)\n"
            # Its frame is never freed, and has the database.
            "run = lambda *things: time.sleep(600)\n"
            "threading.Thread(target=run, args=(db, scanner, of), daemon=True).start()\n"
        )
        path = f"{self.directory}/ended"
        run = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertEqual(self.open(path).open_table("t").get(b"r", "f:"), b"v")

    def test_a_child_of_fork_is_refused(self) -> None:
        program = (
            "import os, sys, bigtable\n"
            "db = bigtable.Database(sys.argv[1], tablet_servers=1)\n"
            "table = db.open_or_create_table('t', bigtable.Schema(['f']))\n"
            "scanner = table.scan()\n"
            "if os.fork() == 0:\n"
            "    try:\n"
            "        table.get(b'r', 'f:')\n"
            "    except bigtable.FailedPreconditionError:\n"
            "        del scanner\n"
            "        sys.exit(0)\n"
            "    sys.exit(1)\n"
            "code = os.waitstatus_to_exitcode(os.wait()[1])\n"
            "table.set(b'r', 'f:', b'v')\n"
            "db.close()\n"
            "sys.exit(code)\n"
        )
        command = [sys.executable, "-c", program, f"{self.directory}/forked"]
        run = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual((run.returncode, run.stderr), (0, ""))


class ThreadsTest(DatabaseTest):
    def run_all(self, *functions: object) -> None:
        """Runs functions in threads, and raises the first exception."""
        failures: list[BaseException] = []

        def run(function: object) -> None:
            try:
                function()  # type: ignore[operator]
            except BaseException as failure:
                failures.append(failure)

        threads = [threading.Thread(target=run, args=(function,)) for function in functions]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]

    def test_threads_write_and_read(self) -> None:
        def write(name: bytes) -> None:
            for first in range(0, 1000, 50):
                rows = (b"%s %04d" % (name, i) for i in range(first, first + 50))
                self.write(*rows, value=name)

        def read() -> None:
            for _ in range(10):
                for row in self.table.scan():
                    self.assertEqual(row.cells[0].value, row.key[:1])

        names = (b"a", b"b", b"c")
        self.run_all(read, read, *(lambda name=name: write(name) for name in names))
        self.assertEqual(sum(1 for _ in self.table.scan()), 3000)

    def test_calls_let_other_threads_run(self) -> None:
        for turn in range(2):
            self.write(*(b"%d %d" % (turn, i) for i in range(4)), value=os.urandom(1 << 20))
            self.db.flush("web")
        self.db.set_option("compaction_rate", str(1 << 20))
        cancellation = bigtable.Cancellation()
        started = threading.Event()

        def compact() -> None:
            started.set()
            self.db.compact("web", cancellation=cancellation)  # takes seconds

        def cancel() -> None:
            started.wait()
            cancellation.cancel()

        with self.assertRaises(bigtable.CancelledError):
            self.run_all(compact, cancel)
        self.db.set_option("compaction_rate", "0")

    def test_a_database_is_closed_while_threads_use_it(self) -> None:
        self.write(*(b"%04d" % i for i in range(1000)))
        started = threading.Barrier(5)

        def use(function: object) -> None:
            started.wait()
            try:
                while True:
                    function()  # type: ignore[operator]
            except bigtable.FailedPreconditionError:
                pass

        def close() -> None:
            started.wait()
            self.db.close()

        self.run_all(
            lambda: use(lambda: self.write(b"x")),
            lambda: use(lambda: list(self.table.scan())),
            lambda: use(lambda: self.db.run_transaction(lambda t: t.read_row(self.table, b"x"))),
            lambda: use(lambda: self.db.snapshot().close()),
            close,
        )

    def test_a_scan_is_closed_by_another_thread(self) -> None:
        self.write(*(b"%05d" % i for i in range(10000)))
        for _ in range(10):
            scanner = self.table.scan()
            next(scanner)
            closer = threading.Thread(target=scanner.close)
            closer.start()
            try:
                rows = sum(1 for _ in scanner)
                self.assertEqual(rows, 9999)  # it was faster
            except bigtable.ClosedError:
                pass
            closer.join()


if __name__ == "__main__":
    unittest.main()
