"""A copy of the checkout with a build of its own, which has faults compiled in.

The checkout itself is never changed.
"""

import filecmp
import json
import os
import resource
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

# Not optimized, as compiling is much of the time, and with the standard library's assertions and
# ours: a fault that they find is found.
FLAGS = "-O0 -D_GLIBCXX_ASSERTIONS"
# A fault must not take the memory or the disk of the machine.
MOST_MEMORY = MOST_FILE = 8 << 30


class Entry(NamedTuple):
    """An entry of ctest: tests of one program."""
    name: str
    folder: str
    command: list[str]


class Run(NamedTuple):
    passed: bool
    timed_out: bool
    seconds: float


class Workspace:
    def __init__(self, checkout: Path, root: Path):
        self.source = root / "source"
        self._checkout = checkout
        self._build = root / "build"

    def update(self, changed: dict[str, str]) -> None:
        """Makes the copy equal to the checkout, but for the texts of the files in `changed`."""
        names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                               cwd=self._checkout, check=True, capture_output=True).stdout.decode()
        names = [name for name in names.split("\0") if name and (self._checkout / name).is_file()]
        for name in names:
            original, copy = self._checkout / name, self.source / name
            # What is equal keeps its time, and is not compiled again.
            if name in changed:
                self.write(name, changed[name])
            elif not copy.exists() or not filecmp.cmp(original, copy, shallow=False):
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(original, copy)
        for copy in self.source.rglob("*"):
            if copy.is_file() and not (self._checkout / copy.relative_to(self.source)).exists():
                copy.unlink()

    def write(self, name: str, text: str) -> None:
        copy = self.source / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        if not copy.exists() or copy.read_text() != text:
            copy.write_text(text)

    def configure(self) -> None:
        linker = ["-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=mold"] if shutil.which("mold") else []
        subprocess.run(["cmake", "-G", "Ninja", "-S", self.source, "-B", self._build,
                        "-DCMAKE_BUILD_TYPE=Debug", f"-DCMAKE_CXX_FLAGS_DEBUG={FLAGS}",
                        "-DCMAKE_UNITY_BUILD=ON", "-DBIGTABLE_WARNINGS=OFF", *linker,
                        *(f"-DBIGTABLE_BUILD_{part}=OFF"
                          for part in ["SHARED", "BENCH", "EXAMPLES", "TOOLS", "SERVER"])],
                       check=True, stdout=subprocess.DEVNULL)

    def build(self, *targets: str) -> str:
        """What ninja has printed if it does not compile, otherwise nothing."""
        done = subprocess.run(
            ["ninja", "-C", self._build, "-k", "0", "-j", str(os.cpu_count()), *targets],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        return done.stdout or f"ninja: {done.returncode}" if done.returncode != 0 else ""

    def entries(self, folders: list[str]) -> list[Entry]:
        """Those of the test programs of `folders`, which must be built."""
        shown = subprocess.run(["ctest", "--test-dir", self._build, "--show-only=json-v1"],
                               check=True, capture_output=True).stdout
        entries = []
        for test in json.loads(shown)["tests"]:
            folder = test["name"].split(".")[0]
            if folder in folders and "command" in test:
                entries.append(Entry(test["name"], folder, test["command"]))
        return entries


def run(entry: Entry, most_seconds: float, environment: dict[str, str]) -> Run:
    """Runs the entry with `environment` added, in a directory of its own, and ends all of its
    processes. Safe from any thread."""
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
        resource.setrlimit(resource.RLIMIT_FSIZE, (MOST_FILE, MOST_FILE))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        begin = time.monotonic()
        # A group of its own: tests have children, which must not outlive a test that hangs.
        process = subprocess.Popen(entry.command, cwd=scratch, env={
            **os.environ, "TMPDIR": scratch, "GTEST_FAIL_FAST": "1", **environment}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, start_new_session=True,
                                   preexec_fn=limit)
        timed_out = False
        try:
            process.wait(timeout=most_seconds)
        except subprocess.TimeoutExpired:
            timed_out = True
        finally:
            try:
                os.killpg(process.pid, 9)
            except ProcessLookupError:
                pass
            process.wait()
        seconds = time.monotonic() - begin
        return Run(not timed_out and process.returncode == 0, timed_out, seconds)
