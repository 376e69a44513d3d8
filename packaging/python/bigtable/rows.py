"""What reads return: cells, rows, and scans of many rows."""

from __future__ import annotations

import ctypes
import struct
import threading
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Any, NamedTuple

from . import _handle
from ._handle import Bytes, Handle, NotPickled, Text, check, from_text, to_text, view
from ._library import lib
from .errors import ClosedError, FailedPreconditionError


class Cell(NamedTuple):
    """One version of one column."""

    family: str
    qualifier: bytes
    timestamp: int
    """In microseconds."""
    value: bytes
    label: str = ""
    """Of Filter.apply_label."""

    @property
    def column(self) -> bytes:
        """ "family:qualifier"."""
        return self.family.encode() + b":" + self.qualifier


class Row:
    """The cells of one row, ordered by family, qualifier, and timestamp from new to old."""

    __slots__ = ("key", "cells")

    def __init__(self, key: bytes, cells: list[Cell]) -> None:
        self.key = key
        self.cells = cells

    def get(self, column: Text) -> bytes | None:
        """The newest value of a column, or None."""
        family, _, qualifier = to_text(column).partition(b":")
        name = from_text(family)
        for cell in self.cells:
            if cell.qualifier == qualifier and cell.family == name:
                return cell.value
        return None

    def __iter__(self) -> Iterator[Cell]:
        return iter(self.cells)

    def __len__(self) -> int:
        """The number of cells."""
        return len(self.cells)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Row):
            return NotImplemented
        return self.key == other.key and self.cells == other.cells

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Row({self.key!r}, {self.cells!r})"


class RowSet(NotPickled):
    """Single rows, ranges and prefixes, for scans, sizes and deletions. Without any it is empty.
    Each method returns the set. One thread at a time may change it."""

    def __init__(self) -> None:
        self._handle = Handle(lib.bigtable_row_set_new(), lib.bigtable_row_set_free)
        self._count = 0

    def add_row(self, row: Bytes) -> RowSet:
        """Adds a row."""
        key = _handle.to_bytes(row)
        lib.bigtable_row_set_add_row(self._handle.pointer, key, len(key))
        self._count += 1
        return self

    def add_range(self, begin: Bytes = b"", end: Bytes | None = None) -> RowSet:
        """Adds the rows in [begin, end). None is no end."""
        first = _handle.to_bytes(begin)
        last = None if end is None else _handle.to_bytes(end)
        size = 0 if last is None else len(last)
        lib.bigtable_row_set_add_range(self._handle.pointer, first, len(first), last, size)
        self._count += 1
        return self

    def add_prefix(self, prefix: Bytes) -> RowSet:
        """Adds the rows that begin with the prefix."""
        text = _handle.to_bytes(prefix)
        lib.bigtable_row_set_add_prefix(self._handle.pointer, text, len(text))
        self._count += 1
        return self

    def __len__(self) -> int:
        """The number of additions."""
        return self._count

    def __bool__(self) -> bool:
        """True: also an empty set is one."""
        return True


def make_row_set(
    rows: RowSet | Iterable[Bytes] | None,
    begin: Bytes | None,
    end: Bytes | None,
    prefix: Bytes | None,
) -> Handle | None:
    """The set of a scan's arguments. None: all rows."""
    given = [rows is not None, begin is not None or end is not None, prefix is not None]
    if sum(given) > 1:
        raise TypeError("a scan takes either rows, or begin and end, or a prefix")
    if isinstance(rows, RowSet):
        return rows._handle
    if isinstance(rows, (bytes, bytearray, memoryview, str)):
        raise TypeError("the rows of a scan must be a RowSet or several keys")
    if rows is not None:
        made = RowSet()
        for row in rows:
            made.add_row(row)
        return made._handle
    if prefix is not None:
        return RowSet().add_prefix(prefix)._handle
    if begin is not None or end is not None:
        return RowSet().add_range(b"" if begin is None else begin, end)._handle
    return None


def read_row(pointer: int) -> Row:
    """A copy of a C row, which is not freed."""
    cells = []
    for i in range(lib.bigtable_row_cell_count(pointer)):
        cells.append(
            Cell(
                from_text(view(lib.bigtable_row_cell_family, pointer, i)),
                view(lib.bigtable_row_cell_qualifier, pointer, i),
                lib.bigtable_row_cell_timestamp(pointer, i),
                view(lib.bigtable_row_cell_value, pointer, i),
                from_text(view(lib.bigtable_row_cell_label, pointer, i)),
            )
        )
    return Row(view(lib.bigtable_row_key, pointer), cells)


def take_row(pointer: int | None) -> Row:
    """A copy of a C row, which is freed."""
    assert pointer is not None
    try:
        return read_row(pointer)
    finally:
        lib.bigtable_row_free(pointer)


# bigtable_packed_cell: where its text begins, timestamp, sizes of row, family, qualifier, label and
# value.
_RECORD = struct.Struct("=QqIIIIQ")


