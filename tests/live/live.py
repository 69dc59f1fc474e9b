# SPDX-License-Identifier: GPL-2.0-or-later
"""Shared by the live tests: targets that report their true figures,
memstate's output, checks.

A test is a function marked with @test whose name states what it proves. run() runs the
tests of a file, prints one line for each, and exits with status 1 if one failed, 77 if
all were skipped.
"""

import contextlib
import csv
import io
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

import schema_lib

MEMSTATE = os.environ["MEMSTATE"]
TARGET = os.path.join(os.environ["builddir"], "tests", "targets", "target")
PAGE = os.sysconf("SC_PAGE_SIZE")
KIB = 1024
MIB = 1024 * KIB
IS_ROOT = os.geteuid() == 0
TIMEOUT = 120  # seconds; only a hang takes this long

# Python code that waits until memstate, which started the script, has sampled it: 2000 reads
# are some 100 samples, and on a busy machine enough for the heap to be read, too.
UNTIL_SAMPLED = """
import os, time
def _count_reads():
    with open(f"/proc/{os.getppid()}/io") as f:
        return int(f.read().split("syscr: ")[1].split()[0])
_first = _count_reads()
while _count_reads() < _first + 2000:
    time.sleep(0.01)
"""

# The same for a shell script. The first sample alone takes some 100 reads, because it also
# looks for room for the heap's copy.
SH_UNTIL_SAMPLED = """
count_reads() { sed -n 's/^syscr: //p' /proc/$PPID/io; }
first=$(count_reads)
while [ $(count_reads) -lt $((first + 600)) ]; do sleep 0.01; done
"""

STATES = ["private_dirty", "lazyfree", "private_clean", "shared_dirty", "shared_clean"]
OWNERS = ["live", "pool_pages", "pool_fragments", "heap_meta", "stack", "anon", "file", "shmem"]
HEAP_OWNERS = OWNERS[:4]

# memstate would inherit signals that are ignored here, as under nohup or in
# a background job.
for _number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
    if signal.getsignal(_number) == signal.SIG_IGN:
        signal.signal(_number, signal.SIG_DFL)

_tests = []
_started = []  # by start_memstate(); ended after each test, even if it failed


class Skip(Exception):
    """Raised with the reason where something cannot be tested."""


def test(function):
    _tests.append(function)
    return function


def run():
    # newly built programs and libraries are dirty in the page cache until they
    # are written back
    os.sync()
    outcomes = {"PASS": 0, "FAIL": 0, "SKIP": 0}
    for function in _tests:
        reason = ""
        try:
            function()
            outcome = "PASS"
        except Skip as skip:
            outcome, reason = "SKIP", f": {skip}"
            print(f"{function.__name__}: skipped: {skip}", file=sys.stderr)
        except Exception:
            outcome = "FAIL"
            traceback.print_exc()
        finally:
            end_started()
        outcomes[outcome] += 1
        print(f"{outcome}: {function.__name__}{reason}", flush=True)
    if outcomes["FAIL"]:
        sys.exit(1)
    sys.exit(0 if outcomes["PASS"] else 77)


def equal(got, wanted, what):
    if got != wanted:
        raise AssertionError(f"{what}: got {got!r}, wanted {wanted!r}")


def check(is_true, what):
    if not is_true:
        raise AssertionError(what)


def wait_until(is_true, what):
    end = time.monotonic() + TIMEOUT
    while not is_true():
        check(time.monotonic() < end, f"timed out waiting until {what}")
        time.sleep(0.005)


def read_proc(pid, name):
    with open(f"/proc/{pid}/{name}", "rb") as f:
        return f.read()


def read_proc_if_alive(pid, name):
    """Return b"" if the process has ended, as a child that was just listed may have."""
    try:
        return read_proc(pid, name)
    except (FileNotFoundError, ProcessLookupError):
        return b""


def status_field(pid, key):
    for line in read_proc(pid, "status").splitlines():
        if line.startswith(key.encode() + b":"):
            return line.split(b":", 1)[1].strip().decode()
    return None


def is_in_state(pid, wanted):
    """Return whether all threads are in the state; a thread still on its way
    may change memory."""
    states = [read_proc(f"{pid}/task/{tid}", "stat").rsplit(b")", 1)[1].split()[0]
              for tid in os.listdir(f"/proc/{pid}/task")]
    return all(state == wanted for state in states)


def stop(pid):
    os.kill(pid, signal.SIGSTOP)
    wait_until(lambda: is_in_state(pid, b"T"), f"{pid} is stopped")


class Target:
    """A behaviour of tests/targets, set up and waiting.

    `truth` holds the figures that it printed about itself; `all` holds lists, for keys
    that it printed more than once.
    """

    def __init__(self, *args, is_stopped=False, **popen):
        self.process = subprocess.Popen([TARGET, *[os.fsencode(str(a)) if not isinstance(a, bytes)
                                                   else a for a in args]],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, **popen)
        self.pid = self.process.pid
        self.truth = {}
        self.all = {}
        for line in self.process.stdout:
            if line == b"ready\n":
                break
            key, value = line.split()
            self.truth[key.decode()] = int(value)
            self.all.setdefault(key.decode(), []).append(int(value))
        else:
            said = self.process.stderr.read().decode().strip()
            status = self.process.wait()
            if status == 77:
                raise Skip(said)
            raise AssertionError(f"target {args}: status {status}: {said}")
        if is_stopped:
            stop(self.pid)

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.end()


