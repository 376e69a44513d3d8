"""Which entries of ctest execute which lines, found by running each once with gcov.

Kept in a file beside the build, since it takes a while: it is good for as long as the sources and
the tests are the same, and `--coverage` of run makes it anew.
"""

import json
import shutil
import subprocess
import tempfile
from collections import defaultdict
from pathlib import Path

from workspace import Entry, Workspace

# What takes longer than this is not asked to find faults.
LONGEST_SECONDS = 60


class Coverage:
    def __init__(self, seconds: dict[str, float], lines: dict[str, dict[int, list[str]]]):
        self.seconds = seconds  # of each entry that passes
        self._lines = lines     # file -> line -> names of entries

    def entries_of(self, file: str, line: int) -> list[str]:
        return self._lines.get(file, {}).get(line, [])

    def write(self, path: Path) -> None:
        path.write_text(json.dumps({"seconds": self.seconds, "lines": self._lines}))

    @staticmethod
    def read(path: Path) -> "Coverage":
        stored = json.loads(path.read_text())
        return Coverage(stored["seconds"], {
            file: {int(line): names for line, names in lines.items()}
            for file, lines in stored["lines"].items()})


def executed_lines(workspace: Workspace, profile: Path, files: list[str]) -> dict[str, list[int]]:
    """The lines of `files` (paths from the checkout) that the profile below `profile` has."""
    objects = workspace.objects()
    data = []
    for file in files:
        # "src/a/b.cc" is compiled to <objects>/a/b.cc.o, whose counts are in b.cc.gcda.
        counts = Path(f"{profile}{objects}") / (file.removeprefix("src/") + ".gcda")
        notes = objects / (file.removeprefix("src/") + ".gcno")
        if counts.exists() and notes.exists():
            shutil.copy(notes, counts.with_suffix(".gcno"))
            data.append(str(counts))
    if not data:
        return {}
    output = subprocess.run(["gcov", "--json-format", "--stdout", *data], cwd=profile,
                            capture_output=True, check=True).stdout
    executed: dict[str, set[int]] = defaultdict(set)
    for document in output.splitlines():
        for file in json.loads(document)["files"]:
            name = file["file"].removeprefix(f"{workspace.source}/")
            if name in files:
                executed[name].update(
                    line["line_number"] for line in file["lines"] if line["count"] > 0)
    return {file: sorted(lines) for file, lines in executed.items()}


def measure(workspace: Workspace, entries: list[Entry], files: list[str]) -> Coverage:
    seconds: dict[str, float] = {}
    lines: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    for index, entry in enumerate(entries):
        with tempfile.TemporaryDirectory() as profile:
            passed, took = workspace.run(entry, LONGEST_SECONDS, Path(profile))
            print(f"  {index + 1}/{len(entries)} {entry.name}: "
                  f"{took:.1f} s{'' if passed else ', left out: failed or too slow'}", flush=True)
            if not passed:
                continue
            seconds[entry.name] = took
            for file, executed in executed_lines(workspace, Path(profile), files).items():
                for line in executed:
                    lines[file][line].append(entry.name)
    return Coverage(seconds, lines)
