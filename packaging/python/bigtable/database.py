"""Databases."""

from __future__ import annotations

import atexit
import ctypes
import dataclasses
import os
import warnings
import weakref
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import TypeVar

from . import _handle
from ._administration import Administration, DatabaseState, texts
from ._handle import Handle, as_handle, check, guard, output, text_arguments
from ._library import lib
from .errors import Code, Error
from .mutation import WriteBatch
from .options import Cancellation, Durability, Options, call_options, write_options
from .schema import (
    ChangeStreamRule,
    Family,
    FamilyChanges,
    GcRule,
    LocalityGroup,
    Schema,
    SplitRule,
    TableSchema,
)
from .schema import rule_pointer
from .snapshot import Snapshot
from .table import Table
from .transaction import Transaction

T = TypeVar("T")

# Threads of the library that call functions of the program must have ended before Python does.
_open_states: weakref.WeakSet[DatabaseState] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    for state in list(_open_states):
        try:
            state.close()
        except Error:
            pass  # the info log has it


class Database(Administration):
    """A database in a directory, and a context manager that closes it. Thread-safe, also to close:
    close() waits for running calls, and later ones raise ClosedError.

    One process at a time can open a directory. In a child of fork(), calls raise
    FailedPreconditionError. Calls release the global interpreter lock. A call that waits is not
    interrupted by Ctrl-C: pass a timeout or a Cancellation."""

    def __init__(
        self, path: str | os.PathLike[str], options: Options | None = None, **settings: object
    ) -> None:
        """Opens a database, and creates it by default. Settings are fields of Options:
        Database("/tmp/web", read_only=True)."""
        if settings:
            options = dataclasses.replace(options or Options(), **settings)
        made = (options or Options())._new_handle()
        pointer = output(
            lib.bigtable_database_open, *text_arguments(os.fsencode(path)), made.pointer
        )
        self.path = os.fspath(path)
        self._state = DatabaseState(Handle(pointer, lib.bigtable_database_free))
        _open_states.add(self._state)

    def close(self) -> None:
        """Waits for running calls, refuses new ones, flushes the memtables, and unlocks the
        directory. Raises what has failed. A second call does nothing."""
        self._state.close()

    @property
    def is_closed(self) -> bool:
        """Whether close() was called."""
        return self._state.handle is None

    def __enter__(self) -> Database:
        self._state.open_handle()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __del__(self) -> None:
        state = getattr(self, "_state", None)
        if state is not None and state.handle is not None:
            warnings.warn(f"unclosed database {self.path!r}", ResourceWarning, source=self)

    def __repr__(self) -> str:
        return f"Database({self.path!r})"

    # --- Tables ---

    def create_table(
        self,
        name: str,
        schema: Schema | TableSchema,
        *,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> Table:
        """Creates a table, and opens it. AlreadyExistsError: there is a table with this name."""
        made = schema._new_handle()
        self._call(
            lib.bigtable_database_create_table,
            *texts(name),
            made.pointer,
            timeout=timeout,
            cancellation=cancellation,
        )
        return self.open_table(name)

    def open_table(self, name: str, *, user: str | None = None) -> Table:
        """Opens a table: for the program, or in the name of a user, whom access lists and quotas
        limit. NotFoundError: there is no such table."""
        if user is None:
            table = self._output(lib.bigtable_database_open_table, *texts(name))
        else:
            table = self._output(lib.bigtable_database_open_table_for_user, *texts(name, user))
        assert table is not None
        return Table(self._state, table)

    def open_or_create_table(
        self,
        name: str,
        schema: Schema | TableSchema,
        *,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> Table:
        """Opens a table, after creating it if there is none. An existing one keeps its schema."""
        made = schema._new_handle()
        options = call_options(timeout, cancellation)
        table = self._output(
            lib.bigtable_database_open_or_create_table,
            *texts(name),
            made.pointer,
            as_handle(options),
        )
        assert table is not None
        return Table(self._state, table)

    def delete_table(
        self,
        name: str,
        *,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> None:
        """Deletes a table. NotFoundError: there is no such table."""
        self._call(
            lib.bigtable_database_delete_table,
            *texts(name),
            timeout=timeout,
            cancellation=cancellation,
        )

    def list_tables(self) -> list[str]:
        """The names of the tables, sorted."""
        return _handle.take_list(self._output(lib.bigtable_database_list_tables))

    def get_schema(self, table: str) -> TableSchema:
        """The present schema of a table."""
        schema = self._output(lib.bigtable_database_get_schema, *texts(table))
        return TableSchema(Handle(schema, lib.bigtable_schema_free))

    # --- Families and other settings of a table ---

    def add_family(self, table: str, name: str, family: Family | None = None) -> None:
        """Adds a family to a table."""
        schema = Schema({name: family or Family()})._new_handle()
        self._call(lib.bigtable_database_add_schema_family, *texts(table, name), schema.pointer)

    def drop_family(self, table: str, name: str) -> None:
        """Drops a family with its cells."""
        self._call(lib.bigtable_database_drop_family, *texts(table, name))

    def set_gc_rule(self, table: str, family: str, rule: GcRule | None) -> None:
        """Replaces the garbage collection rule of a family. None: everything is kept."""
        self._call(lib.bigtable_database_set_gc_rule, *texts(table, family), rule_pointer(rule))

    def set_family_access_list(self, table: str, family: str, access_list: str) -> None:
        """Sets the access list of a family. Empty: every user may read and write."""
        self._call(
            lib.bigtable_database_set_family_access_list, *texts(table, family, access_list)
        )

    def set_family_owner(self, table: str, family: str, owner: str) -> None:
        """Sets the owner of a family. Empty: nobody."""
        self._call(lib.bigtable_database_set_family_owner, *texts(table, family, owner))

    def set_family_compaction_filter(self, table: str, family: str, name: str) -> None:
        """Replaces the compaction filter of a family, which must be registered. Empty: none."""
        self._call(lib.bigtable_database_set_family_compaction_filter, *texts(table, family, name))

    def modify_families(
        self,
        table: str,
        changes: FamilyChanges,
        *,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> None:
        """Makes changes of families together or not at all."""
        self._call(
            lib.bigtable_database_modify_families,
            *texts(table),
            changes._handle.pointer,
            timeout=timeout,
            cancellation=cancellation,
        )

    def set_locality_group(self, table: str, name: str, group: LocalityGroup) -> None:
        """Adds a locality group, or changes how its next SSTables are written."""
        made = group._new_handle()
        self._call(lib.bigtable_database_set_locality_group, *texts(table, name), made.pointer)

    def set_split_rule(self, table: str, rule: SplitRule) -> None:
        """Sets when tablets of the table are split and merged."""
        self._call(
            lib.bigtable_database_set_split_rule,
            *texts(table),
            rule.tablet_size,
            rule.merge_size,
            rule.prefix_length,
        )

    def set_change_stream(self, table: str, rule: ChangeStreamRule) -> None:
        """Opens or changes the change stream of a table; without a retention closes it."""
        self._call(lib.bigtable_database_set_change_stream, *texts(table), *rule._arguments())

    def set_observers(self, table: str, observers: Iterable[str]) -> None:
        """Replaces the observers of a table, which must be registered."""
        made = Schema((), observers=list(observers))._new_handle()
        self._call(lib.bigtable_database_set_observers, *texts(table), made.pointer)

    # --- Writes of several rows ---

    def apply(
        self,
        batch: WriteBatch,
        *,
        durability: Durability | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> None:
        """Applies a batch, together or not at all."""
        handle = self._state.open_handle()
        options = write_options(durability, timeout, cancellation)
        check(
            lib.bigtable_database_apply(handle.pointer, batch._handle.pointer, as_handle(options))
        )

    def transaction(
        self, *, timeout: float | None = None, cancellation: Cancellation | None = None
    ) -> Transaction:
        """Begins a transaction, which sees every write that was acknowledged before. The limits are
        those of this call."""
        handle = self._state.open_handle()
        options = call_options(timeout, cancellation)
        pointer = output(
            lib.bigtable_database_begin_transaction, handle.pointer, as_handle(options)
        )
        owned = Handle(pointer, lib.bigtable_transaction_free, handle)
        return Transaction(owned, handle, False)

    def run_transaction(
        self,
        function: Callable[[Transaction], T],
        *,
        durability: Durability | None = None,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> T:
        """Begins a transaction, calls `function` with it, and commits; all of it again, as long as
        the commit is in conflict. Returns what the last call has returned. So `function` must have
        no other effects, or such that may happen several times. An exception of it passes on, and
        nothing is applied. Only the timeout and the cancellation limit how often it is called."""
        handle = self._state.open_handle()
        options = write_options(durability, timeout, cancellation)
        results: list[T] = []
        failures: list[BaseException] = []

        def call(context: int, pointer: int) -> int | None:
            transaction = Transaction(Handle(pointer, None, handle), handle, True)
            try:
                results[:] = [function(transaction)]
                return None
            finally:
                transaction.close()

        def failed(failure: BaseException) -> int:
            failures.append(failure)
            return int(lib.bigtable_error_new(Code.ABORTED, *text_arguments(b"an exception")))

        callback = _TRANSACTION_FUNCTION(guard(call, failed))
        error = lib.bigtable_database_run_transaction(
            handle.pointer, ctypes.cast(callback, ctypes.c_void_p), None, as_handle(options)
        )
        if failures:
            lib.bigtable_error_free(error)
            raise failures[0]
        check(error)
        return results[0]

    def snapshot(self) -> Snapshot:
        """Takes a snapshot: every write that was acknowledged before the call, and none that begins
        after it."""
        handle = self._state.open_handle()
        pointer = output(lib.bigtable_database_take_snapshot, handle.pointer)
        return Snapshot(Handle(pointer, lib.bigtable_snapshot_free, handle))

    # --- Background work ---

    def flush(
        self,
        table: str,
        *,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> None:
        """Writes the memtables of a table to SSTables, durably."""
        self._call(
            lib.bigtable_database_flush, *texts(table), timeout=timeout, cancellation=cancellation
        )

    def compact(
        self,
        table: str,
        *,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> None:
        """A major compaction of a table."""
        self._call(
            lib.bigtable_database_compact,
            *texts(table),
            timeout=timeout,
            cancellation=cancellation,
        )

    def wait_until_quiet(
        self, *, timeout: float | None = None, cancellation: Cancellation | None = None
    ) -> None:
        """Waits until no background work is due."""
        self._call(
            lib.bigtable_database_wait_until_quiet, timeout=timeout, cancellation=cancellation
        )

    def pause_compactions(self) -> None:
        """Running merging compactions finish, and no other one starts until continue_compactions
        was called as often as this."""
        check(lib.bigtable_database_pause_compactions(self._state.open_handle().pointer))

    def continue_compactions(self) -> None:
        """Undoes one pause_compactions."""
        check(lib.bigtable_database_continue_compactions(self._state.open_handle().pointer))

    def cancel_compactions(self) -> None:
        """Cancels running merging compactions, and waits until they have ended."""
        handle = self._state.open_handle()
        check(lib.bigtable_database_cancel_compactions(handle.pointer))

    def resume(
        self, *, timeout: float | None = None, cancellation: Cancellation | None = None
    ) -> None:
        """Lets writes continue after a background error."""
        self._call(
            lib.bigtable_database_resume_within, timeout=timeout, cancellation=cancellation
        )


_TRANSACTION_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
