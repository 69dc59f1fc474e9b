# SPDX-License-Identifier: GPL-2.0-or-later
"""Cgroups for the tests, and programs that fill them in known ways."""

import contextlib
import functools
import json
import os
import re
import select
import signal
import sqlite3
import subprocess
import sys
import threading
import time

import live
from live import MIB, TIMEOUT, Skip, check, equal, memstate, start_memstate, wait_until

TARGET = os.path.join(os.environ["builddir"], "tests", "targets", "oom_target")
ROOT = "/sys/fs/cgroup"
# Tolerance: per-CPU charges that are not yet flushed, and the program's own
# stack and data.
SLACK = 2 * MIB


class KernelLog:
    """The kernel log from now on. A thread reads it before the kernel overwrites it."""

    def __init__(self):
        self.lines, self.fd = [], None
        try:
            self.fd = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
            os.lseek(self.fd, 0, os.SEEK_END)
        except OSError:
            return
        self.is_over, self.end_over = os.pipe()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        is_last = False
        while not is_last:
            is_last = self.is_over in select.select([self.fd, self.is_over], [], [])[0]
            with contextlib.suppress(BlockingIOError):
                while True:
                    with contextlib.suppress(BrokenPipeError):  # some records were lost
                        self.lines.append(os.read(self.fd, 8192))

    def end(self):
        """Read the rest of the log and close it. Return the records."""
        if self.fd is not None:
            os.close(self.end_over)
            self.reader.join()
            os.close(self.is_over)
            os.close(self.fd)
            self.fd = None
        return self.lines

    def lacks_reports(self):
        """End the reading. Return whether kills lack reports: the kernel logs each kill, but
        reports at most ten in five seconds."""
        killed, reported = set(), set()
        for record in self.end():
            reported |= set(re.findall(rb"oom-kill:.*,pid=(\d+),", record))
            killed |= set(re.findall(rb"Killed process (\d+) ", record))
        return not killed <= reported


def can_read_log():
    try:
        os.close(os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK))
    except OSError:
        return False
    return True


def test(function):
    """Like live.test, for kills that need a report in the kernel log: retry if the
    kernel omitted it."""
    @functools.wraps(function)
    def try_it():
        for _ in range(5):
            log = KernelLog()
            try:
                return function()
            except AssertionError as error:
                if not log.lacks_reports():
                    raise
                print(f"{function.__name__}: retry, since the kernel omitted reports: {error}", file=sys.stderr)
                live.end_started()
                time.sleep(5)
            finally:
                log.end()
        return function()
    return live.test(try_it)


def find_hierarchy():
    """Return the mount point and version of the hierarchy with the memory controller."""
    with open("/proc/self/mountinfo") as f:
        for line in f:
            fields, _, rest = line.partition(" - ")
            kind, _, options = rest.split()
            folder = fields.split()[4]
            if kind == "cgroup" and "memory" in options.split(","):
                return folder, 1
            if kind == "cgroup2":
                with open(f"{folder}/cgroup.controllers") as controllers:
                    if "memory" in controllers.read().split():
                        return folder, 2
    raise Skip("there is no memory controller")


class Group:
    """A cgroup with a limit, below another cgroup or the root; removed at the end."""
    count = 0

    def __init__(self, limit=None, parent=None, name=None):
        self.folder, self.version = find_hierarchy()
        Group.count += 1
        above = parent.path if parent else ""
        self.path = f"{above}/{name or f'memstate-{os.getpid()}-{Group.count}'}"
        self.dir = self.folder + self.path
        try:
            os.mkdir(self.dir)
        except OSError as error:
            raise Skip(f"no cgroup can be created: {error.strerror}")
        if self.version == 2 and parent:
            with open(f"{parent.dir}/cgroup.subtree_control", "w") as f:
                f.write("+memory")
        if limit is not None:
            self.limit(limit)

    def limit(self, limit):
        """Set the limit; None removes it."""
        name, none = ("memory.limit_in_bytes", -1) if self.version == 1 else ("memory.max", "max")
        self.write(name, none if limit is None else limit)

    def write(self, name, value):
        try:
            with open(f"{self.dir}/{name}", "w") as f:
                f.write(str(value))
        except OSError as error:
            raise Skip(f"{name} cannot be set: {error.strerror}")

    def read(self, name):
        with open(f"{self.dir}/{name}") as f:
            return f.read()

    def stat(self, key):
        return int(dict(line.split() for line in self.read("memory.stat").splitlines())[key])

    def take_in(self, pid):
        self.write("cgroup.procs", pid)

    def enter(self):
        with open(f"{self.dir}/cgroup.procs", "w") as f:
            f.write(str(os.getpid()))

    def start(self, *steps):
        """Start the steps in the cgroup; the last step should report readiness."""
        return subprocess.Popen([TARGET, *steps], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, preexec_fn=self.enter)

    def run(self, *steps):
        """Run the steps until they end or are killed. Return the status."""
        process = self.start(*steps)
        _, err = process.communicate(timeout=60)
        if process.returncode == 77:
            raise Skip(err.decode().strip())
        return process.returncode

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        def is_removed():
            try:
                os.rmdir(self.dir)
            except FileNotFoundError:
                return True
            except OSError:
                return False
            return True
        wait_until(is_removed, f"{self.dir} is empty")


