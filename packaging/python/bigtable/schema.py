"""Schemas of tables, and changes of them."""

from __future__ import annotations

import dataclasses
import datetime
import enum
from collections.abc import Iterable, Mapping, Sequence

from . import _handle
from ._handle import Handle, NotPickled, check, checked, output, text_arguments, to_text, view
from ._library import lib


class Compression(enum.IntEnum):
    """How the blocks of SSTables are compressed."""

    NONE = 0
    ZSTD = 1
    ZSTD_LONG_WINDOW = 2


class FilterKind(enum.IntEnum):
    """How reads skip files that do not contain a row."""

    NONE = 0
    ROW = 1
    ROW_AND_COLUMN = 2
    ROW_INDEX = 3


class CompactionStyle(enum.IntEnum):
    """Which SSTables compactions merge."""

    SIZE_TIERED = 0
    LEVELED = 1
    FIFO = 2
    NONE = 3


class ValueType(enum.IntEnum):
    """What the cells of a family hold: bytes, or aggregates that Mutation.add writes."""

    BYTES = 0
    INT64_SUM = 1
    INT64_MIN = 2
    INT64_MAX = 3
    HYPER_LOG_LOG = 4
    DOUBLE_SUM = 5
    DOUBLE_MIN = 6
    DOUBLE_MAX = 7


