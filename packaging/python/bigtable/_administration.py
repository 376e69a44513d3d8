"""What a database offers to administrators: the base class of Database."""

from __future__ import annotations

from collections.abc import Callable

from . import _handle
from ._handle import Bytes, Handle, NotPickled, as_handle, check, checked, output
from ._handle import text_arguments, to_bytes, to_text, view
from ._library import lib
from .admin import AccessList, Quota, StorageCharge, StorageKind, Tablet
from .errors import ClosedError
from .options import Cancellation, call_options

# Later versions of the library may have more.
_STORAGE_KINDS = frozenset(StorageKind)


class DatabaseState:
    """The handle of a database, which its tables share."""

    __slots__ = ("handle", "__weakref__")

    def __init__(self, handle: Handle) -> None:
        self.handle: Handle | None = handle

    def open_handle(self) -> Handle:
        """Raises ClosedError if the database is closed."""
        handle = self.handle
        if handle is None:
            raise ClosedError("the database is closed")
        return handle

    def close(self) -> None:
        """Closes the database. A second call does nothing."""
        handle = self.handle
        if handle is not None:
            try:
                check(lib.bigtable_database_close(handle.pointer))
            finally:
                self.handle = None  # freed once no call, transaction or scanner uses it


def texts(*names: str) -> list[bytes | int]:
    arguments: list[bytes | int] = []
    for name in names:
        arguments += text_arguments(to_text(name))
    return arguments


class Administration(NotPickled):
    """Statistics, tablets, options that change, access lists and quotas of a database."""

    _state: DatabaseState

    def _call(
        self,
        function: Callable[..., int | None],
        *arguments: object,
        timeout: float | None = None,
        cancellation: Cancellation | None = None,
    ) -> None:
        """Calls a function whose first argument is the database, and whose last is CallOptions."""
        handle = self._state.open_handle()
        options = call_options(timeout, cancellation)
        check(checked(function, handle.pointer, *arguments, as_handle(options)))

    def _output(self, function: Callable[..., int | None], *arguments: object) -> int | None:
        handle = self._state.open_handle()
        return output(function, handle.pointer, *arguments)

    # --- Statistics ---

    def statistics(self) -> str:
        """The statistics in Prometheus' text format."""
        text = self._output(lib.bigtable_database_get_statistics)
        return _handle.from_text(_handle.take_string(text))

    def storage(self) -> list[StorageCharge]:
        """What tables, families and owners take, and METADATA: sorted by kind, name and family."""
        storage = self._output(lib.bigtable_database_get_storage)
        try:
            return [
                StorageCharge(
                    StorageKind(lib.bigtable_storage_kind(storage, i)),
                    _handle.from_text(view(lib.bigtable_storage_name, storage, i)),
                    _handle.from_text(view(lib.bigtable_storage_family, storage, i)),
                    lib.bigtable_storage_disk_bytes(storage, i),
                    lib.bigtable_storage_memtable_bytes(storage, i),
                    lib.bigtable_storage_loaded_bytes(storage, i),
                )
                for i in range(lib.bigtable_storage_count(storage))
                if lib.bigtable_storage_kind(storage, i) in _STORAGE_KINDS
            ]
        finally:
            lib.bigtable_storage_free(storage)

    # --- Tablets ---

    def list_tablets(self, table: str) -> list[Tablet]:
        """The tablets of a table as they are now, in key order."""
        tablets = self._output(lib.bigtable_database_list_tablets, *texts(table))
        try:
            return [
                Tablet(
                    view(lib.bigtable_tablets_begin_row, tablets, i),
                    view(lib.bigtable_tablets_end_row, tablets, i),
                    lib.bigtable_tablets_server(tablets, i),
                    lib.bigtable_tablets_disk_bytes(tablets, i),
                )
                for i in range(lib.bigtable_tablets_count(tablets))
            ]
        finally:
            lib.bigtable_tablets_free(tablets)

    def split_tablet(self, table: str, row: Bytes) -> None:
        """Splits a tablet so that `row` is the first of the new one."""
        key = text_arguments(to_bytes(row))
        self._call(lib.bigtable_database_split_tablet, *texts(table), *key)

    def merge_tablets(self, table: str, row: Bytes) -> None:
        """Merges the tablet that begins with `row` with the one before it."""
        key = text_arguments(to_bytes(row))
        self._call(lib.bigtable_database_merge_tablets, *texts(table), *key)

    def move_tablet(self, table: str, row: Bytes, server: int) -> None:
        """Moves the tablet that contains `row` to a tablet server."""
        key = text_arguments(to_bytes(row))
        self._call(lib.bigtable_database_move_tablet, *texts(table), *key, server)

    # --- Options that change ---

    def set_option(self, name: str, value: str) -> None:
        """Changes an option of the open database."""
        handle = self._state.open_handle()
        check(lib.bigtable_database_set_option(handle.pointer, *texts(name, value)))

    def get_option(self, name: str) -> str:
        """The present value of an option that can be changed."""
        value = self._output(lib.bigtable_database_get_option, *texts(name))
        return _handle.from_text(_handle.take_string(value))

    def list_options(self) -> list[str]:
        """The names of the options that can be changed, sorted."""
        return _handle.take_list(self._output(lib.bigtable_database_list_options))

    # --- Access lists and quotas ---

    def set_access_list(self, name: str, access_list: AccessList) -> None:
        """Creates or replaces an access list."""
        made = access_list._new_handle()
        self._call(lib.bigtable_database_set_access_list, *texts(name), made.pointer)

    def get_access_list(self, name: str) -> AccessList:
        """The access list with this name."""
        pointer = self._output(lib.bigtable_database_get_access_list, *texts(name))
        return AccessList._of(Handle(pointer, lib.bigtable_access_list_free))

    def delete_access_list(self, name: str) -> None:
        """Deletes an access list that no family uses."""
        self._call(lib.bigtable_database_delete_access_list, *texts(name))

    def list_access_lists(self) -> list[str]:
        """The names of the access lists, sorted."""
        return _handle.take_list(self._output(lib.bigtable_database_list_access_lists))

    def set_table_quota(self, table: str, quota: Quota | None) -> None:
        """Replaces the quota of a table. None removes it."""
        made = None if quota is None else quota._new_handle()
        self._call(lib.bigtable_database_set_table_quota, *texts(table), as_handle(made))

    def get_table_quota(self, table: str) -> Quota:
        """The quota of a table, without limits if there is none."""
        pointer = self._output(lib.bigtable_database_get_table_quota, *texts(table))
        return Quota._of(Handle(pointer, lib.bigtable_quota_free))

    def list_table_quotas(self) -> list[str]:
        """The tables that have a quota, sorted."""
        return _handle.take_list(self._output(lib.bigtable_database_list_table_quotas))

    def set_user_quota(self, user: str, quota: Quota | None) -> None:
        """Replaces the quota of a user. None removes it."""
        made = None if quota is None else quota._new_handle()
        self._call(lib.bigtable_database_set_user_quota, *texts(user), as_handle(made))

    def get_user_quota(self, user: str) -> Quota:
        """The quota of a user, without limits if there is none."""
        pointer = self._output(lib.bigtable_database_get_user_quota, *texts(user))
        return Quota._of(Handle(pointer, lib.bigtable_quota_free))

    def list_user_quotas(self) -> list[str]:
        """The users that have a quota, sorted."""
        return _handle.take_list(self._output(lib.bigtable_database_list_user_quotas))
