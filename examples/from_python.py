#!/usr/bin/env python3
"""The library from Python, through the functions of bigtable/c.h and ctypes: writes three pages in
a transaction, which reads one of them, and scans those of one site.

    from_python.py DATABASE_DIRECTORY [LIBRARY]     (libbigtable.so by default)
"""
import ctypes
import sys

# Result, name and parameters of the functions that are used. "error" can fail; "output" can fail
# too, and stores its result through its last parameter; "view" is text, whose size is stored.
FUNCTIONS = """
int error_code handle | view error_message handle | none error_free handle | handle schema_new
error schema_add_family handle text text handle | none schema_free handle
output database_open text handle | error database_close handle | none database_free handle
output database_open_or_create_table handle text handle handle | handle mutation_new text
none mutation_set_at handle text int64 text | none mutation_free handle
output database_begin_transaction handle handle | none transaction_free handle
output transaction_read_row handle handle text handle handle | none row_free handle
error transaction_apply handle handle handle | error transaction_commit handle handle
output table_read_rows handle handle handle handle | handle row_set_new
none row_set_add_prefix handle text | none row_set_free handle | output rows_next handle
none rows_free handle | view row_key handle | size row_cell_count handle
view row_cell_family handle size | view row_cell_qualifier handle size
int64 row_cell_timestamp handle size | view row_cell_value handle size
"""
TYPES = {"int": ctypes.c_int, "int64": ctypes.c_int64, "size": ctypes.c_size_t, "none": None}


class Bigtable:
    """Has a method for each function. Text is bytes; errors are raised."""
    def __init__(self, path):
        library = ctypes.CDLL(path)
        for declaration in FUNCTIONS.replace("\n", "|").strip("|").split("|"):
            result, name, *parameters = declaration.split()
            setattr(self, name, self._bind(library["bigtable_" + name], result, parameters))

    def _bind(self, function, result, parameters):
        function.restype = TYPES.get(result, ctypes.c_void_p)
        function.argtypes = sum(([ctypes.c_char_p, ctypes.c_size_t] if kind == "text"
                                 else [TYPES.get(kind, ctypes.c_void_p)] for kind in parameters), [])
        if result in ("view", "output"):
            function.argtypes += [ctypes.c_void_p]

        def call(*arguments):
            values = sum(([argument, len(argument)] if kind == "text" else [argument]
                          for kind, argument in zip(parameters, arguments, strict=True)), [])
            if result == "view":
                size = ctypes.c_size_t()
                return ctypes.string_at(function(*values, ctypes.byref(size)), size.value)
            if result not in ("error", "output"):
                return function(*values)
            output = ctypes.c_void_p()
            error = function(*values, *([ctypes.byref(output)] * (result == "output")))
            if error:
                message = f"error {self.error_code(error)}: {self.error_message(error).decode()}"
                self.error_free(error)
                raise RuntimeError(message)
            return output
        return call


def main(directory, library="libbigtable.so"):
    b = Bigtable(library)
    database = b.database_open(directory.encode(), None)
    schema = b.schema_new()
    b.schema_add_family(schema, b"contents", b"", None)
    b.schema_add_family(schema, b"anchor", b"", None)
    table = b.database_open_or_create_table(database, b"webtable", schema, None)
    b.schema_free(schema)
    transaction = b.database_begin_transaction(database, None)
    for key, page in ((b"com.cnn.money", b"<html>money"), (b"com.cnn.www", b"<html>news"),
                      (b"org.example.www", b"<html>example")):
        mutation = b.mutation_new(key)
        b.mutation_set_at(mutation, b"contents:", 1, page)
        b.mutation_set_at(mutation, b"anchor:cnnsi.com", 2, b"CNN")
        b.transaction_apply(transaction, table, mutation)
        b.mutation_free(mutation)
    row = b.transaction_read_row(transaction, table, b"com.cnn.www", None, None)
    print("page:", b.row_cell_value(row, 1).decode())  # behind the cell of the family anchor
    b.row_free(row)
    b.transaction_commit(transaction, None)  # error 10: a conflict; run the transaction again
    b.transaction_free(transaction)
    site = b.row_set_new()
    b.row_set_add_prefix(site, b"com.cnn")
    rows = b.table_read_rows(table, site, None, None)
    while row := b.rows_next(rows):
        for i in range(b.row_cell_count(row)):
            column = b.row_cell_family(row, i) + b":" + b.row_cell_qualifier(row, i)
            print(b.row_key(row).decode(), column.decode(), b.row_cell_timestamp(row, i),
                  b.row_cell_value(row, i).decode())
    b.rows_free(rows)
    b.row_set_free(site)
    b.database_close(database)
    b.database_free(database)


if __name__ == "__main__":
    # An option is no directory: --help is not to become a database of that name.
    arguments = sys.argv[1:]
    if not 1 <= len(arguments) <= 2 or any(argument.startswith("-") for argument in arguments):
        wants_help = bool({"-h", "--help"} & set(arguments))
        print(__doc__, file=sys.stdout if wants_help else sys.stderr)
        sys.exit(0 if wants_help else 2)
    main(*arguments)