class GcRule(NotPickled):
    """Which versions of a column are dropped. `a | b` drops what either rule drops, `a & b` what
    both drop."""

    def __init__(self, handle: Handle) -> None:
        """Not for others: max_versions, max_age and the operators make rules."""
        self._handle = handle

    @staticmethod
    def max_versions(versions: int) -> GcRule:
        """Keeps the newest versions of each column."""
        return _rule(checked(lib.bigtable_gc_rule_max_versions_new, versions))

    @staticmethod
    def max_age(age: datetime.timedelta) -> GcRule:
        """Keeps cells with a timestamp within `age` of the present."""
        return _rule(lib.bigtable_gc_rule_max_age_new(age // datetime.timedelta(microseconds=1)))

    def __or__(self, other: GcRule) -> GcRule:
        return _rule(lib.bigtable_gc_rule_union_new(self._handle.pointer, other._handle.pointer))

    def __and__(self, other: GcRule) -> GcRule:
        return _rule(
            lib.bigtable_gc_rule_intersection_new(self._handle.pointer, other._handle.pointer)
        )


def _rule(pointer: int) -> GcRule:
    return GcRule(Handle(pointer, lib.bigtable_gc_rule_free))


def rule_pointer(rule: GcRule | None) -> int | None:
    """For C: NULL keeps everything."""
    return None if rule is None else rule._handle.pointer


@dataclasses.dataclass(kw_only=True)
class LocalityGroup:
    """How the families of a group are stored. None means the default of the library. The call that
    creates the table names what is out of range."""

    compression: Compression | None = None
    compression_level: int | None = None
    block_size: int | None = None
    filter: FilterKind | None = None
    filter_bits: int | None = None
    in_memory: bool | None = None
    compaction: CompactionStyle | None = None
    compaction_factor: int | None = None
    compaction_policy: str | None = None
    """A policy that code in C++ has registered. It replaces `compaction`."""

    def _new_handle(self) -> Handle:
        handle = Handle(lib.bigtable_locality_group_new(), lib.bigtable_locality_group_free)
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if value is None:
                continue
            arguments = (value,) if not isinstance(value, str) else text_arguments(to_text(value))
            setter = getattr(lib, "bigtable_locality_group_set_" + field.name)
            checked(setter, handle.pointer, *arguments)
        return handle


@dataclasses.dataclass(kw_only=True)
class Family:
    """A column family."""

    locality_group: str = ""
    """Empty: the group "default", which every table has."""
    gc_rule: GcRule | None = None
    """None: everything is kept. Also None in what Database.get_schema returns, since the library
    does not return rules to C."""
    value_type: ValueType = ValueType.BYTES
    value_operator: str = ""
    """The registered operator that merges the cells."""
    access_list: str = ""
    """Empty: every user may read and write."""
    owner: str = ""
    """The user to whom the bytes are charged. Empty: nobody."""
    compaction_filter: str = ""
    """The registered filter of compactions."""


@dataclasses.dataclass(kw_only=True)
class SplitRule:
    """When tablets are split and merged: sizes in bytes, and the length of the prefix of rows that
    stay together."""

    tablet_size: int
    merge_size: int = 0
    prefix_length: int = 0


@dataclasses.dataclass(kw_only=True)
class ChangeStreamRule:
    """How long the changes of a table are kept, and at most how many bytes of them. Without a
    retention the table has no change stream."""

    retention: datetime.timedelta = datetime.timedelta()
    max_bytes: int = 16 << 30

    def _arguments(self) -> tuple[int, int]:
        return self.retention // datetime.timedelta(microseconds=1), self.max_bytes


@dataclasses.dataclass
class Schema:
    """What a table is created with. Families may be given as names alone."""

    families: Mapping[str, Family] | Iterable[str]
    locality_groups: Mapping[str, LocalityGroup] = dataclasses.field(default_factory=dict)
    observers: Sequence[str] = ()
    """The names of registered observers, in call order."""
    split_rule: SplitRule | None = None
    split_rows: Sequence[bytes] = ()
    """Rows that begin a tablet when the table is created."""
    change_stream: ChangeStreamRule | None = None

    def _new_handle(self) -> Handle:
        handle = Handle(lib.bigtable_schema_new(), lib.bigtable_schema_free)
        schema = handle.pointer
        for name, group in self.locality_groups.items():
            made = group._new_handle()
            check(
                lib.bigtable_schema_add_locality_group(
                    schema, *text_arguments(to_text(name)), made.pointer
                )
            )
        for name, family in self._families().items():
            add_family(handle, to_text(name), family)
        for name in self.observers:
            check(lib.bigtable_schema_add_observer(schema, *text_arguments(to_text(name))))
        if self.split_rule is not None:
            rule = self.split_rule
            sizes = (rule.tablet_size, rule.merge_size, rule.prefix_length)
            checked(lib.bigtable_schema_set_split_rule, schema, *sizes)
        if self.change_stream is not None:
            limits = self.change_stream._arguments()
            checked(lib.bigtable_schema_set_change_stream, schema, *limits)
        for row in self.split_rows:
            check(
                lib.bigtable_schema_add_split_row(schema, *text_arguments(_handle.to_bytes(row)))
            )
        return handle

    def _families(self) -> Mapping[str, Family]:
        if isinstance(self.families, Mapping):
            return self.families
        if isinstance(self.families, str):
            raise TypeError("the families of a schema must be a mapping or several names")
        return {name: Family() for name in self.families}


def add_family(schema: Handle, name: bytes, family: Family) -> None:
    """Adds a family to a C schema."""
    family_name = text_arguments(name)
    group = text_arguments(to_text(family.locality_group))
    check(
        lib.bigtable_schema_add_family(
            schema.pointer, *family_name, *group, rule_pointer(family.gc_rule)
        )
    )
    if family.value_type != ValueType.BYTES:
        setter = lib.bigtable_schema_set_value_type
        check(checked(setter, schema.pointer, *family_name, family.value_type))
    for part in ("access_list", "owner", "value_operator", "compaction_filter"):
        value = to_text(getattr(family, part))
        if value:
            function = getattr(lib, "bigtable_schema_set_" + part)
            check(function(schema.pointer, *family_name, *text_arguments(value)))


class TableSchema(NotPickled):
    """The schema of an existing table, as of the call of Database.get_schema. It can be passed to
    Database.create_table, to create another table like it, with all that C does not show."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    def _new_handle(self) -> Handle:
        return self._handle

    @property
    def families(self) -> dict[str, Family]:
        """The families by name, without their garbage collection rules."""
        pointer = self._handle.pointer
        names = _handle.take_list(output(lib.bigtable_schema_list_families, pointer))
        return {name: self._family(name) for name in names}

    @property
    def locality_groups(self) -> list[str]:
        """The names of the locality groups."""
        pointer = self._handle.pointer
        return _handle.take_list(output(lib.bigtable_schema_list_locality_groups, pointer))

    @property
    def observers(self) -> list[str]:
        """The names of the observers, in call order."""
        pointer = self._handle.pointer
        return _handle.take_list(output(lib.bigtable_schema_list_observers, pointer))

    def _family(self, name: str) -> Family:
        arguments = (self._handle.pointer, *text_arguments(to_text(name)))

        def text(part: str) -> str:
            function = getattr(lib, "bigtable_schema_family_" + part)
            return _handle.from_text(view(function, *arguments))

        return Family(
            locality_group=text("locality_group"),
            value_type=ValueType(lib.bigtable_schema_family_value_type(*arguments)),
            value_operator=text("value_operator"),
            access_list=text("access_list"),
            owner=text("owner"),
            compaction_filter=text("compaction_filter"),
        )


class FamilyChanges(NotPickled):
    """Changes of families of one table that are made together or not at all, in call order
    (Database.modify_families). Each method returns the object. One thread at a time."""

    def __init__(self) -> None:
        self._handle = Handle(lib.bigtable_family_changes_new(), lib.bigtable_family_changes_free)

    def add(self, name: str, family: Family | None = None) -> FamilyChanges:
        """Adds a family."""
        schema = Schema({name: family or Family()})._new_handle()
        check(
            lib.bigtable_family_changes_add_schema_family(
                self._handle.pointer, *text_arguments(to_text(name)), schema.pointer
            )
        )
        return self

    def drop(self, name: str) -> FamilyChanges:
        """Drops a family with its cells."""
        check(
            lib.bigtable_family_changes_drop_family(
                self._handle.pointer, *text_arguments(to_text(name))
            )
        )
        return self

    def set_gc_rule(self, name: str, rule: GcRule | None) -> FamilyChanges:
        """Replaces the rule of a family. None: everything is kept."""
        check(
            lib.bigtable_family_changes_set_gc_rule(
                self._handle.pointer, *text_arguments(to_text(name)), rule_pointer(rule)
            )
        )
        return self

    def set_access_list(self, name: str, access_list: str) -> FamilyChanges:
        """Replaces the access list of a family. Empty: none."""
        return self._set("access_list", name, access_list)

    def set_compaction_filter(self, name: str, compaction_filter: str) -> FamilyChanges:
        """Replaces the compaction filter of a family. Empty: none."""
        return self._set("compaction_filter", name, compaction_filter)

    def set_owner(self, name: str, owner: str) -> FamilyChanges:
        """Replaces the owner of a family. Empty: nobody."""
        return self._set("owner", name, owner)

    def _set(self, part: str, name: str, value: str) -> FamilyChanges:
        function = getattr(lib, "bigtable_family_changes_set_" + part)
        texts = (*text_arguments(to_text(name)), *text_arguments(to_text(value)))
        check(function(self._handle.pointer, *texts))
        return self
