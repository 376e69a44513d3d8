"""Changes of rows: mutations, batches, and additions to newest cells."""

from __future__ import annotations

import ctypes
import math
import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING

from . import _handle
from ._handle import Bytes, Handle, NotPickled, Text, check, text_arguments, to_text
from ._library import lib
from .errors import InvalidArgumentError

if TYPE_CHECKING:
    from .table import Table

# bigtable_packed_operation: kind, sizes of row, column and value, timestamp, end.
_RECORD = struct.Struct("=iIIIqq")
_pack = _RECORD.pack
_SET, _ADD, _MERGE, _DELETE_COLUMN, _DELETE_CELL, _DELETE_TIME_RANGE = 0, 1, 2, 3, 4, 5
_DELETE_FAMILY, _DELETE_ROW = 6, 7

NO_END = 2**63 - 1
"""An end of a time range that is no end."""


def encode_int64(number: int) -> bytes:
    """A number as 8 bytes, the most significant one first."""
    try:
        return number.to_bytes(8, "big", signed=True)
    except OverflowError:
        raise InvalidArgumentError(f"the number {number} does not have 64 bits") from None


def decode_int64(value: bytes) -> int:
    """The number of a counter or of an aggregate: 8 bytes, the most significant one first."""
    if len(value) != 8:
        raise InvalidArgumentError(f"a number must have 8 bytes, not {len(value)}")
    return int.from_bytes(value, "big", signed=True)


def encode_double(number: float) -> bytes:
    """A number as a double of 8 bytes, the most significant one first. Every NaN has the same."""
    return struct.pack(">d", number if number == number else math.nan)


def decode_double(value: bytes) -> float:
    """The number of a minimum or maximum of doubles: 8 bytes, the most significant one first."""
    if len(value) != 8:
        raise InvalidArgumentError(f"a number must have 8 bytes, not {len(value)}")
    (number,) = struct.unpack(">d", value)
    return float(number)


class Mutation:
    """A list of operations on one row, which are applied in call order, together or not at all.

    A column is "family:qualifier". A time is in microseconds. Each method returns the mutation. An
    operation that is invalid is reported when the mutation is applied, and so is a mutation without
    operations. A mutation may be applied any number of times, and can be pickled. One thread at a
    time."""

    __slots__ = ("row", "_records", "_text", "_row_size")

    def __init__(self, row: Bytes) -> None:
        self.row: bytes = row if type(row) is bytes else _handle.to_bytes(row)
        if not self.row:
            raise InvalidArgumentError("a row key must not be empty")
        self._records: list[bytes] = []
        self._text: list[bytes] = [self.row]
        self._row_size = len(self.row)  # of the next record: the first one has the row

    def set(self, column: Text, value: Bytes, timestamp: int | None = None) -> Mutation:
        """Writes a cell: at `timestamp`, or at the server's time."""
        if timestamp is None:
            timestamp = -1
        elif timestamp < 0:
            raise InvalidArgumentError(f"the timestamp {timestamp} must not be negative")
        if type(column) is not bytes:
            column = to_text(column)
        if type(value) is not bytes:
            value = _handle.to_bytes(value)
        return self._add(_SET, column, value, timestamp, 0)

    def add(self, column: Text, value: float | Bytes, timestamp: int) -> Mutation:
        """Adds to the cell of an aggregate family, which need not exist: a number to a sum, minimum
        or maximum, bytes to be counted to a HyperLogLog. An int is stored as an integer and a float
        as a double, both of 8 bytes, so nothing finds one that is added to a family of the other:
        give a family of doubles 1.0, not 1."""
        if isinstance(value, int):
            data = encode_int64(value)
        elif isinstance(value, float):
            data = encode_double(value)
        else:
            data = _handle.to_bytes(value)
        return self._add(_ADD, to_text(column), data, timestamp, 0)

    def merge(self, column: Text, state: Bytes, timestamp: int) -> Mutation:
        """Adds all that another cell of an aggregate family has: its value, as it was read."""
        return self._add(_MERGE, to_text(column), _handle.to_bytes(state), timestamp, 0)

    def delete_cell(self, column: Text, timestamp: int) -> Mutation:
        """Deletes the version of a column at exactly this time."""
        return self._add(_DELETE_CELL, to_text(column), b"", timestamp, 0)

    def delete_time_range(self, column: Text, begin: int = 0, end: int = NO_END) -> Mutation:
        """Deletes the versions of a column from `begin` to before `end`."""
        return self._add(_DELETE_TIME_RANGE, to_text(column), b"", begin, end)

    def delete_column(self, column: Text) -> Mutation:
        """Deletes all versions of a column."""
        return self._add(_DELETE_COLUMN, to_text(column), b"", 0, 0)

    def delete_family(self, family: Text) -> Mutation:
        """Deletes all columns of a family in the row."""
        return self._add(_DELETE_FAMILY, to_text(family), b"", 0, 0)

    def delete_row(self) -> Mutation:
        """Deletes the row."""
        return self._add(_DELETE_ROW, b"", b"", 0, 0)

    def check(self) -> None:
        """Raises InvalidArgumentError for the first operation that is invalid by itself."""
        handle = MutationHandles((self,))
        check(lib.bigtable_mutation_check(handle.array[0]))

    @property
    def byte_size(self) -> int:
        """About how many bytes the mutation takes in the commit log."""
        handle = MutationHandles((self,))
        return int(lib.bigtable_mutation_byte_size(handle.array[0]))

    def __len__(self) -> int:
        """The number of operations."""
        return len(self._records)

    def __bool__(self) -> bool:
        """True: also a mutation without operations is one."""
        return True

    def _add(self, kind: int, column: bytes, value: bytes, timestamp: int, end: int) -> Mutation:
        try:
            self._records.append(
                _pack(kind, self._row_size, len(column), len(value), timestamp, end)
            )
        except struct.error as error:
            raise InvalidArgumentError(
                f"the operation on column {column!r} has a number that is out of range: {error}"
            ) from None
        self._row_size = 0
        self._text.append(column)
        self._text.append(value)
        return self