class Filled:
    """A program in a cgroup that has done its steps and waits."""

    def __init__(self, group, *steps):
        self.process = group.start(*steps, "ready=1")
        self.pid = self.process.pid
        if self.process.stdout.readline() != b"ready\n":
            status = self.process.wait()
            raise Skip(self.process.stderr.read().decode().strip()) if status == 77 else \
                AssertionError(f"{steps}: status {status}")

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            pipe.close()


class Watch:
    """memstate oom watch of a cgroup, from the moment it watches."""

    def __init__(self, group, path, *args, **popen):
        """group.dir is the cgroup's folder, group.path its name in /proc/PID/cgroup."""
        self.path = path
        self.process = start_memstate("oom", "watch", "--cgroup", group.dir, "--record", path, *args, **popen)
        self.lines = [self.process.stdout.readline().decode()]
        if not self.lines[0]:
            err = self.process.stderr.read()
            self.process.wait()
            raise Skip("built without SQLite") if b"require SQLite" in err else AssertionError(err)
        check(self.lines[0].startswith(f"watching {group.path}: need "), self.lines[0])

    def wait_for(self, word):
        limit = threading.Timer(TIMEOUT, self.process.kill)
        limit.start()
        try:
            while word not in self.lines[-1]:
                self.lines.append(self.process.stdout.readline().decode())
                check(self.lines[-1], f"the watch ended or timed out before {word}: {self.lines}")
        finally:
            limit.cancel()

    def end(self, status=None, number=signal.SIGTERM):
        if self.process.poll() is None and number:
            self.process.send_signal(number)
        out, self.err = self.process.communicate(timeout=60)
        self.text = "".join(self.lines) + out.decode()
        if status is not None:
            equal(self.process.returncode, status, f"status; {self.text} {self.err}")
        return self

    def query(self, sql):
        with contextlib.closing(sqlite3.connect(self.path)) as db:
            return db.execute(sql).fetchall()

    def events(self, kind):
        return self.query(f"SELECT pid, text, unix_ms FROM event WHERE kind='{kind}'")


def parts_sum(f):
    return f["need_bytes"] + f["lazyfree_bytes"] + f["file_bytes"] + (f["slab_reclaimable_bytes"] or 0)


def figures(group):
    """Return all columns of `memstate oom`. The kernel skips the update of memory.stat while
    another reader's update is in progress: read again until the file is up to date."""
    for _ in range(50):
        rows = memstate("oom", "--cgroup", group.path, "--csv", "-n1", "-i1", "--output-all").must_be(0).rows()
        f = {name: int(value) if name.endswith("_count") and value is not None else value
             for name, value in rows[0].items()}
        if f["usage_bytes"] is None or abs(parts_sum(f) - f["usage_bytes"]) <= f["slack_bytes"]:
            break
        time.sleep(.1)
    return f


def explained(group):
    """Return the last kill in this cgroup, or by its limit."""
    result = memstate("oom", "explain", "--cgroup", group.path, "--json")
    if b"/dev/kmsg" in result.err and result.status == 1 and b"no OOM kill" not in result.err:
        raise Skip("the kernel's log cannot be read")
    kills = [json.loads(line) for line in result.must_be(0).out.splitlines()]
    # the log may also contain kills of others, without a cgroup
    return [k for k in kills if (k["limit_cgroup"] or "").startswith(group.path) or
            (k["victim_cgroup"] or "").startswith(group.path)][-1]


def near(got, wanted, what, slack=SLACK):
    check(got is not None and abs(got - wanted) <= slack, f"{what}: got {got}, wanted about {wanted}")


def check_sum(f):
    """Check that need + LazyFree + files + slab equal usage, except for
    unflushed per-CPU charges."""
    near(parts_sum(f), f["usage_bytes"], "sum of the parts", f["slack_bytes"])
