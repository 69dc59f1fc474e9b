# SPDX-License-Identifier: GPL-2.0-or-later
"""memstate's counts against those of perf (uprobes) and heaptrack, for
the same commands."""

import json
import os
import re
import shutil
import subprocess
import sys

from live import IS_ROOT, MEMSTATE, TIMEOUT, Folder, Skip, check, equal, memstate, run, test

TARGET = os.path.join(os.environ["builddir"], "tests", "targets", "count_target")
LIBRARY = os.path.join(os.path.dirname(os.path.realpath(MEMSTATE)), "src", "agent",
                       "libmemstate-count.so")
UPROBES = "/sys/kernel/tracing/uprobe_events"
FUNCTIONS = ["malloc", "free", "calloc", "realloc", "reallocarray", "posix_memalign",
             "aligned_alloc", "memalign", "valloc", "pvalloc"]
ENVIRONMENT = dict(os.environ, PYTHONHASHSEED="0", LC_ALL="C")
# Under memstate the command has two more variables, and Python allocates for each.
WITHOUT_MEMSTATE = dict(ENVIRONMENT, LD_PRELOA_=LIBRARY,
                        MEMSTATE_COUN_="/dev/shm/memstate-count-12345-123456")
PROGRAMS = [["sort", "/etc/passwd"], ["python3", "-I", "-S", "-c", "import json; json.loads('[1, {}]')"],
            ["sqlite3", ":memory:", "create table t(x); insert into t values(1); select * from t"]]

if not os.path.exists(LIBRARY):
    print("built without the counting libraries", file=sys.stderr)
    sys.exit(77)


def programs():
    """Return the programs with full paths: perf changes PATH, and Python searches
    PATH for itself."""
    return [[shutil.which(command[0]), *command[1:]] for command in PROGRAMS
            if is_dynamic_program(command[0])]


def is_dynamic_program(name):
    """Return whether this is a dynamic ELF file; for a script, tools differ in
    counting the interpreter."""
    path = shutil.which(name)
    if not path:
        return False
    with open(path, "rb") as f:
        return f.read(4) == b"\x7fELF"


def counted(command):
    said = json.loads(memstate("count", "--json", "--output-all", "--", *command,
                               env=ENVIRONMENT).must_be(0).out)
    equal(len(said["programs"]), 1, f"{command}: programs")
    return said["programs"][0]


def output_of(*command):
    return subprocess.run(command, capture_output=True, timeout=TIMEOUT, check=False,
                          env=ENVIRONMENT).stdout.decode(errors="replace")


class Uprobes:
    """A uprobe at each function of libc; they cost nothing until a program
    enables the events.

    They are defined by offset: with debug information, perf probe(1) would skip the first
    instructions and also probe each inlined copy.
    """

    def __init__(self):
        with open("/proc/self/maps", encoding="utf-8") as f:
            paths = [line.split()[-1] for line in f if "/libc.so.6" in line]
        if not paths:
            raise Skip("python3 has no libc.so.6 here")
        self.path = paths[0]
        self.group = f"memstate_test_{os.getpid()}"

    def offsets(self):
        loads = [[int(x, 16) for x in m] for m in
                 re.findall(r"LOAD +(0x\w+) (0x\w+) \S+ (0x\w+)", output_of("readelf", "-Wl", self.path))]
        found = {}
        for line in output_of("readelf", "-W", "--dyn-syms", self.path).splitlines():
            words = line.split()
            name = words[7].split("@")[0] if len(words) > 7 else ""
            if name in FUNCTIONS and words[3] == "FUNC":
                addr = int(words[1], 16)
                found[name] = [addr - start + offset for offset, start, size in loads
                               if start <= addr < start + size][0]
        if len(found) != len(FUNCTIONS):
            raise Skip("readelf does not show the addresses of libc's functions")
        return found

    @staticmethod
    def order(text):
        # truncating the file would remove the probes of all programs
        file = os.open(UPROBES, os.O_WRONLY | os.O_APPEND)
        try:
            os.write(file, text.encode())
        finally:
            os.close(file)

    def __enter__(self):
        try:
            for name, offset in self.offsets().items():
                self.order(f"p:{self.group}/{name} {self.path}:{offset:#x}\n")
        except OSError as e:
            self.__exit__()
            raise Skip(f"uprobes are not available: {e}") from None
        return self

    def __exit__(self, *unused):
        for name in FUNCTIONS:
            try:
                self.order(f"-:{self.group}/{name}\n")
            except OSError:
                pass  # the probe was never defined

    def count(self, folder, command):
        out = os.path.join(folder, "stat")
        events = ",".join(f"{self.group}:{name}" for name in FUNCTIONS)
        done = subprocess.run(["perf", "stat", "-x,", "-o", out, "-e", events, *command], check=False,
                              capture_output=True, timeout=TIMEOUT, env=WITHOUT_MEMSTATE)
        found = {}
        if os.path.exists(out):
            with open(out, encoding="utf-8") as f:
                for line in f:
                    words = line.split(",")
                    if len(words) > 2 and words[2].startswith(self.group) and words[0].isdigit():
                        found[words[2].split(":")[1]] = int(words[0])
        if len(found) != len(FUNCTIONS):
            raise Skip(f"perf stat does not count uprobes here: {done.stderr.decode().strip()}")
        return found