def _unpack(records: bytes, text: bytes) -> list[Row]:
    rows: list[Row] = []
    families: dict[bytes, str] = {}
    family = label = ""
    qualifier = b""
    new = tuple.__new__
    for at, timestamp, row_size, family_size, qualifier_size, label_size, size in (
        _RECORD.iter_unpack(records)
    ):
        if row_size:
            end = at + row_size
            cells: list[Cell] = []
            add = cells.append
            rows.append(Row(text[at:end], cells))
            at = end
        if family_size:
            end = at + family_size
            name = text[at:end]
            found = families.get(name)
            if found is None:
                found = families[name] = from_text(name)
            family = found
            at = end
        end = at + qualifier_size
        qualifier = text[at:end]
        if label_size:
            label = from_text(text[end : end + label_size])
            end += label_size
        else:
            label = ""
        add(new(Cell, (family, qualifier, timestamp, text[end : end + size], label)))
    return rows


# How many bytes of text a call fetches: few at first, for scans that end early. More than this is
# slower, since what was fetched leaves the processor's caches before it is unpacked.
_FIRST_FETCH = 4 << 10
_LARGEST_FETCH = 16 << 10


class _Stream:
    """A C stream of rows, and the rows that were fetched from it and not yet returned."""

    __slots__ = ("handle", "lock", "rows", "fetch_size", "growth", "__weakref__")

    def __init__(self, handle: Handle, lock: threading.RLock, resumable: bool) -> None:
        self.handle: Handle | None = handle
        self.lock = lock  # of the transaction, which one thread at a time may use
        self.rows: list[Row] = []
        self.fetch_size = 0 if resumable else _FIRST_FETCH  # 0: one row
        self.growth = 4

    def fetch(self) -> bool:
        """Fetches the next rows. False: there are none."""
        cells, count = ctypes.c_void_p(), ctypes.c_size_t()
        text, size = ctypes.c_void_p(), ctypes.c_size_t()
        with self.lock:
            handle = self.open_handle()
            check(
                lib.bigtable_rows_next_packed(
                    handle.pointer,
                    self.fetch_size,
                    ctypes.byref(cells),
                    ctypes.byref(count),
                    ctypes.byref(text),
                    ctypes.byref(size),
                )
            )
            if not cells.value:
                return False
            records = ctypes.string_at(cells.value, count.value * _RECORD.size)
            copy = ctypes.string_at(text.value or 0, size.value)
        self.fetch_size = min(self.fetch_size * self.growth, _LARGEST_FETCH)
        self.rows[:] = _unpack(records, copy)
        return True

    def open_handle(self) -> Handle:
        handle = self.handle
        if handle is None:
            raise ClosedError("the scanner is closed, or its transaction has ended")
        return handle

    def close(self) -> None:
        with self.lock:
            self.handle = None
        self.rows.clear()


def _iterate(stream: _Stream) -> Iterator[Row]:
    rows = stream.rows
    while stream.fetch():
        yield from rows  # ends early if the scanner is closed, and then the next fetch fails


class Scanner(NotPickled, Iterator[Row]):
    """An iterator over rows, in key order, and a context manager.

    It fetches many rows with one call of C. An error of the library comes after the rows before it,
    and again at each further call. It pins memory and files: close it soon, or use `with`. One
    thread at a time; another one may close it."""

    def __init__(self, handle: Handle, lock: threading.RLock | None, resumable: bool) -> None:
        """Not for others: Table.scan and Transaction.scan make scanners."""
        self._stream = _Stream(handle, lock or threading.RLock(), resumable)
        self._rows = _iterate(self._stream)
        self._resumable = resumable

    def __iter__(self) -> Iterator[Row]:
        # The generator itself: a call of __next__ less for each row.
        return self._current()

    def __next__(self) -> Row:
        return next(self._current())

    def _current(self) -> Iterator[Row]:
        if getattr(self._rows, "gi_frame", None) is None:
            self._rows = _iterate(self._stream)  # after an error: raises it again
        return self._rows

    def resume_token(self) -> bytes:
        """Where the scanner stands: behind the last row that it has returned. Bytes that may be
        stored, also for later openings, and passed to Table.resume_scan. Only of a scan with
        resumable=True: others have fetched more rows than they have returned."""
        with self._stream.lock:
            handle = self._stream.open_handle()
            if not self._resumable:
                raise FailedPreconditionError("the scan was not opened with resumable=True")
            return _handle.take_string(
                _handle.output(lib.bigtable_rows_get_resume_token, handle.pointer)
            )

    def close(self) -> None:
        """Ends the scan. A second call does nothing; a row after it is a ClosedError."""
        self._stream.close()

    def __enter__(self) -> Scanner:
        self._stream.open_handle()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def make_scanner(
    pointer: int | None,
    needs: tuple[Any, ...],
    lock: threading.RLock | None,
    resumable: bool,
) -> Scanner:
    """A scanner of a C stream."""
    return Scanner(Handle(pointer, lib.bigtable_rows_free, *needs), lock, resumable)
