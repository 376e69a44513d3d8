"""The Bigtable paper as an embeddable storage engine: its C interface from Python.

    import bigtable

    with bigtable.Database("/tmp/web") as db:
        table = db.open_or_create_table("webtable", bigtable.Schema(["anchor", "contents"]))
        table.apply(bigtable.Mutation(b"com.cnn.www").set("anchor:cnnsi.com", b"CNN"))
        with table.scan(prefix=b"com.cnn") as rows:
            for row in rows:
                for cell in row:
                    print(row.key, cell.column, cell.timestamp, cell.value)

Row keys, qualifiers and values are bytes. Names of tables, families, groups and users are str, and
a column, "family:qualifier", may be either: a str is encoded as UTF-8.

The shared library is what the environment variable BIGTABLE_LIBRARY names, or else what the loader
of the system finds. If it is missing or too old, the import raises LibraryError.
"""

from __future__ import annotations

import ctypes as _ctypes

from . import _handle
from ._handle import output as _output
from ._library import lib as _lib
from .admin import AccessList, Quota, StorageCharge, StorageKind, Tablet
from .database import Database
from .errors import (
    AbortedError,
    AlreadyExistsError,
    CancelledError,
    ClosedError,
    Code,
    DataLossError,
    DeadlineExceededError,
    Error,
    FailedPreconditionError,
    InternalError,
    InvalidArgumentError,
    LibraryError,
    NotFoundError,
    OutOfRangeError,
    PermissionDeniedError,
    ResourceExhaustedError,
    UnauthenticatedError,
    UnavailableError,
    UnimplementedError,
    UnknownError,
)
from .filters import Filter
from .functions import (
    CompactedCell,
    ObservedMutation,
    ObservedOperation,
    ObserverContext,
    OperationKind,
    list_compaction_filters,
    list_observers,
    list_operators,
    register_compaction_filter,
    register_observer,
    register_operator,
)
from .mutation import (
    NO_END,
    Mutation,
    ReadModifyWrite,
    WriteBatch,
    decode_double,
    decode_int64,
    encode_double,
    encode_int64,
)
from .options import Cancellation, Durability, LogSeverity, MemoryBudget, Options, ReadOptions
from .rows import Cell, Row, RowSet, Scanner
from .schema import (
    ChangeStreamRule,
    CompactionStyle,
    Compression,
    Family,
    FamilyChanges,
    FilterKind,
    GcRule,
    LocalityGroup,
    Schema,
    SplitRule,
    TableSchema,
    ValueType,
)
from .snapshot import Snapshot
from .table import RowKeySample, Table
from .transaction import Transaction

__version__ = "0.1.0"


def library_version() -> str:
    """The version of the shared library that is running."""
    version: bytes = _lib.bigtable_version()
    return version.decode()


def estimate_hyper_log_log(value: bytes) -> int:
    """About how many different inputs a cell of a HYPER_LOG_LOG family has counted."""
    text = _handle.text_arguments(_handle.to_bytes(value))
    return _output(_lib.bigtable_estimate_hyper_log_log, *text) or 0


def decode_double_sum(value: bytes) -> float:
    """The double that is nearest to the sum in a cell of a DOUBLE_SUM family."""
    number = _ctypes.c_double()
    text = _handle.text_arguments(_handle.to_bytes(value))
    _handle.check(_lib.bigtable_decode_double_sum(*text, _ctypes.byref(number)))
    return number.value


__all__ = [
    "AbortedError",
    "AccessList",
    "AlreadyExistsError",
    "Cancellation",
    "CancelledError",
    "Cell",
    "ClosedError",
    "ChangeStreamRule",
    "Code",
    "CompactedCell",
    "CompactionStyle",
    "Compression",
    "DataLossError",
    "Database",
    "DeadlineExceededError",
    "Durability",
    "Error",
    "FailedPreconditionError",
    "Family",
    "FamilyChanges",
    "Filter",
    "FilterKind",
    "GcRule",
    "InternalError",
    "InvalidArgumentError",
    "LibraryError",
    "LocalityGroup",
    "LogSeverity",
    "MemoryBudget",
    "Mutation",
    "NO_END",
    "NotFoundError",
    "ObservedMutation",
    "ObservedOperation",
    "ObserverContext",
    "OperationKind",
    "Options",
    "OutOfRangeError",
    "PermissionDeniedError",
    "Quota",
    "ReadModifyWrite",
    "ReadOptions",
    "ResourceExhaustedError",
    "Row",
    "RowKeySample",
    "RowSet",
    "Scanner",
    "Schema",
    "Snapshot",
    "SplitRule",
    "StorageCharge",
    "StorageKind",
    "Table",
    "TableSchema",
    "Tablet",
    "Transaction",
    "UnauthenticatedError",
    "UnavailableError",
    "UnimplementedError",
    "UnknownError",
    "ValueType",
    "WriteBatch",
    "decode_double",
    "decode_double_sum",
    "decode_int64",
    "encode_double",
    "encode_int64",
    "estimate_hyper_log_log",
    "library_version",
    "list_compaction_filters",
    "list_observers",
    "list_operators",
    "register_compaction_filter",
    "register_observer",
    "register_operator",
]
