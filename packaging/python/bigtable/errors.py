"""The errors of the library: one class for each status code."""

from __future__ import annotations

import enum
from collections.abc import Sequence


class Code(enum.IntEnum):
    """The canonical status codes, with the numbers of gRPC."""

    CANCELLED = 1
    UNKNOWN = 2
    INVALID_ARGUMENT = 3
    DEADLINE_EXCEEDED = 4
    NOT_FOUND = 5
    ALREADY_EXISTS = 6
    PERMISSION_DENIED = 7
    RESOURCE_EXHAUSTED = 8
    FAILED_PRECONDITION = 9
    ABORTED = 10
    OUT_OF_RANGE = 11
    UNIMPLEMENTED = 12
    INTERNAL = 13
    UNAVAILABLE = 14
    DATA_LOSS = 15
    UNAUTHENTICATED = 16


class Error(Exception):
    """An error of the library. Its text is the library's message.

    `code` is a Code, or another number, of a later version of the library. `retry_after` is the
    number of seconds after which a call that a quota has refused may succeed, otherwise None.
    """

    code: int = Code.UNKNOWN
    retry_after: float | None = None
    errors: Sequence[Error | None] = ()
    """Of Table.apply_batch: for each mutation its error, or None if it was applied."""


class CancelledError(Error):
    """The call was given a Cancellation, which was cancelled."""

    code = Code.CANCELLED


class UnknownError(Error):
    """An error without a canonical code."""

    code = Code.UNKNOWN


class InvalidArgumentError(Error):
    """The caller's mistake. The message names the value and the rule."""

    code = Code.INVALID_ARGUMENT


class DeadlineExceededError(Error):
    """The timeout of the call has passed."""

    code = Code.DEADLINE_EXCEEDED


class NotFoundError(Error):
    """There is no such table, family, cell or directory."""

    code = Code.NOT_FOUND


class AlreadyExistsError(Error):
    """There is such a table, family or tablet already."""

    code = Code.ALREADY_EXISTS


class PermissionDeniedError(Error):
    """An access list does not allow the call, or the file system does not."""

    code = Code.PERMISSION_DENIED


class ResourceExhaustedError(Error):
    """A quota, the disk or the memory does not suffice. `retry_after`: a quota of a rate."""

    code = Code.RESOURCE_EXHAUSTED


class FailedPreconditionError(Error):
    """The state of the database does not allow the call."""

    code = Code.FAILED_PRECONDITION


class ClosedError(FailedPreconditionError):
    """The object that the call needs was closed."""


class AbortedError(Error):
    """A transaction is in conflict with another write. Nothing was applied: run it again."""

    code = Code.ABORTED


class OutOfRangeError(Error):
    """A number is out of range."""

    code = Code.OUT_OF_RANGE


class UnimplementedError(Error):
    """The library does not offer this."""

    code = Code.UNIMPLEMENTED


class InternalError(Error):
    """A defect of the library."""

    code = Code.INTERNAL


class UnavailableError(Error):
    """For now the call cannot be served. It may succeed later."""

    code = Code.UNAVAILABLE


class DataLossError(Error):
    """Data is corrupt or lost. The message names the file and the offset."""

    code = Code.DATA_LOSS


class UnauthenticatedError(Error):
    """The caller is not known."""

    code = Code.UNAUTHENTICATED


class LibraryError(ImportError):
    """The shared library is missing, too old, or something else."""


_CLASSES: dict[int, type[Error]] = {
    int(cls.code): cls for cls in Error.__subclasses__()
}


def new_error(code: int, message: str, retry_after: float | None = None) -> Error:
    """The error of a status code: an UnknownError if the code is not known."""
    error = _CLASSES.get(code, UnknownError)(message)
    if error.code != code:
        error.code = code
    if retry_after is not None:
        error.retry_after = retry_after
    return error
