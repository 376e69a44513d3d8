"""Tables: reads and writes of rows."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from . import _handle
from ._handle import (
    Bytes,
    Handle,
    NotPickled,
    Text,
    as_handle,
    check,
    from_text,
    guard,
    output,
    take_error,
    text_arguments,
    to_bytes,
    to_text,
    view,
)
from ._library import lib
from .filters import Filter, filter_pointer
from .mutation import Mutation, MutationHandles, ReadModifyWrite, copy_operations, decode_int64
from .options import Cancellation, Durability, ReadOptions
from .options import call_options, read_options, write_options
from .rows import Row, RowSet, Scanner, make_row_set, make_scanner, read_row, take_row

if TYPE_CHECKING:
    from ._administration import DatabaseState

_ROW_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


class RowKeySample(NamedTuple):
    """A row that ends a part of a table (Table.sample_row_keys)."""

    row: bytes
    """Empty in the last sample, which stands for the end of the table."""
    offset: int
    """About how many bytes the rows before this one take."""


class Table(NotPickled):
    """A table of a database. It belongs to the database, and needs no closing. Thread-safe.

    Row keys and values are bytes. A column is "family:qualifier", as bytes or as a str, which is
    encoded as UTF-8. A timeout is in seconds: DeadlineExceededError if the call has not ended."""

    def __init__(self, state: DatabaseState, pointer: int) -> None:
        """Not for others: Database.open_table makes tables."""
        self._state = state
        self._pointer = pointer

    def _open(self) -> tuple[Handle, int]:
        return self._state.open_handle(), self._pointer

    @property
    def name(self) -> str:
        """The table's name."""
        handle, table = self._open()
        return from_text(view(lib.bigtable_table_name, table))

    # --- Writes ---

    def apply(
        self,
        mutation: Mutation,
        *,
        durability: Durability | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> None:
        """Applies a mutation."""
        handle, table = self._open()
        options = write_options(durability, timeout, cancellation)
        handles = MutationHandles((mutation,))
        check(lib.bigtable_table_apply(table, handles.array[0], as_handle(options)))

    def apply_batch(
        self,
        mutations: Iterable[Mutation],
        *,
        durability: Durability | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> None:
        """Applies mutations, each atomically, with one commit to the log: the fastest way to write.
        If some were not applied, raises the error of the first; its `errors` says which others."""
        handle, table = self._open()
        options = write_options(durability, timeout, cancellation)
        handles = MutationHandles(list(mutations))
        count = handles.count
        errors = (ctypes.c_void_p * count)()
        first = lib.bigtable_table_apply_batch(
            table, handles.array, count, as_handle(options), errors
        )
        if first:
            failure = take_error(first)
            failure.errors = [None if error is None else take_error(error) for error in errors]
            raise failure

    def set(
        self,
        row: Bytes,
        column: Text,
        value: Bytes,
        timestamp: int | None = None,
        *,
        durability: Durability | None = None,
    ) -> None:
        """Writes one cell: at `timestamp`, or at the server's time."""
        self.apply(Mutation(row).set(column, value, timestamp), durability=durability)

    # --- Atomic operations on one row ---

    def check_and_mutate(
        self,
        row: Bytes,
        predicate: Filter | None = None,
        if_matched: Mutation | None = None,
        if_not: Mutation | None = None,
        *,
        durability: Durability | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> bool:
        """Applies `if_matched` if a cell of the row passes the filter, otherwise `if_not`, with no
        other write to the row in between. Returns whether a cell passed. A predicate of None passes
        every cell."""
        handle, table = self._open()
        options = write_options(durability, timeout, cancellation)
        then = None if if_matched is None else MutationHandles((if_matched,))
        otherwise = None if if_not is None else MutationHandles((if_not,))
        matched = ctypes.c_bool()
        check(
            lib.bigtable_table_check_and_mutate_row(
                table,
                *text_arguments(to_bytes(row)),
                filter_pointer(predicate),
                None if then is None else then.array[0],
                None if otherwise is None else otherwise.array[0],
                as_handle(options),
                ctypes.byref(matched),
            )
        )
        return matched.value

    def read_modify_write(
        self,
        rules: ReadModifyWrite,
        *,
        durability: Durability | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> Row:
        """Applies additions to the newest cells of a row, with no other write to the row in
        between. Returns the new cells."""
        handle, table = self._open()
        options = write_options(durability, timeout, cancellation)
        return take_row(
            output(
                lib.bigtable_table_read_modify_write_row,
                table,
                rules._handle.pointer,
                as_handle(options),
            )
        )

    def increment(self, row: Bytes, column: Text, amount: int = 1) -> int:
        """Adds to a signed big-endian integer of 8 bytes, and returns the sum. A missing cell is
        zero."""
        cells = self.read_modify_write(ReadModifyWrite(row).increment(column, amount)).cells
        return decode_int64(cells[0].value)

    def append(self, row: Bytes, column: Text, value: Bytes) -> bytes:
        """Adds bytes at the end of a value, and returns the new value. A missing cell is empty."""
        return self.read_modify_write(ReadModifyWrite(row).append(column, value)).cells[0].value

    def mutate_atomically(
        self,
        row: Bytes,
        function: Callable[[Row], Mutation],
        filter: Filter | None = None,
        *,
        durability: Durability | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> None:
        """A transaction on one row: calls `function` with the cells of the row that pass the
        filter, and applies the mutation of the row that it returns. If such a cell has changed
        meanwhile, calls it again. An exception of `function` passes on, and nothing is applied."""
        handle, table = self._open()
        options = write_options(durability, timeout, cancellation)
        key = to_bytes(row)
        failures: list[BaseException] = []

        def call(context: int, cells: int, mutation: int) -> int:
            copy_operations(function(read_row(cells)), key, mutation)
            return 0

        def failed(failure: BaseException) -> int:
            failures.append(failure)
            return 1

        callback = _ROW_FUNCTION(guard(call, failed))
        error = lib.bigtable_table_mutate_row_atomically(
            table,
            *text_arguments(key),
            filter_pointer(filter),
            ctypes.cast(callback, ctypes.c_void_p),
            None,
            as_handle(options),
        )
        if failures:
            lib.bigtable_error_free(error)
            raise failures[0]
        check(error)

    # --- Reads ---

    def get(self, row: Bytes, column: Text, options: ReadOptions | None = None) -> bytes:
        """The newest value of a column. NotFoundError: the row has no cell in it."""
        handle, table = self._open()
        read = read_options(options)
        return _handle.take_string(
            output(
                lib.bigtable_table_get,
                table,
                *text_arguments(to_bytes(row)),
                *text_arguments(to_text(column)),
                as_handle(read),
            )
        )

    def read_row(
        self, row: Bytes, filter: Filter | None = None, options: ReadOptions | None = None
    ) -> Row:
        """The cells of one row that pass the filter. A row without cells is an empty row."""
        handle, table = self._open()
        read = read_options(options)
        return take_row(
            output(
                lib.bigtable_table_read_row,
                table,
                *text_arguments(to_bytes(row)),
                filter_pointer(filter),
                as_handle(read),
            )
        )

    def scan(
        self,
        rows: RowSet | Iterable[Bytes] | None = None,
        *,
        begin: Bytes | None = None,
        end: Bytes | None = None,
        prefix: Bytes | None = None,
        filter: Filter | None = None,
        reverse: bool = False,
        row_limit: int = 0,
        cell_limit: int = 0,
        resumable: bool = False,
        options: ReadOptions | None = None,
    ) -> Scanner:
        """Iterates over the rows that have cells which pass the filter: of all rows, of a set or a
        list of keys, in [begin, end), or with a prefix. At most `row_limit` rows, and `cell_limit`
        cells in all rows together; 0 is no limit. The timeout of the options counts from this call.

        `resumable` fetches row by row, which is slower, and allows Scanner.resume_token."""
        handle, table = self._open()
        row_set = make_row_set(rows, begin, end, prefix)
        read = read_options(options, reverse, row_limit, cell_limit)
        stream = output(
            lib.bigtable_table_read_rows,
            table,
            as_handle(row_set),
            filter_pointer(filter),
            as_handle(read),
        )
        return make_scanner(stream, (handle, read), None, resumable)

    def resume_scan(
        self,
        token: bytes,
        *,
        filter: Filter | None = None,
        reverse: bool = False,
        row_limit: int = 0,
        cell_limit: int = 0,
        options: ReadOptions | None = None,
    ) -> Scanner:
        """A resumable scan of the rows that were left when the token was taken. The filter and the
        order should be those of the first scan. A limit counts from here on."""
        handle, table = self._open()
        read = read_options(options, reverse, row_limit, cell_limit)
        stream = output(
            lib.bigtable_table_resume_rows,
            table,
            *text_arguments(to_bytes(token)),
            filter_pointer(filter),
            as_handle(read),
        )
        return make_scanner(stream, (handle, read), None, True)

    # --- Sizes, and deleting many rows ---

    def sample_row_keys(
        self, *, timeout: float | None = None, cancellation: Cancellation | None = None
    ) -> list[RowKeySample]:
        """Rows that divide the table into parts of about equal size, in key order."""
        handle, table = self._open()
        options = call_options(timeout, cancellation)
        samples = output(lib.bigtable_table_sample_row_keys, table, as_handle(options))
        try:
            return [
                RowKeySample(
                    view(lib.bigtable_row_key_samples_row, samples, i),
                    lib.bigtable_row_key_samples_offset(samples, i),
                )
                for i in range(lib.bigtable_row_key_samples_count(samples))
            ]
        finally:
            lib.bigtable_row_key_samples_free(samples)

    def approximate_sizes(
        self,
        rows: RowSet,
        *,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> list[int]:
        """About how many bytes the rows of each addition to the set take."""
        handle, table = self._open()
        options = call_options(timeout, cancellation)
        sizes = (ctypes.c_uint64 * len(rows))()
        check(
            lib.bigtable_table_get_approximate_sizes(
                table, rows._handle.pointer, as_handle(options), sizes, len(rows)
            )
        )
        return list(sizes)

    def drop_rows(
        self,
        rows: RowSet,
        *,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> None:
        """Drops the rows of the set, one range after another, without reading or writing them.
        After an error some may be gone and others not; repeat the call."""
        handle, table = self._open()
        options = call_options(timeout, cancellation)
        check(lib.bigtable_table_drop_rows(table, rows._handle.pointer, as_handle(options)))