@test
def calls_match_perf_at_uprobes():
    if not IS_ROOT or not os.access(UPROBES, os.W_OK):
        raise Skip("uprobes require root and tracefs")
    if not shutil.which("perf") or not shutil.which("readelf"):
        raise Skip("perf or readelf is not installed")
    with Uprobes() as uprobes, Folder() as folder:
        for command in ([TARGET, "status", "0"], [TARGET, "pairs", "5000"], [TARGET, "peak"]):
            by_perf, own = uprobes.count(folder, command), counted(command)
            equal(by_perf, {name: own[f"{name}_calls"] for name in FUNCTIONS}, f"{command}")
        for command in ([TARGET, "functions"], [TARGET, "threads", "4"], *programs()):
            by_perf, own = uprobes.count(folder, command), counted(command)
            own = {name: own[f"{name}_calls"] for name in FUNCTIONS}
            # perf also counts calls that glibc makes itself: realloc in reallocarray,
            # malloc in realloc(NULL), free of a thread's cache at its end
            equal(by_perf["realloc"], own["realloc"] + own["reallocarray"], f"{command}: realloc")
            check(0 <= by_perf["malloc"] - own["malloc"] <= by_perf["realloc"],
                  f"{command}: malloc: {by_perf}, {own}")
            check(0 <= by_perf["free"] - own["free"] <= 20, f"{command}: free: {by_perf}, {own}")
            # one function with two names
            equal([by_perf["aligned_alloc"], by_perf["memalign"]],
                  [own["aligned_alloc"] + own["memalign"]] * 2, f"{command}: memalign")
            for name in ("calloc", "reallocarray", "posix_memalign", "valloc", "pvalloc"):
                equal(by_perf[name], own[name], f"{command}: {name}")


def heaptrack_calls(folder, command):
    subprocess.run(["heaptrack", "-o", os.path.join(folder, "ht"), *command], capture_output=True,
                   timeout=TIMEOUT, cwd=folder, env=WITHOUT_MEMSTATE, check=False)
    made = [name for name in os.listdir(folder) if name.startswith("ht")]
    if len(made) != 1:
        raise Skip("heaptrack does not run here")
    said = output_of("heaptrack_print", os.path.join(folder, made[0]))
    os.unlink(os.path.join(folder, made[0]))
    return int(re.search(r"calls to allocation functions: (\d+)", said)[1])


@test
def allocations_of_ordinary_programs_match_heaptrack():
    if not shutil.which("heaptrack"):
        raise Skip("heaptrack is not installed")
    if not programs():
        raise Skip("none of these programs is installed")
    with Folder() as folder:
        # heaptrack's C++ library allocates when it is loaded; that block is in the counts
        # of any program
        none = heaptrack_calls(folder, [TARGET, "status", "0"])
        check(none <= 2, f"{none} calls in a program that makes none")
        for command in programs():
            calls = heaptrack_calls(folder, command)
            # where the program has libstdc++ itself, that block is the program's own
            check(0 <= calls - counted(command)["allocation_calls"] <= none,
                  f"{command}: {calls} calls, {counted(command)['allocation_calls']} counted")


run()
