"""Writes and scans 1,000,000 cells of 100 bytes, and prints cells a second.

    BIGTABLE_LIBRARY=LIBRARY python3 packaging/python/bench.py [CELLS_OF_A_ROW]
"""

from __future__ import annotations

import sys
import tempfile
import time

import bigtable

CELLS = 1_000_000


def write(table: bigtable.Table, columns: list[bytes]) -> None:
    """Writes rows in batches of 1,000 cells."""
    rows, value = 1000 // len(columns), b"v" * 100
    for first in range(0, CELLS // len(columns), rows):
        batch = []
        for number in range(first, first + rows):
            mutation = bigtable.Mutation(b"row%09d" % number)
            for column in columns:
                mutation.set(column, value)
            batch.append(mutation)
        table.apply_batch(batch)


def scan(table: bigtable.Table) -> None:
    """Looks at every cell."""
    count = size = 0
    for row in table.scan():
        for cell in row.cells:
            count += 1
            size += len(cell.value)
    assert (count, size) == (CELLS, 100 * CELLS)


def measure(what: str, function: object, *arguments: object) -> None:
    """Prints the cells a second of a call, by the clock and by the time of the processors."""
    clock, processor = time.perf_counter(), time.process_time()
    function(*arguments)  # type: ignore[operator]
    clock, processor = time.perf_counter() - clock, time.process_time() - processor
    print(f"{what}: {CELLS / clock:,.0f} cells/s, {processor / CELLS * 1e6:.2f} us of CPU a cell")


def main() -> None:
    """Measures a write, and scans before and after a compaction."""
    columns = [b"f:q%d" % i for i in range(int(sys.argv[1]) if len(sys.argv) > 1 else 1)]
    with tempfile.TemporaryDirectory() as directory, bigtable.Database(directory) as db:
        table = db.create_table("t", bigtable.Schema(["f"]))
        measure("write", write, table, columns)
        db.flush("t")
        db.compact("t")
        for _ in range(3):
            measure("scan", scan, table)


if __name__ == "__main__":
    main()
