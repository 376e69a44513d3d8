from __future__ import annotations

import datetime
import inspect
import os
import subprocess
import sys
import unittest

import bigtable
from bigtable import Family, GcRule, Mutation, Schema
from support import DatabaseTest


class OpeningTest(DatabaseTest):
    def test_a_database_is_opened_as_its_options_say(self) -> None:
        with self.assertRaisesRegex(bigtable.FailedPreconditionError, "this one"):
            self.open(f"{self.directory}/db")
        self.db.close()
        with self.assertRaises(bigtable.AlreadyExistsError):
            self.open(f"{self.directory}/db", error_if_exists=True)
        with self.assertRaises(bigtable.NotFoundError):
            self.open(f"{self.directory}/none", create_if_missing=False)
        with self.assertRaisesRegex(bigtable.InvalidArgumentError, "compaction_threads"):
            self.open(f"{self.directory}/new", compaction_threads=1000)
        for number in (-1, 2**64):
            with self.assertRaisesRegex(bigtable.InvalidArgumentError, f"number {number} must be"):
                self.open(f"{self.directory}/new", memtable_size=number)
        with self.assertRaisesRegex(bigtable.InvalidArgumentError, "must be from"):
            self.open(f"{self.directory}/new", compaction_threads=2**32 + 1)
        with self.assertRaisesRegex(TypeError, "no_such_option"):
            self.open(f"{self.directory}/new", no_such_option=1)

    def test_every_option_is_passed(self) -> None:
        options = bigtable.Options(
            allow_foreign_files=True,
            durability=bigtable.Durability.SYNC,
            memtable_size=4 << 20,
            target_file_size=2 << 20,
            compaction_threads=2,
            compaction_rate=1 << 30,
            scan_cache=True,
            positional_reads=True,
            max_open_files=100,
            balance_interval=float("inf"),
            metadata_tablet_size=1 << 20,
            shared_memory_budget=bigtable.MemoryBudget(64 << 20),
        )
        with bigtable.Database(f"{self.directory}/other", options, tablet_servers=2) as db:
            self.assertEqual(db.get_option("compaction_rate"), str(1 << 30))
        with self.assertRaisesRegex(bigtable.InvalidArgumentError, "durability"):
            self.open(f"{self.directory}/bad", durability=17)

    def test_a_read_only_database_refuses_writes(self) -> None:
        self.write(b"r")
        self.db.close()
        with self.open(f"{self.directory}/db", read_only=True) as db:
            table = db.open_table("web")
            self.assertEqual(table.get(b"r", "contents:"), b"v")
            with self.assertRaisesRegex(bigtable.FailedPreconditionError, "read-only"):
                table.set(b"r", "contents:", b"w")

    def test_what_was_written_is_found_again(self) -> None:
        self.write(b"r")
        self.db.close()
        with self.open(f"{self.directory}/db") as db:
            self.assertEqual(db.list_tables(), ["web"])
            self.assertEqual(db.open_table("web").name, "web")
            self.assertEqual(db.open_table("web").get(b"r", "contents:"), b"v")

    def test_the_info_log_goes_to_a_function(self) -> None:
        messages: list[tuple[bigtable.LogSeverity, int, str]] = []
        options = {"log": lambda *message: messages.append(message)}
        with self.open(f"{self.directory}/logged", **options):
            pass
        self.assertTrue(messages)
        self.assertIs(messages[0][0], bigtable.LogSeverity.INFO)
        self.assertGreater(messages[0][1], 0)
        self.assertIsInstance(messages[0][2], str)

    def test_an_exception_of_the_log_function_does_not_pass_to_the_library(self) -> None:
        def log(*message: object) -> None:
            raise ValueError("from the log function")

        seen: list[str] = []
        hook = sys.unraisablehook
        sys.unraisablehook = lambda error: seen.append(str(error.exc_value))
        try:
            with self.open(f"{self.directory}/logged", log=log) as db:
                db.open_or_create_table("t", Schema(["f"])).set(b"r", "f:", b"v")
        finally:
            sys.unraisablehook = hook
        self.assertIn("from the log function", seen)


