"""Snapshots: the state of a database at one sequence number."""

from __future__ import annotations

from types import TracebackType

from ._handle import Handle, NotPickled
from ._library import lib
from .errors import ClosedError


class Snapshot(NotPickled):
    """Every write that was acknowledged before Database.snapshot, and none that began after it.

    It holds what compactions would remove: close it soon. Thread-safe. Streams that were opened
    with it stay open when it is closed."""

    def __init__(self, handle: Handle) -> None:
        self._handle: Handle | None = handle

    def _open_handle(self) -> Handle:
        handle = self._handle
        if handle is None:
            raise ClosedError("the snapshot is closed")
        return handle

    @property
    def sequence(self) -> int:
        """The number of the last mutation that the snapshot contains."""
        handle = self._open_handle()
        return int(lib.bigtable_snapshot_sequence(handle.pointer))

    def close(self) -> None:
        """Releases the snapshot. A second call does nothing."""
        self._handle = None

    def __enter__(self) -> Snapshot:
        self._open_handle()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
