"""A database in a temporary directory, with a table "web": families "anchor" and "contents"."""

from __future__ import annotations

import shutil
import tempfile
import unittest
from collections.abc import Iterable

import bigtable

SMALL = {"memory_budget": 32 << 20, "log_segment_size": 1 << 20, "tablet_servers": 1}


class DatabaseTest(unittest.TestCase):
    """Each test gets a database of its own."""

    def setUp(self) -> None:
        self.directory = tempfile.mkdtemp(prefix="bigtable-python-")
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.db = self.open(f"{self.directory}/db")
        self.table = self.db.open_or_create_table("web", bigtable.Schema(["anchor", "contents"]))

    def open(self, path: str, **options: object) -> bigtable.Database:
        """A database that is closed at the end of the test."""
        db = bigtable.Database(path, **{**SMALL, **options})
        self.addCleanup(db.close)
        return db

    def write(self, *rows: bytes, value: bytes = b"v") -> None:
        """Writes "contents:" of rows, at timestamp 1."""
        self.table.apply_batch(bigtable.Mutation(row).set("contents:", value, 1) for row in rows)

    def keys(self, rows: Iterable[bigtable.Row]) -> bytes:
        """The keys of rows, with spaces between them."""
        return b" ".join(row.key for row in rows)