class TablesTest(DatabaseTest):
    def test_tables_are_created_listed_and_deleted(self) -> None:
        self.db.create_table("other", Schema({"f": Family()}))
        self.assertEqual(self.db.list_tables(), ["other", "web"])
        with self.assertRaisesRegex(bigtable.AlreadyExistsError, "other"):
            self.db.create_table("other", Schema(["f"]))
        other = self.db.open_table("other")
        self.db.delete_table("other")
        with self.assertRaisesRegex(bigtable.NotFoundError, "other"):
            self.db.delete_table("other")
        with self.assertRaisesRegex(bigtable.NotFoundError, "other"):
            self.db.open_table("other")
        with self.assertRaises(bigtable.Error):
            other.get(b"r", "f:")

    def test_a_schema_is_checked(self) -> None:
        with self.assertRaisesRegex(bigtable.InvalidArgumentError, "block_size"):
            groups = {"g": bigtable.LocalityGroup(block_size=1)}
            self.db.create_table("t", Schema({"f": Family(locality_group="g")}, groups))
        with self.assertRaises(TypeError):
            self.db.create_table("t", Schema("f"))
        with self.assertRaisesRegex(bigtable.InvalidArgumentError, "g"):
            self.db.create_table("t", Schema({"f": Family(locality_group="g")}))

    def test_a_schema_describes_its_families(self) -> None:
        self.db.set_access_list("staff", bigtable.AccessList(readers={"ann"}))
        group = bigtable.LocalityGroup(
            compression=bigtable.Compression.ZSTD,
            compression_level=3,
            block_size=8192,
            filter=bigtable.FilterKind.ROW_AND_COLUMN,
            filter_bits=10,
            in_memory=True,
            compaction=bigtable.CompactionStyle.LEVELED,
            compaction_factor=4,
        )
        sums = Family(
            locality_group="default",
            value_type=bigtable.ValueType.INT64_SUM,
            access_list="staff",
            owner="bob",
        )
        rule = bigtable.SplitRule(tablet_size=1 << 30)
        families = {"f": Family(locality_group="g"), "n": sums}
        self.db.create_table("t", Schema(families, {"g": group}, (), rule, [b"m"]))
        self.assertEqual([t.begin_row for t in self.db.list_tablets("t")], [b"", b"m"])
        schema = self.db.get_schema("t")
        self.assertEqual(schema.families, families)
        self.assertIn("g", schema.locality_groups)
        self.assertEqual(schema.observers, [])
        self.db.create_table("u", schema)
        self.assertEqual(self.db.get_schema("u").families, families)
        with self.assertRaisesRegex(bigtable.NotFoundError, "none"):
            self.db.get_schema("none")

    def test_families_are_added_changed_and_dropped(self) -> None:
        self.db.add_family("web", "new", Family(gc_rule=GcRule.max_versions(1)))
        with self.assertRaises(bigtable.AlreadyExistsError):
            self.db.add_family("web", "new")
        self.table.set(b"r", "new:", b"1", 1)
        self.table.set(b"r", "new:", b"2", 2)
        self.assertEqual(len(self.table.read_row(b"r")), 1)
        self.db.set_gc_rule("web", "new", None)
        self.table.set(b"r", "new:", b"3", 3)
        self.assertEqual(len(self.table.read_row(b"r")), 2)
        with self.assertRaises(bigtable.NotFoundError):
            self.db.set_gc_rule("web", "none", None)
        self.db.drop_family("web", "new")
        with self.assertRaises(bigtable.NotFoundError):
            self.db.drop_family("web", "new")
        with self.assertRaisesRegex(bigtable.Error, "new"):
            self.table.set(b"r", "new:", b"1")

    def test_families_are_changed_together_or_not_at_all(self) -> None:
        changes = bigtable.FamilyChanges().add("a").drop("anchor").set_owner("contents", "ann")
        self.db.modify_families("web", changes.set_gc_rule("a", GcRule.max_versions(2)))
        self.assertEqual(list(self.db.get_schema("web").families), ["a", "contents"])
        self.assertEqual(self.db.get_schema("web").families["contents"].owner, "ann")
        with self.assertRaises(bigtable.NotFoundError):
            self.db.modify_families("web", bigtable.FamilyChanges().add("b").drop("none"))
        with self.assertRaises(bigtable.NotFoundError):
            changes = bigtable.FamilyChanges().set_access_list("contents", "none")
            self.db.modify_families("web", changes)
        with self.assertRaises(bigtable.Error):
            changes = bigtable.FamilyChanges().set_compaction_filter("contents", "none")
            self.db.modify_families("web", changes)
        self.assertEqual(list(self.db.get_schema("web").families), ["a", "contents"])

    def test_rules_are_combined(self) -> None:
        hour = datetime.timedelta(hours=1)
        either = GcRule.max_versions(1) | GcRule.max_age(hour)
        both = GcRule.max_versions(1) & GcRule.max_age(hour)
        families = {"e": Family(gc_rule=either), "b": Family(gc_rule=both)}
        table = self.db.create_table("t", Schema(families))
        table.apply(Mutation(b"r").set("b:", b"1").set("e:", b"old", 1))
        table.apply(Mutation(b"r").set("b:", b"2"))
        self.assertEqual([cell.value for cell in table.read_row(b"r")], [b"2", b"1"])
        with self.assertRaises(bigtable.InvalidArgumentError):
            self.db.create_table("u", Schema({"f": Family(gc_rule=GcRule.max_versions(0))}))

    def test_other_settings_of_a_table_are_changed(self) -> None:
        self.db.set_locality_group("web", "g", bigtable.LocalityGroup(in_memory=True))
        self.assertIn("g", self.db.get_schema("web").locality_groups)
        with self.assertRaises(bigtable.InvalidArgumentError):
            self.db.set_locality_group("web", "g", bigtable.LocalityGroup(block_size=1))
        self.db.set_locality_group("web", "g", bigtable.LocalityGroup(compaction_policy="none"))
        with self.assertRaisesRegex(bigtable.InvalidArgumentError, "no compaction policy"):
            group = bigtable.LocalityGroup(compaction_policy="unknown")
            self.db.set_locality_group("web", "g", group)
        self.db.set_split_rule("web", bigtable.SplitRule(tablet_size=1 << 30))
        with self.assertRaisesRegex(bigtable.InvalidArgumentError, "must be from"):
            self.db.set_split_rule("web", bigtable.SplitRule(tablet_size=-1))
        with self.assertRaises(bigtable.NotFoundError):
            self.db.set_split_rule("none", bigtable.SplitRule(tablet_size=1 << 30))
        day = datetime.timedelta(days=1)
        self.db.set_change_stream("web", bigtable.ChangeStreamRule(retention=day))
        self.db.set_change_stream("web", bigtable.ChangeStreamRule())
        with self.assertRaisesRegex(bigtable.InvalidArgumentError, "retention"):
            self.db.set_change_stream("web", bigtable.ChangeStreamRule(retention=366 * day))
        self.db.set_observers("web", [])
        with self.assertRaisesRegex(bigtable.InvalidArgumentError, "none"):
            self.db.set_observers("web", ["none"])
        self.db.set_family_compaction_filter("web", "contents", "")
        with self.assertRaises(bigtable.Error):
            self.db.set_family_compaction_filter("web", "contents", "none")
        self.db.set_family_owner("web", "contents", "ann")
        self.assertEqual(self.db.get_schema("web").families["contents"].owner, "ann")
        with self.assertRaises(bigtable.NotFoundError):
            self.db.set_family_owner("web", "none", "ann")


