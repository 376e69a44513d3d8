"""Handles of the C interface, and what its functions take and return.

Lifetime. A Handle frees its C object once nothing refers to it. A method takes the Handle into a
local variable before it passes the pointer to C. So close(), which only drops the reference of the
object that is closed, never frees what another thread is using.

Order. What a C object needs, such as the database of a transaction, is in `needs`. The module keeps
it in a dictionary until the object was freed. So also the garbage collector, which finalizes the
objects of a cycle in any order, frees them in the right one.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, NoReturn

from ._library import lib
from .errors import Error, InvalidArgumentError, new_error

Text = bytes | str
"""A name or a column. A str is encoded as UTF-8."""
Bytes = bytes | bytearray | memoryview
"""A row key, a value, or a part of one."""

# What the live handles need, by the id of the handle.
_needs: dict[int, tuple[Any, ...]] = {}


class Handle:
    """A C object, which is freed with the last reference to this one."""

    __slots__ = ("pointer", "_free", "__weakref__")

    def __init__(self, pointer: int | None, free: Callable[[int], Any] | None, *needs: Any) -> None:
        self.pointer = pointer
        self._free = free
        if needs:
            _needs[id(self)] = needs

    def __del__(self, _needs: dict[int, tuple[Any, ...]] = _needs) -> None:
        if self._free is not None and self.pointer:
            self._free(self.pointer)
        _needs.pop(id(self), None)


class NotPickled:
    """What is a part of this process, and cannot be pickled or copied."""

    __slots__ = ()

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"{type(self).__name__} cannot be pickled: it is a part of this process")


def check(error: int | None) -> None:
    """Raises the error that a C function has returned, if it has."""
    if error:
        raise take_error(error)


def take_error(error: int) -> Error:
    """The exception of a C error, which is freed."""
    size = ctypes.c_size_t()
    message = lib.bigtable_error_message(error, ctypes.byref(size))
    text = ctypes.string_at(message, size.value).decode("utf-8", "backslashreplace")
    retry_after = lib.bigtable_error_retry_after(error)
    result = new_error(
        lib.bigtable_error_code(error), text, retry_after / 1e6 if retry_after >= 0 else None
    )
    lib.bigtable_error_free(error)
    return result


def guard(
    function: Callable[..., int | None], failed: Callable[[BaseException], int | None]
) -> Callable[..., int | None]:
    """A callback with a result, from which no exception passes to C: ctypes would return a random
    result. After an exception the result is that of `failed`."""

    def call(*arguments: Any) -> int | None:
        try:
            return function(*arguments)
        except BaseException as failure:
            try:
                return failed(failure)
            except BaseException as second:  # Ctrl-C
                return failed(second)

    return call


def _raise(failure: BaseException) -> None:
    raise failure


report_unraisable = ctypes.CFUNCTYPE(None, ctypes.py_object)(_raise)
"""Passes an exception that nobody can catch to sys.unraisablehook, as ctypes does."""

_RANGES: dict[Any, tuple[int, int]] = {
    ctypes.c_int: (-(2**31), 2**31 - 1),
    ctypes.c_int64: (-(2**63), 2**63 - 1),
    ctypes.c_uint64: (0, 2**64 - 1),
    ctypes.c_size_t: (0, 2**64 - 1),
}


def checked(function: Any, *arguments: Any) -> Any:
    """Calls a C function with numbers of the program. ctypes would cut one that does not fit:
    InvalidArgumentError."""
    for type_, argument in zip(function.argtypes, arguments, strict=True):
        if isinstance(argument, int) and type_ in _RANGES:
            low, high = _RANGES[type_]
            if not low <= argument <= high:
                name = function.__name__.removeprefix("bigtable_")
                raise InvalidArgumentError(
                    f"{name}: the number {argument} must be from {low} to {high}"
                )
    return function(*arguments)


def output(function: Callable[..., Any], *arguments: Any) -> int | None:
    """Calls a C function that stores its result through its last parameter."""
    result = ctypes.c_void_p()
    check(function(*arguments, ctypes.byref(result)))
    return result.value


def to_text(text: Text) -> bytes:
    """The bytes of a name or a column."""
    if isinstance(text, str):
        return text.encode()
    if isinstance(text, bytes):
        return text
    raise TypeError(f"a name must be str or bytes, not {type(text).__name__}")


def to_bytes(data: Bytes) -> bytes:
    """The bytes of a row key or a value."""
    if isinstance(data, (bytes, bytearray, memoryview)):
        return bytes(data)
    raise TypeError(f"a row key or a value must be bytes, not {type(data).__name__}")


def text_arguments(text: bytes) -> tuple[bytes, int]:
    """The two arguments of C that are a text."""
    return text, len(text)


def from_text(text: bytes) -> str:
    """A name that the library has returned."""
    return text.decode("utf-8", "surrogateescape")


def view(function: Callable[..., Any], *arguments: Any) -> bytes:
    """A copy of the text that a C function returns. Empty if there is none."""
    size = ctypes.c_size_t()
    pointer = function(*arguments, ctypes.byref(size))
    return ctypes.string_at(pointer, size.value) if pointer else b""


def take_string(string: int | None) -> bytes:
    """A copy of a C string, which is freed."""
    try:
        return view(lib.bigtable_string_data, string)
    finally:
        lib.bigtable_string_free(string)


def take_list(strings: int | None) -> list[str]:
    """A copy of a C list of names, which is freed."""
    try:
        count = lib.bigtable_string_list_count(strings)
        return [from_text(view(lib.bigtable_string_list_get, strings, i)) for i in range(count)]
    finally:
        lib.bigtable_string_list_free(strings)


def to_micros(seconds: float) -> int:
    """A time in microseconds, as C has it."""
    micros = round(seconds * 1e6) if seconds < 9e12 else 2**63 - 1
    if micros < -(2**63):
        raise InvalidArgumentError(f"a time must not be {seconds} seconds")
    return micros


def as_handle(value: Handle | None) -> int | None:
    """The pointer of a handle that may be missing."""
    return None if value is None else value.pointer

