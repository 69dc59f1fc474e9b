# SPDX-License-Identifier: GPL-2.0-or-later
"""Helpers for the injection tests: targets that detect changes, the injecting tool, and
the facts about a process that must not change."""

import errno
import json
import mmap
import os
import re
import select
import signal
import struct
import subprocess
import time

from live import (MIB, TIMEOUT, Skip, check, equal, read_proc, read_said, status_field,
                  wait_until)

FOLDER = os.path.join(os.environ["builddir"], "tests", "targets")
TARGET = os.path.join(FOLDER, "inject_target")
TOOL = os.path.join(FOLDER, "inject_tool")
COUNTERS_AT, COUNTER_SIZE = 32, 64  # as in inject_target.h
SHOWN_SIZE = COUNTERS_AT + 64 * COUNTER_SIZE

# Injection is supported on x86-64 only.
if os.uname().machine != "x86_64":
    raise SystemExit(77)


class InjectTarget:
    """A behaviour of tests/targets/inject_target; its counters are read
    from shared memory."""

    def __init__(self, behaviour, argument=0, command=(TARGET,), **popen):
        self.memory_fd = os.memfd_create("shown", 0)
        os.ftruncate(self.memory_fd, SHOWN_SIZE)
        self.memory = mmap.mmap(self.memory_fd, SHOWN_SIZE)
        popen.setdefault("stderr", subprocess.PIPE)
        self.process = subprocess.Popen(
            [*command, behaviour, str(argument), str(self.memory_fd)], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, bufsize=0, pass_fds=[self.memory_fd], **popen)
        self.pid = self.process.pid
        try:
            self.truth = self.read_until(b"ready")
        except BaseException:
            self.end()
            raise
        self.pid = self.truth["pid"]

    def read_until(self, word):
        return read_said(self.process, iter(self.read_line, b""), word)

    def read_line(self):
        """Read unbuffered: select() then sees everything that is still unread."""
        check(select.select([self.process.stdout], [], [], TIMEOUT)[0], "no output before the timeout")
        return self.process.stdout.readline()

    def say(self, letter):
        self.process.stdin.write(letter)

    def order(self, letter):
        self.say(letter)
        return self.read_until(b"done")

    def number(self, offset):
        return struct.unpack_from("=Q", self.memory, offset)[0]

    @property
    def wrong(self):
        return self.number(8)

    @property
    def is_in_call(self):
        return self.number(16)

    @property
    def worst_ns(self):
        return self.number(24)

    def clear_worst(self):
        struct.pack_into("=Q", self.memory, 24, 0)

    def counters(self):
        return [self.number(COUNTERS_AT + i * COUNTER_SIZE) for i in range(self.number(0))]

    def check_goes_on(self):
        """Check that each thread makes progress, nothing is wrong, and no process
        traces the process."""
        before = self.counters()
        check(before, "no counters")
        wait_until(lambda: self.has_ended() or all(a > b for a, b in zip(self.counters(), before)),
                   "each thread makes progress")
        check(not self.has_ended(), f"the target has ended: {self.process.returncode}")
        self.check_whole()

    def check_whole(self):
        equal(self.process.poll(), None, "exit status")
        equal(self.wrong, 0, "errors that the target detected")
        equal(status_field(self.pid, "TracerPid"), "0", "TracerPid")

    def has_ended(self):
        return self.process.poll() is not None

    def wait_until_parked(self, stage=1):
        """Wait until the thread sleeps at the intended place."""
        wait_until(lambda: self.is_in_call == stage, "the thread gets there")
        wait_until(lambda: status_field(self.pid, "State").startswith("S"), "the thread sleeps there")

    def end(self):
        self.process.stdin.close()
        if self.pid != self.process.pid and not self.has_ended():
            try:  # the target may run under another program
                os.kill(self.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()
        self.memory.close()
        os.close(self.memory_fd)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.end()


def start_tool(pid, *args, command=(TOOL,), **popen):
    return subprocess.Popen([*command, *[str(a) for a in args], str(pid)], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, **popen)


def start_holding(pid, **popen):
    """Start the tool; it holds the helper in the process until it reads a line
    or is killed."""
    process = start_tool(pid, "-w", 1, **popen)
    for line in process.stdout:
        if line == b"held\n":
            return process
    raise AssertionError(f"the helper was not injected: {process.stderr.read()}")


def end_tool(process, may_be_gone=False, timeout=TIMEOUT):
    """Return the status and the reported cycles; the list may be empty if the
    process is gone."""
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired as late:
        process.kill()
        process.communicate()
        raise AssertionError(f"{process.args} hangs") from late
    wanted = (0, -signal.SIGKILL, 99) if may_be_gone else (0, -signal.SIGKILL)
    check(process.returncode in wanted, f"{process.args}: {process.returncode}: {err}")
    return process.returncode, [json.loads(line) for line in out.splitlines() if line[:1] == b"{"]


def tool(pid, *args, **popen):
    """Run the tool to its end; return all cycles."""
    status, cycles = end_tool(start_tool(pid, *args, **popen))
    equal(status, 0, "status of the tool")
    return cycles


def was_put_in(cycle):
    for key in ("open", "ask", "close"):
        equal(cycle.get(key), 0, f"{key} ({cycle.get(f'{key}_reason')})")


def put_in_and_out(target, *args):
    """Inject and remove the helper at least once. Retry if a busy machine offered no safe
    moment in time."""
    for _ in range(5):
        cycles = tool(target.pid, *args)
        if all(-errno.EAGAIN not in (cycle["open"], cycle.get("close")) for cycle in cycles):
            break
    for cycle in cycles:
        was_put_in(cycle)
    return cycles


# The steps of stopping, inspecting and releasing a process.
LOOKED_AT = {"open: seize", "open: interrupt"}


def is_refused(pid, *args, wanted=(errno.EOPNOTSUPP,), steps=frozenset(), **popen):
    """Check that injection is refused after at most these steps; return the reason."""
    cycle = tool(pid, *args, **popen)[0]
    check(-cycle["open"] in wanted, f"open: {cycle}")
    check(cycle["open_reason"], "no reason given")
    check(set(cycle["steps"]) <= steps, f"steps: {cycle}")
    return cycle["open_reason"]


def steps_of(target):
    """Return the names of all steps of one cycle, in order."""
    return put_in_and_out(target, "-n", 1)[0]["steps"]


# Fields that change in any process, or that only ever grow.
STATUS_OF_THE_MOMENT = re.compile(rb"State|Vm(Peak|HWM|RSS|PTE|Swap)|Rss(Anon|File|Shmem)|SigQ|"
                                  rb"(non)?voluntary_ctxt_switches|Speculation|Cpus_|Mems_")


LIBC_SIGNALS = 1 << 31 | 1 << 32


def own_status(pid):
    """Return status without libc's internal signals: libc catches them from the second
    thread on, even if they were ignored when the program started."""
    found = []
    for line in read_proc(pid, "status").splitlines():
        if line.startswith((b"SigCgt:", b"SigIgn:")):
            key, signals = line.split()
            line = b"%s\t%016x" % (key, int(signals, 16) & ~LIBC_SIGNALS)
        if not STATUS_OF_THE_MOMENT.match(line):
            found.append(line)
    return found


def threads(pid):
    return sorted(int(tid) for tid in os.listdir(f"/proc/{pid}/task"))


def descriptors_now(pid):
    found = {}
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            found[int(fd)] = os.readlink(f"/proc/{pid}/fd/{fd}")
        except FileNotFoundError:
            pass  # closed in the meantime
    return found


def descriptors(pid):
    """Return the descriptors that stay open: glibc briefly opens a file to count
    processors for an arena."""
    found = descriptors_now(pid)
    for _ in range(100):
        time.sleep(0.001)
        before, found = found, descriptors_now(pid)
        if found == before:
            break
    return found


def maps(pid):
    return read_proc(pid, "maps").splitlines()


def file_maps(pid):
    """Return the mappings that an allocating process does not change itself."""
    return [line for line in maps(pid) if b"/" in line or b"[v" in line or b"[stack" in line]


def facts(pid, maps_of=maps):
    """Return the facts about a process that must be restored at the end."""
    found = {"maps": maps_of(pid), "descriptors": descriptors(pid), "threads": threads(pid),
             "place": os.readlink(f"/proc/{pid}/cwd"), "exe": os.readlink(f"/proc/{pid}/exe")}
    for tid in found["threads"]:
        status = own_status(f"{pid}/task/{tid}")
        if maps_of is not maps:
            status = [line for line in status if not line.startswith(b"Vm")]
        found[f"status of {tid}"] = status
        found[f"comm of {tid}"] = read_proc(f"{pid}/task/{tid}", "comm")
    return found


def check_same(before, now):
    for key in sorted(before.keys() | now.keys()):
        a, b = before.get(key), now.get(key)
        if isinstance(a, list) and isinstance(b, list):
            gone, new = [x for x in a if x not in b], [x for x in b if x not in a]
            check(not gone and not new, f"{key}: {gone} became {new}")
        equal(b, a, key)


def room_of(pid):
    return sum(int(end, 16) - int(start, 16) for start, end in
               (line.split()[0].split(b"-") for line in maps(pid)))


# what the entered thread is doing
KINDS = [("spin", 0), ("call", "poll"), ("call", "epoll_wait"), ("call", "nanosleep:1000000"),
         ("call", "futex"), ("call", "read")]
LEFT_OVER = MIB  # upper bound after a kill
# A thread released before the kernel is told to restart its call gets EINTR, as after any
# stop; see signal(7).
INTERRUPTED = "epoll_wait"


def own_part(status):
    """Return the lines of a thread's status that do not concern memory
    or other threads."""
    return [line for line in status if not line.startswith((b"Vm", b"Threads", b"FDSize"))]


class KillTarget(InjectTarget):
    """A target in the state in which it will be entered."""

    def __init__(self, kind, argument):
        super().__init__(kind, argument)
        self.call = argument if kind == "call" else None
        self.begin()
        self.seen, self.room = facts(self.pid), room_of(self.pid)

    def begin(self):
        if self.call:
            self.say(b"c")
            self.wait_until_parked()

    def check_as_before(self):
        self.check_whole()
        for tid in self.seen["threads"]:
            wait_until(lambda tid=tid: own_part(facts(self.pid)[f"status of {tid}"]) ==
                       own_part(self.seen[f"status of {tid}"]), f"{tid} is restored")
        equal(facts(self.pid)["descriptors"], self.seen["descriptors"], "descriptors")
        if not self.call:
            self.check_goes_on()
        elif not self.is_in_call:
            equal((self.call, self.read_until(b"done")["errno"]), (INTERRUPTED, errno.EINTR), "call")
            self.begin()

    def kill_at(self, step):
        """Kill the tool at this step. A leftover helper answers the next tool, and exits
        when it stays idle."""
        status, _ = end_tool(start_tool(self.pid, "-k", step))
        equal(status, -signal.SIGKILL, f"status after step {step}")
        self.check_as_before()
        put_in_and_out(self, "-n", 1)
        self.check_as_before()
        self.check_left_over()

    def check_left_over(self):
        left = room_of(self.pid) - self.room
        check(left <= LEFT_OVER, f"{left} bytes are left over")
        more = set(threads(self.pid)) - set(self.seen["threads"])
        check(len(more) <= 1, f"threads: {more}")
        return left


class Cgroup:
    """A cgroup, version 1 or 2, with this controller; skips the test if it cannot be
    made. set() writes its file."""

    def __init__(self, controller, file_of_1, file_of_2):
        for parent, file in ((f"/sys/fs/cgroup/{controller}", file_of_1), ("/sys/fs/cgroup", file_of_2)):
            self.path = os.path.join(parent, f"memstate-inject-{os.getpid()}")
            self.file = os.path.join(self.path, file)
            try:
                os.mkdir(self.path)
            except OSError:
                continue
            if os.path.exists(self.file):
                return
            os.rmdir(self.path)
        raise Skip(f"no cgroup of {controller} can be made")

    def write(self, file, value):
        with open(os.path.join(self.path, file), "w", encoding="ascii") as f:
            f.write(str(value))

    def set(self, value):
        self.write(self.file, value)

    def is_removed(self):
        try:
            os.rmdir(self.path)
        except OSError:
            return False
        return True

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        wait_until(self.is_removed, "the cgroup is empty")