class OperationTest(DatabaseTest):
    def test_background_work_is_done_by_request(self) -> None:
        self.write(b"a", b"b")
        self.db.flush("web")
        self.db.compact("web", timeout=60)
        self.db.wait_until_quiet(timeout=60)
        self.db.pause_compactions()
        self.db.continue_compactions()
        self.db.cancel_compactions()
        self.db.resume(timeout=60)
        for function in (self.db.flush, self.db.compact):
            with self.assertRaisesRegex(bigtable.NotFoundError, "none"):
                function("none")
        cancellation = bigtable.Cancellation()
        cancellation.cancel()
        with self.assertRaises(bigtable.CancelledError):
            self.db.compact("web", cancellation=cancellation)

    def test_statistics_are_text_and_charges(self) -> None:
        self.write(b"a", value=b"v" * 1000)
        self.db.flush("web")
        self.assertRegex(self.db.statistics(), "(?m)^bigtable_.* [0-9]")
        charges = {charge[:3]: charge for charge in self.db.storage()}
        self.assertGreater(charges[bigtable.StorageKind.FAMILY, "web", "contents"].disk_bytes, 500)

    def test_tablets_are_split_moved_and_merged(self) -> None:
        self.write(b"a", b"m")
        self.db.split_tablet("web", b"m")
        tablets = self.db.list_tablets("web")
        self.assertEqual([(t.begin_row, t.end_row) for t in tablets], [(b"", b"m"), (b"m", b"")])
        with self.assertRaises(bigtable.AlreadyExistsError):
            self.db.split_tablet("web", b"m")
        self.db.move_tablet("web", b"m", 0)
        with self.assertRaises(bigtable.Error):
            self.db.move_tablet("web", b"m", 99)
        self.db.merge_tablets("web", b"m")
        with self.assertRaises(bigtable.NotFoundError):
            self.db.merge_tablets("web", b"m")
        with self.assertRaises(bigtable.NotFoundError):
            self.db.list_tablets("none")

    def test_options_change_while_the_database_is_open(self) -> None:
        self.assertIn("compaction_rate", self.db.list_options())
        self.db.set_option("compaction_rate", "1000000000")
        self.assertEqual(self.db.get_option("compaction_rate"), "1000000000")
        with self.assertRaises(bigtable.InvalidArgumentError):
            self.db.set_option("compaction_rate", "much")
        with self.assertRaises(bigtable.NotFoundError):
            self.db.get_option("none")

    def test_access_lists_limit_users(self) -> None:
        staff = bigtable.AccessList(readers={"ann", "bob"}, writers={"bob"})
        self.db.set_access_list("staff", staff)
        self.assertEqual(self.db.get_access_list("staff"), staff)
        self.assertEqual(self.db.list_access_lists(), ["staff"])
        self.db.set_family_access_list("web", "contents", "staff")
        ann = self.db.open_table("web", user="ann")
        with self.assertRaisesRegex(bigtable.PermissionDeniedError, "ann"):
            ann.set(b"r", "contents:", b"v")
        self.db.open_table("web", user="bob").set(b"r", "contents:", b"v")
        self.assertEqual(ann.get(b"r", "contents:"), b"v")
        with self.assertRaises(bigtable.FailedPreconditionError):
            self.db.delete_access_list("staff")
        self.db.set_family_access_list("web", "contents", "")
        self.db.delete_access_list("staff")
        with self.assertRaises(bigtable.NotFoundError):
            self.db.get_access_list("staff")
        with self.assertRaises(bigtable.NotFoundError):
            self.db.set_family_access_list("web", "contents", "staff")
        with self.assertRaises(bigtable.InvalidArgumentError):
            self.db.set_access_list("bad", bigtable.AccessList(readers={"a b"}))

    def test_a_quota_of_a_rate_says_when_to_retry(self) -> None:
        quota = bigtable.Quota(requests_per_second=1)
        self.db.set_table_quota("web", quota)
        self.assertEqual(self.db.get_table_quota("web"), quota)
        self.assertEqual(self.db.list_table_quotas(), ["web"])
        with self.assertRaises(bigtable.ResourceExhaustedError) as raised:
            for _ in range(1000):
                self.write(b"r")
        self.assertGreater(raised.exception.retry_after or 0, 0)
        self.db.set_table_quota("web", None)
        self.assertEqual(self.db.get_table_quota("web"), bigtable.Quota())
        with self.assertRaises(bigtable.NotFoundError):
            self.db.set_table_quota("none", quota)
        self.db.set_user_quota("ann", bigtable.Quota(storage_bytes=5, bytes_per_second=7))
        self.assertEqual(self.db.get_user_quota("ann").bytes_per_second, 7)
        self.assertEqual(self.db.list_user_quotas(), ["ann"])
        with self.assertRaises(bigtable.InvalidArgumentError):
            self.db.set_user_quota("a b", quota)
        with self.assertRaisesRegex(bigtable.InvalidArgumentError, "-5 must be"):
            self.db.set_user_quota("ann", bigtable.Quota(storage_bytes=-5))