def read_said(process, lines, word):
    """Read "name number" lines of a target up to this word; return them as a dict."""
    said = {}
    for line in lines:
        if line.strip() == word:
            return said
        key, value = line.split()
        said[key.decode()] = int(value)
    status = process.wait()
    error = process.stderr.read().decode().strip()
    if status == 77:
        raise Skip(error or "not available here")
    raise AssertionError(f"target: status {status}: {error}")


class OrderedTarget:
    """A program that prints its true figures, then waits for letters and prints
    figures after each."""

    def __init__(self, command, **popen):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, **popen)
        self.pid = self.process.pid
        self.truth = self.read_until(b"ready")

    def read_until(self, word):
        said = read_said(self.process, self.process.stdout, word)
        self.pid = said.get("pid", self.pid)
        self.wait_for_rest()
        return said

    def wait_for_rest(self):
        """Wait until it sleeps: on its way there it may touch pages and its stack."""
        wait_until(lambda: status_field(self.pid, "State").startswith("S"), "the target waits")

    def order(self, letter):
        try:
            self.process.stdin.write(letter)
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # read_until() reports how the target ended
        return self.read_until(b"done")

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            with contextlib.suppress(BrokenPipeError):
                pipe.close()


class Result:
    def __init__(self, args, status, out, err):
        self.args, self.status, self.out, self.err = args, status, out, err

    def must_be(self, status):
        if self.status != status:
            raise AssertionError(f"memstate {self.args}: status {self.status}, wanted {status}; "
                                 f"stderr: {self.err!r}")
        return self

    def rows(self):
        return parse_csv(self.out)

    def errors(self):
        return self.err.decode().splitlines()

    def complaints(self):
        return complaints(self.err)


def complaints(err):
    """Return the messages except those about timing, which depend on the load
    of the machine."""
    return [line for line in err.decode().splitlines()
            if " missed: " not in line and "interval increased" not in line]


def start_memstate(*args, **popen):
    popen.setdefault("stdout", subprocess.PIPE)
    popen.setdefault("stderr", subprocess.PIPE)
    popen.setdefault("bufsize", 0)  # communicate() would lose what readline() has buffered
    process = subprocess.Popen([MEMSTATE, *[str(a) for a in args]], **popen)
    _started.append(process)
    return process


def end_started():
    while _started:
        process = _started.pop()
        if process.poll() is None:
            process.kill()
            process.wait()


def memstate(*args, timeout=TIMEOUT, **popen):
    process = start_memstate(*args, **popen)
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise AssertionError(f"memstate {args} hangs")
    if out and ("--json" in args or "-J" in args):
        count = schema_lib.check_output(out)
        check(count > 0 or process.returncode != 0, f"memstate {args}: no report: {out[:200]}")
    return Result(args, process.returncode, out, err)


def parse_csv(data):
    """Return the rows as dicts, numbers as int, unknown values as None. Each row
    must be complete."""
    text = data.decode()  # strict: everything is valid UTF-8
    check(text == "" or text.endswith("\n"), f"truncated row: {text[-80:]!r}")
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    header, rows = rows[0], rows[1:]
    for row in rows:
        equal(len(row), len(header), f"number of fields of {row}")
    return [{name: _value(name, field) for name, field in zip(header, row)} for row in rows]


def _value(name, field):
    if field == "" and name not in ("name", "comm", "command"):
        return None
    if name.endswith("_bytes") or name in ("pid", "ppid", "threads", "mappings", "start_ticks"):
        return int(field)
    return float(field) if name.endswith("_s") else field


def sample(pid, columns=None, heap="auto"):
    """Return the row of one process, with all columns unless some are named."""
    which = ["-o", ",".join(columns)] if columns else ["--output-all"]
    rows = memstate("-p", pid, "--csv", "-n1", "--heap", heap, *which).must_be(0).rows()
    equal(len(rows), 1, "rows")
    return rows[0]


def map_rows(pid):
    return memstate("map", "-p", pid, "--csv", "--output-all").must_be(0).rows()


def mappings_within(pid, start, end):
    return [m for m in map_rows(pid)
            if int(m["start_addr"], 16) >= start and int(m["end_addr"], 16) <= end]


def add_up(rows, column):
    return sum(row[column] for row in rows)


def check_cells(cells, whole, may_be_unknown, what):
    """If a heap has several page states, some cells are unknown and only the
    margins are exact."""
    if may_be_unknown and None in cells:
        known = sum(c for c in cells if c is not None)
        check(known <= whole, f"{what}: {cells} are more than {whole}")
    else:
        equal(sum(cells), whole, what)