def copy_operations(mutation: Mutation, row: bytes, target: int) -> None:
    """Adds the operations of a mutation to a C mutation of the same row."""
    if mutation.row != row:
        raise InvalidArgumentError(f"the mutation must be of the row {row!r}, not {mutation.row!r}")
    texts = iter(mutation._text[1:])
    for record, column, value in zip(mutation._records, texts, texts):
        kind, _, _, _, timestamp, end = _RECORD.unpack(record)
        name, data = text_arguments(column), text_arguments(value)
        if kind == _SET and timestamp == -1:
            lib.bigtable_mutation_set(target, *name, *data)
        elif kind == _SET:
            lib.bigtable_mutation_set_at(target, *name, timestamp, *data)
        elif kind == _ADD:
            lib.bigtable_mutation_add_to_cell(target, *name, timestamp, *data)
        elif kind == _MERGE:
            lib.bigtable_mutation_merge_to_cell(target, *name, timestamp, *data)
        elif kind == _DELETE_COLUMN:
            lib.bigtable_mutation_delete_column(target, *name)
        elif kind == _DELETE_CELL:
            lib.bigtable_mutation_delete_cell(target, *name, timestamp)
        elif kind == _DELETE_TIME_RANGE:
            lib.bigtable_mutation_delete_time_range(target, *name, timestamp, end)
        elif kind == _DELETE_FAMILY:
            lib.bigtable_mutation_delete_family(target, *name)
        else:
            lib.bigtable_mutation_delete_row(target)


class MutationHandles:
    """The C objects of mutations: `array` has one for each. They are freed with this object."""

    __slots__ = ("array", "count")

    def __init__(self, mutations: Sequence[Mutation]) -> None:
        self.count = 0
        self.array = (ctypes.c_void_p * len(mutations))()
        records: list[bytes] = []
        text: list[bytes] = []
        for mutation in mutations:
            if not mutation._records:
                row = mutation.row
                raise InvalidArgumentError(f"the mutation of row {row!r} has no operations")
            records += mutation._records
            text += mutation._text
        packed = b"".join(text)
        count = len(mutations)
        check(
            lib.bigtable_mutations_new_packed(
                b"".join(records), len(records), packed, len(packed), self.array, count
            )
        )
        self.count = count

    def __del__(self) -> None:
        if self.count:
            lib.bigtable_mutations_free(self.array, self.count)


class WriteBatch(NotPickled):
    """Mutations, of one or several tables of a database, which Database.apply applies together or
    not at all. It may be applied any number of times. One thread at a time."""

    def __init__(self) -> None:
        self._handle = Handle(lib.bigtable_write_batch_new(), lib.bigtable_write_batch_free)
        self._databases: list[Handle] = []  # of the tables

    def add(self, table: Table, *mutations: Mutation) -> WriteBatch:
        """Adds copies of mutations of a table. Returns the batch."""
        database, pointer = table._open()
        if database not in self._databases:
            self._databases.append(database)
        handles = MutationHandles(mutations)
        for i in range(handles.count):
            lib.bigtable_write_batch_apply(self._handle.pointer, pointer, handles.array[i])
        return self

    def clear(self) -> None:
        """Removes all mutations, and an error."""
        lib.bigtable_write_batch_clear(self._handle.pointer)
        self._databases.clear()

    def check(self) -> None:
        """Raises InvalidArgumentError for the first invalid mutation."""
        check(lib.bigtable_write_batch_check(self._handle.pointer))

    @property
    def byte_size(self) -> int:
        """About how many bytes the mutations take in the commit logs."""
        return int(lib.bigtable_write_batch_byte_size(self._handle.pointer))

    def __len__(self) -> int:
        """The number of mutations."""
        return int(lib.bigtable_write_batch_mutation_count(self._handle.pointer))

    def __bool__(self) -> bool:
        """True: also a batch without mutations is one."""
        return True


class ReadModifyWrite(NotPickled):
    """Additions to the newest cells of one row, for Table.read_modify_write. Each method returns
    the object. One thread at a time."""

    def __init__(self, row: Bytes) -> None:
        self._handle = Handle(
            lib.bigtable_read_modify_write_new(*text_arguments(_handle.to_bytes(row))),
            lib.bigtable_read_modify_write_free,
        )

    def append(self, column: Text, value: Bytes) -> ReadModifyWrite:
        """Adds bytes at the end of the value. A missing cell is empty."""
        lib.bigtable_read_modify_write_append(
            self._handle.pointer,
            *text_arguments(to_text(column)),
            *text_arguments(_handle.to_bytes(value)),
        )
        return self

    def increment(self, column: Text, amount: int = 1) -> ReadModifyWrite:
        """Adds to the value, a signed big-endian integer of 8 bytes. A missing cell is zero."""
        encode_int64(amount)  # checks it
        lib.bigtable_read_modify_write_increment(
            self._handle.pointer, *text_arguments(to_text(column)), amount
        )
        return self
