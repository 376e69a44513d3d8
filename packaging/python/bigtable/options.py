"""Options of a database and of its calls."""

from __future__ import annotations

import ctypes
import dataclasses
import enum
import itertools
from collections.abc import Callable

from . import _handle
from ._handle import Handle, NotPickled, checked
from ._library import lib
from .snapshot import Snapshot


class Durability(enum.IntEnum):
    """Which failures an acknowledged write survives."""

    NONE = 0
    """None: it is not logged."""
    BUFFERED = 1
    """A crash of the process: the default."""
    SYNC = 2
    """A crash of the machine."""


class LogSeverity(enum.IntEnum):
    """The severity of a message of the info log."""

    INFO = 0
    WARNING = 1
    ERROR = 2


class MemoryBudget(NotPickled):
    """Memory that several databases share (Options.shared_memory_budget). Thread-safe."""

    def __init__(self, size: int) -> None:
        self._handle = Handle(
            checked(lib.bigtable_memory_budget_new, size), lib.bigtable_memory_budget_free
        )


class Cancellation(NotPickled):
    """Cancels calls from another thread: those that were given it raise CancelledError soon, and so
    do all later ones. Thread-safe."""

    def __init__(self) -> None:
        self._handle = Handle(lib.bigtable_cancellation_new(), lib.bigtable_cancellation_free)

    def cancel(self) -> None:
        """Cancels the calls."""
        handle = self._handle
        lib.bigtable_cancellation_cancel(handle.pointer)


@dataclasses.dataclass(kw_only=True)
class Options:
    """How a database is opened. None means the default of the library. Database.open checks all
    options, and names the one that is out of range."""

    create_if_missing: bool | None = None
    """Creates the database if the directory is missing or empty. By default True."""
    error_if_exists: bool | None = None
    """AlreadyExistsError if there is a database."""
    allow_foreign_files: bool | None = None
    """Creates a database also in a directory with files of something else."""
    read_only: bool | None = None
    """Changes nothing in the directory. Writes raise FailedPreconditionError."""
    durability: Durability | None = None
    """Of writes that do not name another one."""
    memory_budget: int | None = None
    """Bytes for memtables and caches."""
    shared_memory_budget: MemoryBudget | None = None
    """A budget for several databases, instead of `memory_budget`."""
    memtable_size: int | None = None
    log_segment_size: int | None = None
    tablet_servers: int | None = None
    target_file_size: int | None = None
    compaction_threads: int | None = None
    compaction_rate: int | None = None
    """Bytes a second."""
    scan_cache: bool | None = None
    positional_reads: bool | None = None
    """Reads files by position, instead of mapping them."""
    max_open_files: int | None = None
    balance_interval: float | None = None
    """Seconds. Infinite: tablets are not moved."""
    metadata_tablet_size: int | None = None
    log: Callable[[LogSeverity, int, str], None] | None = None
    """Takes the messages of the info log: severity, time in microseconds, text. It is called by any
    thread, and must not call the database. Without it they go to the file LOG."""

    def _new_handle(self) -> Handle:
        handle = Handle(lib.bigtable_options_new(), lib.bigtable_options_free)
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if value is None or field.name == "log":
                continue
            if field.name == "shared_memory_budget":
                value = value._handle.pointer
            elif field.name == "balance_interval":
                value = _handle.to_micros(value)
            setter = getattr(lib, "bigtable_options_set_" + field.name)
            checked(setter, handle.pointer, value)
        if self.log is not None:
            number = next(_log_numbers)
            _log_functions[number] = self.log
            lib.bigtable_options_set_log_function(handle.pointer, _log, number, _end_log)
        return handle


_log_numbers = itertools.count(1)
_log_functions: dict[int, Callable[[LogSeverity, int, str], None]] = {}


# An exception of these does not pass to C: ctypes hands it to sys.unraisablehook.
def _call_log(number: int, severity: int, time: int, message: int, size: int) -> None:
    text = ctypes.string_at(message, size).decode("utf-8", "backslashreplace")
    _log_functions[number](LogSeverity(severity), time, text)


