"""What a database returns about itself, access lists and quotas: plain values."""

from __future__ import annotations

import dataclasses
import enum
from typing import NamedTuple

from ._handle import Handle, check, checked, output, take_list, text_arguments, to_text
from ._library import lib


class Tablet(NamedTuple):
    """A tablet of a table (Database.list_tablets)."""

    begin_row: bytes
    end_row: bytes
    """The first row behind the tablet. Empty if there is none."""
    server: int
    """The number of the tablet server, from 0 on."""
    disk_bytes: int


class StorageKind(enum.IntEnum):
    """What bytes are charged to."""

    TABLE = 0
    FAMILY = 1
    OWNER = 2
    METADATA = 3


class StorageCharge(NamedTuple):
    """What a table, a family, an owner or METADATA takes (Database.storage)."""

    kind: StorageKind
    name: str
    """Of the table, or of the owner."""
    family: str
    disk_bytes: int
    memtable_bytes: int
    loaded_bytes: int
    """Copies in memory of SSTables."""


@dataclasses.dataclass(kw_only=True)
class AccessList:
    """The users that may read, and those that may write. "*" is everybody. Permission to write does
    not include reading."""

    readers: set[str] = dataclasses.field(default_factory=set)
    writers: set[str] = dataclasses.field(default_factory=set)

    def _new_handle(self) -> Handle:
        handle = Handle(lib.bigtable_access_list_new(), lib.bigtable_access_list_free)
        for user in self.readers:
            name = text_arguments(to_text(user))
            check(lib.bigtable_access_list_add_reader(handle.pointer, *name))
        for user in self.writers:
            name = text_arguments(to_text(user))
            check(lib.bigtable_access_list_add_writer(handle.pointer, *name))
        return handle

    @staticmethod
    def _of(handle: Handle) -> AccessList:
        readers = take_list(output(lib.bigtable_access_list_get_readers, handle.pointer))
        writers = take_list(output(lib.bigtable_access_list_get_writers, handle.pointer))
        return AccessList(readers=set(readers), writers=set(writers))


@dataclasses.dataclass(kw_only=True)
class Quota:
    """The limits of a table or a user. 0 is no limit. A call beyond them raises
    ResourceExhaustedError and changes nothing."""

    storage_bytes: int = 0
    requests_per_second: int = 0
    bytes_per_second: int = 0

    def _new_handle(self) -> Handle:
        handle = Handle(lib.bigtable_quota_new(), lib.bigtable_quota_free)
        for field in dataclasses.fields(self):
            setter = getattr(lib, "bigtable_quota_set_" + field.name)
            checked(setter, handle.pointer, getattr(self, field.name))
        return handle

    @staticmethod
    def _of(handle: Handle) -> Quota:
        return Quota(
            storage_bytes=lib.bigtable_quota_storage_bytes(handle.pointer),
            requests_per_second=lib.bigtable_quota_requests_per_second(handle.pointer),
            bytes_per_second=lib.bigtable_quota_bytes_per_second(handle.pointer),
        )
