"""Finds the shared library, checks its version, and declares its functions (bigtable/c.h).

The library is what the environment variable BIGTABLE_LIBRARY names, or else what the loader of the
system finds. It is loaded when this module is imported.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import os

from .errors import LibraryError

# The oldest library that has all the functions below.
MINIMAL_VERSION = (0, 1, 0)
# Before 1.0 the file name has the minor version. The C interface is the same in later versions.
FILE_NAMES = ("libbigtable.so.0.1", "libbigtable.so")

# Result, name without "bigtable_", and parameters. v: nothing, p: a handle or a pointer, t: text
# and its size, i: int, q: int64_t, Q: uint64_t, z: size_t, b: bool, d: double, I: uint32_t.
_FUNCTIONS = """
i error_code p | p error_message pp | q error_retry_after p | v error_free p | p error_new it
p string_data pp | v string_free p
z string_list_count p | p string_list_get pzp | v string_list_free p

p options_new | v options_free p
v options_set_create_if_missing pb | v options_set_error_if_exists pb
v options_set_allow_foreign_files pb | v options_set_read_only pb | v options_set_durability pi
v options_set_memory_budget pQ | v options_set_shared_memory_budget pp
v options_set_memtable_size pQ | v options_set_log_segment_size pQ
v options_set_tablet_servers pi | v options_set_target_file_size pQ
v options_set_compaction_threads pi | v options_set_compaction_rate pQ
v options_set_scan_cache pb | v options_set_positional_reads pb | v options_set_max_open_files pi
v options_set_balance_interval pq | v options_set_metadata_tablet_size pQ
v options_set_log_function pppp
p memory_budget_new Q | v memory_budget_free p

p cancellation_new | v cancellation_cancel p | v cancellation_free p
p call_options_new | v call_options_free p | v call_options_set_timeout pq
v call_options_set_cancellation pp
p write_options_new | v write_options_free p | v write_options_set_durability pi
v write_options_set_timeout pq | v write_options_set_cancellation pp
p read_options_new | v read_options_free p | v read_options_set_snapshot pp
v read_options_set_verify_checksums pb | v read_options_set_fill_cache pb
v read_options_set_reverse pb | v read_options_set_row_limit pq | v read_options_set_cell_limit pq
v read_options_set_timeout pq | v read_options_set_cancellation pp

p gc_rule_max_versions_new q | p gc_rule_max_age_new q | p gc_rule_union_new pp
p gc_rule_intersection_new pp | v gc_rule_free p
p locality_group_new | v locality_group_free p | v locality_group_set_compression pi
v locality_group_set_compression_level pi | v locality_group_set_block_size pz
v locality_group_set_filter pi | v locality_group_set_filter_bits pi
v locality_group_set_in_memory pb | v locality_group_set_compaction pi
v locality_group_set_compaction_factor pi | v locality_group_set_compaction_policy pt
p schema_new | v schema_free p | p schema_add_locality_group ptp | p schema_add_family pttp
p schema_set_value_type pti | p schema_set_access_list ptt | p schema_set_owner ptt
p schema_set_value_operator ptt | p schema_set_compaction_filter ptt | p schema_add_observer pt
v schema_set_split_rule pQQz | v schema_set_change_stream pqQ | p schema_add_split_row pt
p schema_list_families pp
p schema_list_locality_groups pp | p schema_list_observers pp | i schema_family_value_type pt
p schema_family_locality_group ptp | p schema_family_access_list ptp | p schema_family_owner ptp
p schema_family_value_operator ptp | p schema_family_compaction_filter ptp

