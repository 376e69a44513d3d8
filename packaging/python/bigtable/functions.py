"""Functions of the program that the library calls: observers, compaction filters and operators of
aggregates. They are registered under a name, to which schemas refer, until the process ends.

They are called by any thread, also by several at a time. No exception passes through C: each
function says what becomes of one.
"""

from __future__ import annotations

import ctypes
import enum
from collections.abc import Callable
from typing import NamedTuple

from ._handle import Bytes, NotPickled, check, from_text, guard, output, report_unraisable
from ._handle import take_list, text_arguments, to_bytes, to_text, view
from ._library import lib
from .errors import ClosedError, Code, Error
from .filters import Filter, filter_pointer
from .mutation import Mutation, MutationHandles
from .rows import Row, take_row


class OperationKind(enum.IntEnum):
    """The kinds of the operations of a mutation."""

    SET = 0
    ADD = 1
    MERGE = 2
    DELETE_COLUMN = 3
    DELETE_CELL = 4
    DELETE_TIME_RANGE = 5
    DELETE_FAMILY = 6
    DELETE_ROW = 7


class ObservedOperation(NamedTuple):
    """An operation of an observed mutation. What its kind does not have is empty, or -1."""

    kind: int
    """An OperationKind, or a number of a later version of the library."""
    family: str
    qualifier: bytes
    value: bytes
    timestamp: int
    """-1: the server's time, or a deletion of more than a cell. Of a time range, its begin."""
    end: int
    """Of a time range."""


class ObservedMutation(NamedTuple):
    """A mutation that an observer is called for: a plain value."""

    table: str
    row: bytes
    operations: list[ObservedOperation]


class ObserverContext(NotPickled):
    """What an observer can do before a write. It is valid during the call, for its thread only.
    What is read counts as read by the write: if it changes before the commit, all is done again."""

    def __init__(self, pointer: int) -> None:
        """Not for others: an observer is called with it."""
        self._pointer: int | None = pointer

    def _open(self) -> int:
        if self._pointer is None:
            raise ClosedError("the call of the observer has ended")
        return self._pointer

    def _table(self, name: str) -> int | None:
        arguments = text_arguments(to_text(name))
        return output(lib.bigtable_observer_context_open_table, self._open(), *arguments)

    def read_before(self, filter: Filter | None = None) -> Row:
        """The row of the mutation without it."""
        read = lib.bigtable_observer_context_read_before
        return take_row(output(read, self._open(), filter_pointer(filter)))

    def read_after(self, filter: Filter | None = None) -> Row:
        """The row of the mutation with it, and with what observers before this one have added."""
        read = lib.bigtable_observer_context_read_after
        return take_row(output(read, self._open(), filter_pointer(filter)))

    def read_row(self, table: str, row: Bytes, filter: Filter | None = None) -> Row:
        """Any row of a table of the database, without the mutation."""
        return take_row(
            output(
                lib.bigtable_observer_context_read_row,
                self._open(),
                self._table(table),
                *text_arguments(to_bytes(row)),
                filter_pointer(filter),
            )
        )

    def apply(self, table: str, mutation: Mutation) -> None:
        """Adds a mutation, which is applied if and only if the observed one is, after it."""
        handles = MutationHandles((mutation,))
        pointer = self._table(table)
        check(lib.bigtable_observer_context_apply(self._open(), pointer, handles.array[0]))


def register_observer(
    name: str,
    before: Callable[[ObservedMutation, ObserverContext], None] | None = None,
    after: Callable[[ObservedMutation, int], None] | None = None,
) -> None:
    """Registers an observer of mutations.

    `before` is called before a mutation is applied, perhaps several times, and only the last time
    counts. An exception of it refuses the write: an Error becomes the error of the write, with its
    code and message, another exception an UnknownError. `after` is called once the mutation is
    committed, with the sequence number; an exception of it goes to sys.unraisablehook."""

    def call_before(context: int, mutation: int, write: int) -> int | None:
        assert before is not None
        observer_context = ObserverContext(write)
        try:
            before(_observed(mutation), observer_context)
            return None
        finally:
            observer_context._pointer = None

    def call_after(context: int, mutation: int, sequence: int) -> None:
        assert after is not None
        after(_observed(mutation), sequence)

    functions = [
        _Before(guard(call_before, _new_error)) if before is not None else None,
        _After(call_after) if after is not None else None,
    ]
    _register(lib.bigtable_mutation_observer_register, name, *functions)


def list_observers() -> list[str]:
    """The names of the registered observers, sorted."""
    return take_list(output(lib.bigtable_mutation_observer_list_names))


class CompactedCell(NamedTuple):
    """A cell that a compaction would keep."""

    row: bytes
    family: str
    qualifier: bytes
    timestamp: int
    value: bytes
    now: int
    """When the compaction began, in microseconds."""


def register_compaction_filter(
    name: str, function: Callable[[CompactedCell], bool | bytes]
) -> None:
    """Registers a compaction filter. The function returns True to keep the cell, False to remove
    it, or another value for it. It only computes, and must not call the database. After an
    exception, which goes to sys.unraisablehook, the cell is kept."""

    def call(context: int, cell: int, value: int) -> int:
        decision = function(_compacted(cell))
        if isinstance(decision, bool):
            return 0 if decision else 1
        check(lib.bigtable_string_assign(value, *text_arguments(to_bytes(decision))))
        return 2

    def keep(failure: BaseException) -> int:
        report_unraisable(failure)
        return 0

    callback = _CompactionFilter(guard(call, keep))
    _register(lib.bigtable_compaction_filter_register, name, callback)