def check_sums(row):
    """Check one row: rows, columns and total of the matrix equal Rss, and
    upper bounds hold."""
    who = f"{row['pid']} {row['comm']}"
    rss = row["rss_bytes"]
    equal(sum(row[f"{s}_bytes"] for s in STATES), rss, f"{who}: sum of states")
    equal(sum(row[f"{o}_bytes"] or 0 for o in OWNERS), rss, f"{who}: sum of owners")
    is_heap_known = row["live_bytes"] is not None
    for o in OWNERS:
        cells = [row[f"{o}_{s}_bytes"] for s in STATES]
        if row[f"{o}_bytes"] is None:
            equal(cells, [None] * len(STATES), f"{who}: cells of {o}, which is unknown")
        else:
            check_cells(cells, row[f"{o}_bytes"], is_heap_known, f"{who}: row {o}")
    for s in STATES:
        cells = [row[f"{o}_{s}_bytes"] for o in OWNERS if row[f"{o}_bytes"] is not None]
        check_cells(cells, row[f"{s}_bytes"], is_heap_known, f"{who}: column {s}")
    equal(row["unexplained_bytes"], 0, f"{who}: unexplained")
    check(row["pss_bytes"] <= rss, f"{who}: Pss is more than Rss")
    check(row["uss_bytes"] <= rss, f"{who}: Uss is more than Rss")


def check_mapping_sums(m):
    equal(sum(m[f"{s}_bytes"] for s in STATES), m["rss_bytes"], f"mapping {m['start_addr']}")
    check(m["rss_bytes"] <= m["size_bytes"], f"mapping {m['start_addr']}: Rss more than Size")
    check(m["pss_bytes"] <= m["rss_bytes"], f"mapping {m['start_addr']}: Pss more than Rss")


# Other processes that map a file or exit change which of its pages are shared. Only these
# sums depend on the stopped process alone.
OWN_STATES = (("rss",), ("lazyfree",), ("private_dirty", "shared_dirty"),
              ("private_clean", "shared_clean"))


def check_mappings(pid, row):
    """Check that the mappings of a stopped process add up to its row and to
    the kernel's totals."""
    mappings = map_rows(pid)
    for m in mappings:
        check_mapping_sums(m)
    for states in OWN_STATES:
        equal(sum(add_up(mappings, f"{s}_bytes") for s in states),
              sum(row[f"{s}_bytes"] for s in states), f"sum of the mappings' {' and '.join(states)}")
    for owners in [HEAP_OWNERS + ["anon"]] + [[o] for o in OWNERS[6:] + ["stack"]]:
        equal(sum(m["rss_bytes"] for m in mappings if m["owner"] in owners),
              sum(row[f"{o}_bytes"] or 0 for o in owners), f"sum of the mappings of {owners}")
    equal(len(mappings), row["mappings"], "number of mappings")
    for line in read_proc(pid, "smaps_rollup").splitlines():
        if line.startswith(b"Rss:"):
            equal(row["rss_bytes"], int(line.split()[1]) * KIB, "Rss of smaps_rollup")


def need_built_with(*features):
    """Skip the test if memstate was built without one of these, such as
    "SQLITE" or "LIBELF"."""
    with open(os.path.join(os.environ["builddir"], "config.h")) as f:
        config = f.read()
    for feature in features:
        if f"#define HAVE_{feature} 1" not in config:
            raise Skip(f"built without {feature.lower()}")


def has_address_sanitizer():
    """Return True if memstate is built with AddressSanitizer, which reserves 20 TiB."""
    bound = (4 << 30, 4 << 30)
    done = subprocess.run([MEMSTATE, "--version"], stdout=subprocess.DEVNULL, timeout=TIMEOUT,
                          stderr=subprocess.PIPE,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, bound))
    return b"AddressSanitizer" in done.stderr


def need_small_address_space():
    if has_address_sanitizer():
        raise Skip("AddressSanitizer reserves more address space than the test allows")


def as_nobody():
    """Return a preexec_fn that switches to an unprivileged user; this requires root."""
    if not IS_ROOT:
        raise Skip("only root can run memstate as another user")

    def become():
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
    return become


class Folder:
    """A temporary folder in the build tree, which is on a disk rather than a tmpfs."""

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix="live-", dir=os.environ["builddir"])
        return self.path

    def __exit__(self, *unused):
        shutil.rmtree(self.path)


class Traced:
    """Make strace trace the process during the block; yields strace's pid."""

    def __init__(self, pid):
        self.pid = pid

    def __enter__(self):
        try:
            self.tracer = subprocess.Popen(["strace", "-qq", "-o", "/dev/null", "-p", str(self.pid)],
                                           stderr=subprocess.DEVNULL)
        except FileNotFoundError:
            raise Skip("strace is not installed")
        try:
            wait_until(lambda: status_field(self.pid, "TracerPid") != "0", "the process is traced")
        except BaseException:
            self.__exit__()
            raise
        return self.tracer.pid

    def __exit__(self, *unused):
        self.tracer.kill()
        self.tracer.wait()


def json_rows(data):
    return [json.loads(line) for line in data.decode().splitlines()]