p database_open tpp | p database_close p | v database_free p
p database_create_table ptpp | p database_delete_table ptp | p database_open_table ptp
p database_open_table_for_user pttp | p database_open_or_create_table ptppp
p database_list_tables pp | p database_get_schema ptp
p database_add_schema_family pttpp | p database_drop_family pttp
p database_set_gc_rule pttpp | p database_set_family_compaction_filter ptttp
p database_set_family_access_list ptttp | p database_set_family_owner ptttp
p family_changes_new | v family_changes_free p | p family_changes_add_schema_family ptp
p family_changes_drop_family pt | p family_changes_set_gc_rule ptp
p family_changes_set_access_list ptt | p family_changes_set_compaction_filter ptt
p family_changes_set_owner ptt | p database_modify_families ptpp
p database_set_locality_group pttpp | p database_set_split_rule ptQQzp
p database_set_observers ptpp | p database_set_change_stream ptqQp
p database_flush ptp | p database_compact ptp | p database_wait_until_quiet pp
p database_pause_compactions p | p database_continue_compactions p
p database_cancel_compactions p | p database_resume_within pp | p database_get_statistics pp
p database_take_snapshot pp | Q snapshot_sequence p | v snapshot_free p
p database_list_tablets ptp | z tablets_count p | p tablets_begin_row pzp
p tablets_end_row pzp | i tablets_server pz | Q tablets_disk_bytes pz | v tablets_free p
p database_split_tablet pttp | p database_merge_tablets pttp | p database_move_tablet pttip
p database_get_storage pp | v storage_free p | z storage_count p | i storage_kind pz
p storage_name pzp | p storage_family pzp | Q storage_disk_bytes pz
Q storage_memtable_bytes pz | Q storage_loaded_bytes pz
p database_set_option ptt | p database_get_option ptp | p database_list_options pp
p access_list_new | v access_list_free p | p access_list_add_reader pt
p access_list_add_writer pt | p access_list_get_readers pp | p access_list_get_writers pp
p database_set_access_list ptpp | p database_delete_access_list ptp
p database_get_access_list ptp | p database_list_access_lists pp
p quota_new | v quota_free p | v quota_set_storage_bytes pQ | v quota_set_requests_per_second pQ
v quota_set_bytes_per_second pQ | Q quota_storage_bytes p | Q quota_requests_per_second p
Q quota_bytes_per_second p | p database_set_table_quota ptpp | p database_set_user_quota ptpp
p database_get_table_quota ptp | p database_get_user_quota ptp
p database_list_table_quotas pp | p database_list_user_quotas pp

p mutation_new t | v mutation_free p | p mutation_check p | z mutation_byte_size p
p mutations_new_packed pztpz | v mutations_free pz
v mutation_set ptt | v mutation_set_at ptqt | v mutation_add_to_cell ptqt
v mutation_merge_to_cell ptqt | v mutation_delete_column pt | v mutation_delete_cell ptq
v mutation_delete_time_range ptqq | v mutation_delete_family pt | v mutation_delete_row p
p filter_pass_all_new | p filter_block_all_new | p filter_latest_new q | p filter_family_new t
p filter_family_regex_new t | p filter_column_new tt | p filter_column_prefix_new tt
p filter_column_range_new ttt | p filter_column_regex_new t | p filter_timestamp_range_new qq
p filter_row_regex_new t | p filter_value_regex_new t | p filter_value_range_new tt
p filter_row_sample_new d | p filter_cells_row_limit_new q | p filter_cells_row_offset_new q
p filter_strip_value_new | p filter_apply_label_new t | p filter_sink_new
p filter_chain_new pz | p filter_interleave_new pz | p filter_condition_new ppp
v filter_free p | p filter_check p
p row_set_new | v row_set_free p | v row_set_add_row pt | v row_set_add_range ptt
v row_set_add_prefix pt
p table_name pp | p table_apply ppp | p table_apply_batch ppzpp
p write_batch_new | v write_batch_free p | v write_batch_apply ppp | v write_batch_clear p
z write_batch_mutation_count p | Q write_batch_byte_size p | p write_batch_check p
p database_apply ppp
p database_begin_transaction ppp | v transaction_free p | p transaction_read_row pptppp
p transaction_read_rows pppppp | p transaction_apply ppp | p transaction_commit pp
v transaction_rollback p | p database_run_transaction pppp
p table_check_and_mutate_row ptppppp
p read_modify_write_new t | v read_modify_write_free p | v read_modify_write_append ptt
v read_modify_write_increment ptq | p table_read_modify_write_row pppp
p estimate_hyper_log_log tp | p decode_double_sum tp | p table_mutate_row_atomically ptpppp
p table_get pttpp | p table_read_row ptppp | p table_read_rows ppppp | p table_resume_rows ptppp
p rows_next_packed pzpppp | v rows_free p | p rows_get_resume_token pp
p table_sample_row_keys ppp | z row_key_samples_count p | p row_key_samples_row pzp
Q row_key_samples_offset pz | v row_key_samples_free p
p table_get_approximate_sizes ppppz | p table_drop_rows ppp
p row_key pp | z row_cell_count p | p row_cell_family pzp | p row_cell_qualifier pzp
q row_cell_timestamp pz | p row_cell_value pzp | p row_cell_label pzp | v row_free p