class LibraryTest(unittest.TestCase):
    def _import(self, library: str) -> str:
        """The last line of what an import prints."""
        run = subprocess.run(
            [sys.executable, "-c", "import bigtable"],
            env={**os.environ, "BIGTABLE_LIBRARY": library},
            capture_output=True,
            text=True,
        )
        self.assertEqual(run.returncode, 1)
        return run.stderr.strip().splitlines()[-1]

    def test_a_missing_library_is_an_error(self) -> None:
        message = self._import("/nowhere/libbigtable.so")
        self.assertRegex(message, "LibraryError: the library /nowhere/lib.* cannot be loaded")

    def test_another_library_is_an_error(self) -> None:
        message = self._import("libc.so.6")
        self.assertRegex(message, "LibraryError: libc.so.6 is not the library bigtable")

    def test_an_old_library_is_an_error(self) -> None:
        from bigtable import _library

        _library.check_version("0.1.0", "lib")
        _library.check_version("10.0.0-rc1", "lib")
        with self.assertRaisesRegex(bigtable.LibraryError, "lib has version 0.0.9, and 0.1.0 or"):
            _library.check_version("0.0.9", "lib")
        with self.assertRaisesRegex(bigtable.LibraryError, "no version"):
            _library.check_version("new", "lib")
        path = os.environ["BIGTABLE_LIBRARY"]
        _library._FUNCTIONS += "v from_the_future p\n"
        try:
            with self.assertRaisesRegex(bigtable.LibraryError, "has no bigtable_from_the_future"):
                _library.load(path)
        finally:
            _library._FUNCTIONS = _library._FUNCTIONS.replace("v from_the_future p\n", "")

    def test_the_package_has_the_version_of_the_library(self) -> None:
        self.assertEqual(bigtable.__version__, bigtable.library_version())

    def test_every_public_name_has_a_description(self) -> None:
        for name in bigtable.__all__:
            value = getattr(bigtable, name)
            if callable(value):
                self.assertTrue(value.__doc__, name)
            for part in dir(value) if isinstance(value, type) else ():
                member = inspect.getattr_static(value, part)
                if isinstance(member, staticmethod):
                    member = member.__func__
                if inspect.isfunction(member) or isinstance(member, property):
                    self.assertTrue(part.startswith("_") or member.__doc__, f"{name}.{part}")


if __name__ == "__main__":
    unittest.main()