def _remove_log(number: int) -> None:
    _log_functions.pop(number, None)


_log = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_int, ctypes.c_int64, ctypes.c_void_p, ctypes.c_size_t
)(_call_log)
_end_log = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(_remove_log)


def call_options(timeout: float | None, cancellation: Cancellation | None) -> Handle | None:
    """Of calls that neither read nor write cells. None: the defaults."""
    if timeout is None and cancellation is None:
        return None
    needs = () if cancellation is None else (cancellation._handle,)
    handle = Handle(lib.bigtable_call_options_new(), lib.bigtable_call_options_free, *needs)
    if timeout is not None:
        lib.bigtable_call_options_set_timeout(handle.pointer, _handle.to_micros(timeout))
    if cancellation is not None:
        pointer = cancellation._handle.pointer
        lib.bigtable_call_options_set_cancellation(handle.pointer, pointer)
    return handle


def write_options(
    durability: Durability | None, timeout: float | None, cancellation: Cancellation | None
) -> Handle | None:
    """Of calls that write cells. None: the defaults."""
    if durability is None and timeout is None and cancellation is None:
        return None
    needs = () if cancellation is None else (cancellation._handle,)
    handle = Handle(lib.bigtable_write_options_new(), lib.bigtable_write_options_free, *needs)
    if durability is not None:
        checked(lib.bigtable_write_options_set_durability, handle.pointer, durability)
    if timeout is not None:
        lib.bigtable_write_options_set_timeout(handle.pointer, _handle.to_micros(timeout))
    if cancellation is not None:
        pointer = cancellation._handle.pointer
        lib.bigtable_write_options_set_cancellation(handle.pointer, pointer)
    return handle


@dataclasses.dataclass(kw_only=True)
class ReadOptions:
    """How rows are read."""

    snapshot: Snapshot | None = None
    """Reads at the snapshot. None: the data as it is when the call begins."""
    verify_checksums: bool = False
    """Verifies the checksums of all blocks that are read."""
    fill_cache: bool = True
    """Keeps the blocks that are read in the cache."""
    timeout: float | None = None
    """Seconds, counted from the beginning of the call that opens the stream or reads the row."""
    cancellation: Cancellation | None = None
    """Cancels the call, and the stream."""

    def _new_handle(self, reverse: bool, row_limit: int, cell_limit: int) -> Handle:
        needs = () if self.cancellation is None else (self.cancellation._handle,)
        handle = Handle(lib.bigtable_read_options_new(), lib.bigtable_read_options_free, *needs)
        pointer = handle.pointer
        if self.snapshot is not None:
            snapshot = self.snapshot._open_handle()
            lib.bigtable_read_options_set_snapshot(pointer, snapshot.pointer)
        if self.verify_checksums:
            lib.bigtable_read_options_set_verify_checksums(pointer, True)
        if not self.fill_cache:
            lib.bigtable_read_options_set_fill_cache(pointer, False)
        if reverse:
            lib.bigtable_read_options_set_reverse(pointer, True)
        if row_limit:
            checked(lib.bigtable_read_options_set_row_limit, pointer, row_limit)
        if cell_limit:
            checked(lib.bigtable_read_options_set_cell_limit, pointer, cell_limit)
        if self.timeout is not None:
            lib.bigtable_read_options_set_timeout(pointer, _handle.to_micros(self.timeout))
        if self.cancellation is not None:
            cancellation = self.cancellation._handle.pointer
            lib.bigtable_read_options_set_cancellation(pointer, cancellation)
        return handle


def read_options(
    options: ReadOptions | None, reverse: bool = False, row_limit: int = 0, cell_limit: int = 0
) -> Handle | None:
    """Of calls that read cells. None: the defaults."""
    if options is None and not reverse and not row_limit and not cell_limit:
        return None
    return (options or ReadOptions())._new_handle(reverse, row_limit, cell_limit)
