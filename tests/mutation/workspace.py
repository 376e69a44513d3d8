"""A copy of the checkout with a build of its own, in which one fault at a time is compiled.

The checkout itself is never changed. Each Workspace is used by one thread.
"""

import filecmp
import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import NamedTuple

# Not optimized, as compiling is most of the time, and with the standard library's assertions and
# ours: a fault that they find is found.
FLAGS = "-O0 -D_GLIBCXX_ASSERTIONS --coverage -fprofile-update=atomic"


class Entry(NamedTuple):
    """An entry of ctest: tests of one program."""
    name: str
    program: str  # the path of the program
    command: list[str]
    labels: list[str]


class Workspace:
    def __init__(self, checkout: Path, root: Path):
        self.source = root / "source"
        self.build_directory = root / "build"
        self._scratch = root / "scratch"
        self.source.mkdir(parents=True, exist_ok=True)
        self._copy(checkout)
        linker = ["-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=mold"] if shutil.which("mold") else []
        subprocess.run(["cmake", "-G", "Ninja", "-S", self.source, "-B", self.build_directory,
                        "-DCMAKE_BUILD_TYPE=Debug", f"-DCMAKE_CXX_FLAGS_DEBUG={FLAGS}",
                        "-DBIGTABLE_WARNINGS_AS_ERRORS=OFF", *linker,
                        *(f"-DBIGTABLE_BUILD_{part}=OFF"
                          for part in ["SHARED", "BENCH", "EXAMPLES", "TOOLS", "SERVER"])],
                       check=True, stdout=subprocess.DEVNULL)

    def _copy(self, checkout: Path) -> None:
        names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                               cwd=checkout, check=True, capture_output=True).stdout.decode()
        names = [name for name in names.split("\0") if name and (checkout / name).is_file()]
        for name in names:
            source, copy = checkout / name, self.source / name
            # What is equal keeps its time, and is not compiled again.
            if not copy.exists() or not filecmp.cmp(source, copy, shallow=False):
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, copy)
        for copy in self.source.rglob("*"):
            if copy.is_file() and not (checkout / copy.relative_to(self.source)).exists():
                copy.unlink()

    def build(self, *targets: str) -> bool:
        """False if it does not compile."""
        done = subprocess.run(["ninja", "-C", self.build_directory, *targets],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return done.returncode == 0

    def objects(self) -> Path:
        return self.build_directory / "src/CMakeFiles/bigtable_objects.dir"

    def entries(self, folders: list[str]) -> list[Entry]:
        """Those of the test programs of `folders`, which must be built."""
        shown = subprocess.run(["ctest", "--test-dir", self.build_directory, "--show-only=json-v1"],
                               check=True, capture_output=True).stdout
        entries = []
        for test in json.loads(shown)["tests"]:
            labels = [label for property in test.get("properties", [])
                      if property["name"] == "LABELS" for label in property["value"]]
            if "command" in test and labels and labels[0] in folders:
                entries.append(Entry(test["name"], test["command"][0], test["command"], labels))
        return entries

    def run(self, entry: Entry, seconds: float, profile: Path | None = None) -> tuple[bool, float]:
        """(whether it passed, the seconds it took). What it executed is left below `profile`."""
        self._scratch.mkdir(exist_ok=True)
        environment = dict(os.environ, TMPDIR=str(self._scratch),
                           GCOV_PREFIX=str(profile or self._scratch / "profile"))
        begin = time.monotonic()
        # A group of its own: tests have children, which must not outlive a test that hangs.
        process = subprocess.Popen(entry.command, env=environment, cwd=self._scratch,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            passed = process.wait(timeout=seconds) == 0
        except subprocess.TimeoutExpired:
            passed = False
        finally:
            try:
                os.killpg(process.pid, 9)
            except ProcessLookupError:
                pass
            process.wait()
        shutil.rmtree(self._scratch, ignore_errors=True)
        return passed, time.monotonic() - begin
