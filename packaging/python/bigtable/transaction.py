"""Transactions: reads at one snapshot, and writes that become visible together."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterable
from types import TracebackType

from ._handle import Bytes, Handle, NotPickled, as_handle, check, output, text_arguments, to_bytes
from ._library import lib
from .errors import ClosedError, InvalidArgumentError
from .filters import Filter, filter_pointer
from .mutation import Mutation, MutationHandles
from .options import Cancellation, Durability, ReadOptions, read_options, write_options
from .rows import Row, RowSet, Scanner, make_row_set, make_scanner, take_row
from .table import Table


class Transaction(NotPickled):
    """Reads at one snapshot, with the transaction's own writes, and writes that become visible
    together when it commits.

    It is optimistic: commit raises AbortedError if a row that the transaction has read may have
    been written since it began. Then nothing was applied, and the transaction is to be run again
    from its beginning: Database.run_transaction does that. A scan fetches more rows than it
    returns, and all of them count as read.

    As a context manager it commits at the end of the block, and rolls back after an exception.
    After a commit, a rollback or close(), the other calls raise FailedPreconditionError. Several
    threads may use it; calls wait for each other."""

    def __init__(self, handle: Handle, database: Handle, is_borrowed: bool) -> None:
        """Not for others: Database.transaction and Database.run_transaction make transactions."""
        self._handle: Handle | None = handle
        self._database = database
        self._is_borrowed = is_borrowed  # from run_transaction, which commits
        self._has_ended = False
        self._lock = threading.RLock()
        self._scanners: weakref.WeakSet[object] = weakref.WeakSet()

    def _open(self) -> Handle:
        handle = self._handle
        if handle is None:
            raise ClosedError("the transaction has ended")
        return handle

    def _pointer_of(self, table: Table) -> int:
        database, pointer = table._open()
        if database is not self._database:
            raise InvalidArgumentError("the table is of another database than the transaction")
        return pointer

    def read_row(
        self,
        table: Table,
        row: Bytes,
        filter: Filter | None = None,
        options: ReadOptions | None = None,
    ) -> Row:
        """As Table.read_row, with the transaction's writes so far."""
        read = read_options(options)
        with self._lock:
            handle = self._open()
            return take_row(
                output(
                    lib.bigtable_transaction_read_row,
                    handle.pointer,
                    self._pointer_of(table),
                    *text_arguments(to_bytes(row)),
                    filter_pointer(filter),
                    as_handle(read),
                )
            )

    def scan(
        self,
        table: Table,
        rows: RowSet | Iterable[Bytes] | None = None,
        *,
        begin: Bytes | None = None,
        end: Bytes | None = None,
        prefix: Bytes | None = None,
        filter: Filter | None = None,
        reverse: bool = False,
        row_limit: int = 0,
        cell_limit: int = 0,
        options: ReadOptions | None = None,
    ) -> Scanner:
        """As Table.scan, with the transaction's writes so far. The scanner ends with the
        transaction: a row after that is a ClosedError."""
        row_set = make_row_set(rows, begin, end, prefix)
        read = read_options(options, reverse, row_limit, cell_limit)
        with self._lock:
            handle = self._open()
            stream = output(
                lib.bigtable_transaction_read_rows,
                handle.pointer,
                self._pointer_of(table),
                as_handle(row_set),
                filter_pointer(filter),
                as_handle(read),
            )
            scanner = make_scanner(stream, (handle, read), self._lock, False)
            self._scanners.add(scanner._stream)
            return scanner

    def apply(self, table: Table, mutation: Mutation) -> None:
        """Adds a copy of a mutation, which is checked against the schema at the commit."""
        with self._lock:
            handle = self._open()
            handles = MutationHandles((mutation,))
            check(
                lib.bigtable_transaction_apply(
                    handle.pointer, self._pointer_of(table), handles.array[0]
                )
            )

    def commit(
        self,
        *,
        durability: Durability | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> None:
        """Applies the writes. AbortedError: a conflict. The transaction ends in any case."""
        if self._is_borrowed:
            raise InvalidArgumentError("run_transaction commits the transaction by itself")
        options = write_options(durability, timeout, cancellation)
        with self._lock:
            handle = self._open()
            self._end()
            check(lib.bigtable_transaction_commit(handle.pointer, as_handle(options)))

    def rollback(self) -> None:
        """Ends the transaction without its writes."""
        if self._is_borrowed:
            raise InvalidArgumentError("run_transaction ends the transaction: raise an exception")
        with self._lock:
            handle = self._open()
            self._end()
            lib.bigtable_transaction_rollback(handle.pointer)

    def close(self) -> None:
        """Rolls back what was not committed. A second call does nothing."""
        with self._lock:
            self._end()

    def _end(self) -> None:
        for stream in list(self._scanners):
            stream.close()  # type: ignore[attr-defined]
        self._handle = None

    def __enter__(self) -> Transaction:
        self._open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is None and self._handle is not None:
            self.commit()
        else:
            self.close()