def list_compaction_filters() -> list[str]:
    """The names of the registered compaction filters, sorted."""
    return take_list(output(lib.bigtable_compaction_filter_list_names))


def register_operator(
    name: str,
    merge: Callable[[bytes, bytes], bytes],
    *,
    check_input: Callable[[bytes], None] | None = None,
    state_of: Callable[[bytes], bytes] | None = None,
    check_state: Callable[[bytes], None] | None = None,
) -> None:
    """Registers an operator of aggregates, which a family names (Family.value_operator).

    `merge` returns the state of the contributions of two states, an older and a later one; it is
    associative. `state_of` returns the state of one input, by default the input. The checks raise
    an exception for an input, or a state, that is not taken; the write raises it as with
    register_observer. An exception of `merge` fails the read or the compaction. After one of
    `state_of`, which goes to sys.unraisablehook, the state is empty. All only compute, and must not
    call the database."""

    def call_merge(context: int, older: int | None, size: int, state: int) -> int | None:
        merged = merge(_copy(older, size), view(lib.bigtable_string_data, state))
        check(lib.bigtable_string_assign(state, *text_arguments(to_bytes(merged))))
        return None

    def call_state(context: int, text: int | None, size: int, state: int) -> None:
        assert state_of is not None
        made = to_bytes(state_of(_copy(text, size)))
        check(lib.bigtable_string_assign(state, *text_arguments(made)))

    functions = [
        None if check_input is None else _Check(_checker(check_input)),
        None if check_state is None else _Check(_checker(check_state)),
        None if state_of is None else _State(call_state),
        _Merge(guard(call_merge, _new_error)),
    ]
    _register(lib.bigtable_aggregate_operator_register, name, *functions)


def list_operators() -> list[str]:
    """The names of the registered operators, sorted."""
    return take_list(output(lib.bigtable_aggregate_operator_list_names))


_P, _SIZE = ctypes.c_void_p, ctypes.c_size_t
_Before = ctypes.CFUNCTYPE(_P, _P, _P, _P)
_After = ctypes.CFUNCTYPE(None, _P, _P, ctypes.c_uint64)
_CompactionFilter = ctypes.CFUNCTYPE(ctypes.c_int, _P, _P, _P)
_Check = ctypes.CFUNCTYPE(_P, _P, _P, _SIZE)
_State = ctypes.CFUNCTYPE(None, _P, _P, _SIZE, _P)
_Merge = ctypes.CFUNCTYPE(_P, _P, _P, _SIZE, _P)

# They may be called until the process ends.
_registered: list[object] = []


def _register(register: Callable[..., int | None], name: str, *functions: object) -> None:
    pointers = [
        None if function is None else ctypes.cast(function, _P)  # type: ignore[arg-type]
        for function in functions
    ]
    check(register(*text_arguments(to_text(name)), *pointers, None, None))
    _registered.extend(functions)


def _checker(function: Callable[[bytes], None]) -> Callable[..., int | None]:
    def call(context: int, text: int | None, size: int) -> int | None:
        function(_copy(text, size))
        return None

    return guard(call, _new_error)


def _copy(text: int | None, size: int) -> bytes:
    return ctypes.string_at(text, size) if text else b""


def _new_error(failure: BaseException) -> int:
    """A C error, which passes to the library."""
    code, text = int(Code.UNKNOWN), type(failure).__name__
    try:
        text = str(failure) if isinstance(failure, Error) else f"{text}: {failure}"
        code = int(failure.code) if isinstance(failure, Error) else code
    except Exception:
        pass  # the exception has no text, or no code
    message = text.encode("utf-8", "backslashreplace")
    return int(lib.bigtable_error_new(code, *text_arguments(message)))


def _observed(mutation: int) -> ObservedMutation:
    table = lib.bigtable_observed_mutation_table(mutation)
    return ObservedMutation(
        from_text(view(lib.bigtable_table_name, table)),
        view(lib.bigtable_observed_mutation_row, mutation),
        [
            ObservedOperation(
                lib.bigtable_observed_mutation_kind(mutation, i),
                from_text(view(lib.bigtable_observed_mutation_family, mutation, i)),
                view(lib.bigtable_observed_mutation_qualifier, mutation, i),
                view(lib.bigtable_observed_mutation_value, mutation, i),
                lib.bigtable_observed_mutation_timestamp(mutation, i),
                lib.bigtable_observed_mutation_end(mutation, i),
            )
            for i in range(lib.bigtable_observed_mutation_count(mutation))
        ],
    )


def _compacted(cell: int) -> CompactedCell:
    return CompactedCell(
        view(lib.bigtable_compacted_cell_row, cell),
        from_text(view(lib.bigtable_compacted_cell_family, cell)),
        view(lib.bigtable_compacted_cell_qualifier, cell),
        lib.bigtable_compacted_cell_timestamp(cell),
        view(lib.bigtable_compacted_cell_value, cell),
        lib.bigtable_compacted_cell_now(cell),
    )