p string_assign pt
p mutation_observer_register tpppp | p mutation_observer_list_names p
p observed_mutation_table p | p observed_mutation_row pp | z observed_mutation_count p
i observed_mutation_kind pz | p observed_mutation_family pzp | p observed_mutation_qualifier pzp
p observed_mutation_value pzp | q observed_mutation_timestamp pz | q observed_mutation_end pz
p observer_context_read_before ppp | p observer_context_read_after ppp
p observer_context_read_row pptpp | p observer_context_open_table ptp
p observer_context_apply ppp
p compaction_filter_register tppp | p compaction_filter_list_names p
p compacted_cell_row pp | p compacted_cell_family pp | p compacted_cell_qualifier pp
q compacted_cell_timestamp p | p compacted_cell_value pp | q compacted_cell_now p
p aggregate_operator_register tpppppp | p aggregate_operator_list_names p
"""

_TYPES: dict[str, list[type]] = {
    "p": [ctypes.c_void_p],
    "t": [ctypes.c_char_p, ctypes.c_size_t],
    "i": [ctypes.c_int],
    "I": [ctypes.c_uint32],
    "q": [ctypes.c_int64],
    "Q": [ctypes.c_uint64],
    "z": [ctypes.c_size_t],
    "b": [ctypes.c_bool],
    "d": [ctypes.c_double],
}


def check_version(version: str, path: str) -> None:
    """Raises LibraryError for a library that is older than MINIMAL_VERSION."""
    try:
        numbers = tuple(int(part) for part in version.split("-")[0].split("."))
    except ValueError:
        raise LibraryError(f"{path} has the version {version!r}, which is no version") from None
    if numbers < MINIMAL_VERSION:
        wanted = ".".join(map(str, MINIMAL_VERSION))
        raise LibraryError(f"{path} has version {version}, and {wanted} or later is needed")


def load(path: str) -> ctypes.CDLL:
    """Loads a shared library, checks it and declares its functions."""
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise LibraryError(f"the library {path} cannot be loaded: {error}") from None
    try:
        version = library.bigtable_version
    except AttributeError:
        raise LibraryError(
            f"{path} is not the library bigtable: it has no bigtable_version()"
        ) from None
    version.restype = ctypes.c_char_p
    version.argtypes = []
    text: str = version().decode()
    check_version(text, path)
    for line in _FUNCTIONS.replace("\n", "|").split("|"):
        if line.strip():
            _declare(library, path, text, line.split())
    return library


def _declare(library: ctypes.CDLL, path: str, version: str, words: list[str]) -> None:
    result, name, parameters = (*words, "")[:3]
    try:
        function = getattr(library, "bigtable_" + name)
    except AttributeError:
        raise LibraryError(
            f"{path}, version {version}, is too old: it has no bigtable_{name}()"
        ) from None
    function.restype = None if result == "v" else _TYPES[result][0]
    function.argtypes = [type_ for letter in parameters for type_ in _TYPES[letter]]


def _find() -> ctypes.CDLL:
    path = os.environ.get("BIGTABLE_LIBRARY")
    if path:
        return load(path)
    for name in FILE_NAMES:
        try:
            ctypes.CDLL(name)
        except OSError:
            continue
        return load(name)
    found = ctypes.util.find_library("bigtable")
    if found is not None:
        return load(found)
    raise LibraryError(
        "the shared library of bigtable was not found (" + ", ".join(FILE_NAMES) + "): install it, "
        "or set the environment variable BIGTABLE_LIBRARY to its path"
    )


lib = _find()
"""The functions of bigtable/c.h."""
