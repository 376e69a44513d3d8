"""Filters: which cells of a row a read returns."""

from __future__ import annotations

import ctypes

from . import _handle
from ._handle import Bytes, Handle, NotPickled, Text, check, checked, text_arguments
from ._library import lib


def _text(text: Text | Bytes) -> tuple[bytes, int]:
    return text_arguments(text.encode() if isinstance(text, str) else _handle.to_bytes(text))


class Filter(NotPickled):
    """Passes some cells of each row. Thread-safe, and may be used any number of times.

    A filter that is invalid raises InvalidArgumentError when it is made. Regular expressions are
    RE2's, and match the whole text. In all of them a str is encoded as UTF-8."""

    def __init__(self, handle: Handle) -> None:
        """Not for others: the static methods make filters."""
        self._handle = handle

    @staticmethod
    def pass_all() -> Filter:
        """Every cell."""
        return _new(lib.bigtable_filter_pass_all_new())

    @staticmethod
    def block_all() -> Filter:
        """No cell."""
        return _new(lib.bigtable_filter_block_all_new())

    @staticmethod
    def latest(versions: int = 1) -> Filter:
        """The newest versions of each column."""
        return _new(checked(lib.bigtable_filter_latest_new, versions))

    @staticmethod
    def family(family: Text) -> Filter:
        """The cells of a family."""
        return _new(lib.bigtable_filter_family_new(*_text(family)))

    @staticmethod
    def family_regex(regex: Text) -> Filter:
        """The cells of the families that match."""
        return _new(lib.bigtable_filter_family_regex_new(*_text(regex)))

    @staticmethod
    def column(family: Text, qualifier: Text) -> Filter:
        """The cells of a column."""
        return _new(lib.bigtable_filter_column_new(*_text(family), *_text(qualifier)))

    @staticmethod
    def column_prefix(family: Text, prefix: Text) -> Filter:
        """The columns of a family whose qualifiers begin with the prefix."""
        return _new(lib.bigtable_filter_column_prefix_new(*_text(family), *_text(prefix)))

    @staticmethod
    def column_range(family: Text, begin: Text = b"", end: Text = b"") -> Filter:
        """The columns of a family with qualifiers in [begin, end). An empty end is no end."""
        return _new(
            lib.bigtable_filter_column_range_new(*_text(family), *_text(begin), *_text(end))
        )

    @staticmethod
    def column_regex(regex: Text) -> Filter:
        """The columns whose qualifiers match."""
        return _new(lib.bigtable_filter_column_regex_new(*_text(regex)))

    @staticmethod
    def timestamp_range(begin: int = 0, end: int | None = None) -> Filter:
        """Cells with timestamps in [begin, end), in microseconds. None is no end."""
        last = 2**63 - 1 if end is None else end
        return _new(checked(lib.bigtable_filter_timestamp_range_new, begin, last))

    @staticmethod
    def row_regex(regex: Text) -> Filter:
        """The rows whose keys match."""
        return _new(lib.bigtable_filter_row_regex_new(*_text(regex)))

    @staticmethod
    def value_regex(regex: Text) -> Filter:
        """Cells whose values match."""
        return _new(lib.bigtable_filter_value_regex_new(*_text(regex)))

    @staticmethod
    def value_range(begin: Bytes = b"", end: Bytes = b"") -> Filter:
        """Cells with values in [begin, end) by their bytes. An empty end is no end."""
        return _new(lib.bigtable_filter_value_range_new(*_text(begin), *_text(end)))

    @staticmethod
    def row_sample(probability: float) -> Filter:
        """Each row with this probability, between 0 and 1."""
        return _new(lib.bigtable_filter_row_sample_new(probability))

    @staticmethod
    def cells_row_limit(cells: int) -> Filter:
        """The first cells of each row."""
        return _new(checked(lib.bigtable_filter_cells_row_limit_new, cells))

    @staticmethod
    def cells_row_offset(cells: int) -> Filter:
        """All but the first cells of each row."""
        return _new(checked(lib.bigtable_filter_cells_row_offset_new, cells))

    @staticmethod
    def strip_value() -> Filter:
        """Cells with empty values."""
        return _new(lib.bigtable_filter_strip_value_new())

    @staticmethod
    def apply_label(label: Text) -> Filter:
        """Cells with this label: 1 to 15 characters of [a-z0-9-]."""
        return _new(lib.bigtable_filter_apply_label_new(*_text(label)))

    @staticmethod
    def sink() -> Filter:
        """Passes nothing on: its cells are in the result, whatever filters follow."""
        return _new(lib.bigtable_filter_sink_new())

    @staticmethod
    def chain(*filters: Filter) -> Filter:
        """Each filter sees the cells that the one before it passes."""
        return _new(lib.bigtable_filter_chain_new(_array(filters), len(filters)))

    @staticmethod
    def interleave(*filters: Filter) -> Filter:
        """The cells that each of the filters passes, together and in the order of the row."""
        return _new(lib.bigtable_filter_interleave_new(_array(filters), len(filters)))

    @staticmethod
    def condition(predicate: Filter, if_true: Filter, if_false: Filter | None = None) -> Filter:
        """`if_true` for the rows of which `predicate` passes a cell, `if_false` for the others."""
        return _new(
            lib.bigtable_filter_condition_new(
                predicate._handle.pointer, if_true._handle.pointer, filter_pointer(if_false)
            )
        )


def _new(pointer: int) -> Filter:
    handle = Handle(pointer, lib.bigtable_filter_free)
    check(lib.bigtable_filter_check(pointer))
    return Filter(handle)


def _array(filters: tuple[Filter, ...]) -> ctypes.Array[ctypes.c_void_p]:
    return (ctypes.c_void_p * len(filters))(*[each._handle.pointer for each in filters])


def filter_pointer(cells: Filter | None) -> int | None:
    """For C: NULL passes every cell."""
    return None if cells is None else cells._handle.pointer
