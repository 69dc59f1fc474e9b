# SPDX-License-Identifier: GPL-2.0-or-later
"""memstate oom explain determines why a process ended, from a recording alone and with
the kernel's log."""

import json
import os
import select
import signal
import sqlite3

from live import (IS_ROOT, MIB, Folder, Skip, check, equal, memstate, run, start_memstate,
                  status_field)
from oom_lib import Filled, Group, test

LIMIT = 48 * MIB
KILLED = -signal.SIGKILL
HAS_LOG = os.access("/dev/kmsg", os.R_OK)


class Recording:
    """A recorded series of a cgroup; each row that it prints is a sample in the file."""

    def __init__(self, group, folder, interval="10ms"):
        self.begin(folder, "oom", "--cgroup", group.path, "-o", "usage_bytes", "-i", interval)

    def begin(self, folder, *args):
        self.file = f"{folder}/r"
        self.process = start_memstate(*args, "--csv", "--record", self.file, bufsize=0)
        self.take(2)

    def take(self, count):
        """Wait for this many samples that begin from now on."""
        out = self.process.stdout
        while select.select([out], [], [], 0)[0] and os.read(out.fileno(), 65536):
            pass
        for _ in range(count + 1):
            if not self.process.stdout.readline():
                err = self.process.stderr.read()
                if b"require SQLite" in err:
                    raise Skip("built without SQLite")
                raise AssertionError(f"the recorder has ended: {err}")

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        equal(self.process.wait(timeout=60), 0, "status of the recorder")

    def told(self, *args):
        """Return the explanation of all ends, without the log and, where it is
        readable, with it."""
        command = ["oom", "explain", "--record", self.file, "--json", *args]
        answers = [memstate(*command).must_be(0)]
        if HAS_LOG:
            answers.append(memstate(*command, "--kmsg", "/dev/kmsg").must_be(0))
        return [[json.loads(line) for line in answer.out.splitlines()] for answer in answers]


class Started:
    """A program that has done its steps up to ready=1 and continues on request."""

    def __init__(self, group, *steps):
        self.process = group.start(*steps)
        if self.process.stdout.readline() != b"ready\n":
            _, err = self.process.communicate()
            if self.process.returncode == 77:
                raise Skip(err.decode().strip())
            raise AssertionError(f"{steps}: status {self.process.returncode}: {err}")

    def __enter__(self):
        return self.process

    def __exit__(self, *unused):
        self.process.kill()
        self.process.wait()


def record_ends(group, before, after, samples=12, interval="10ms"):
    """Record from between the steps on; return the ends, explained without the log
    and with it."""
    with Folder() as folder, Started(group, *before, "ready=1", *after) as process:
        recording = Recording(group, folder, interval)
        recording.take(samples)
        process.communicate(b"x", timeout=60)
        recording.take(3)
        recording.end()
        return recording.told()


def last_ends(*args, **kwargs):
    return [ends[-1] for ends in record_ends(*args, **kwargs)]


def check_ends(ends, cause, **facts):
    for e in ends:
        equal([e["end"], e["cause"]], ["killed", cause], f"verdict ({e['why']}), has_report {e['has_report']}")
        for key, value in facts.items():
            equal(e[key], value, key)
    equal([e["has_report"] for e in ends], [False, True][:len(ends)], "has_report")


@test
def memory_that_was_freed_lazily_and_written_again():
    with Group(LIMIT) as group:
        ends = last_ends(group, ["anon=36", "free=0", "write=0"], ["leak=256/5"])
        check_ends(ends, "hidden", limit_cgroup=group.path, victim_cgroup=group.path)
        for e in ends:
            check(abs(e["sample"]["hidden_bytes"] - 36 * MIB) < 2 * MIB, f"hidden: {e['sample']}")
        # the same without MADV_FREE must not match
        for e in last_ends(group, ["anon=36", "write=0"], ["leak=256/5"]):
            check("hidden" not in [e["cause"], *e["also"]], f"hidden: {e}")


@test
def memory_freed_lazily_while_shared_with_a_child():
    with Group(LIMIT) as group:
        # parent and child have the same memory; either is killed first, and then
        # perhaps the other
        check_ends([ends[0] for ends in record_ends(group, ["anon=36", "fork=1", "free=0"], ["anon=30"])],
                   "forked_lazyfree")


@test
def huge_pages_with_one_written_byte():
    with Group(LIMIT) as group:
        for e in last_ends(group, ["thp=36", "free=0", "poke=0"], ["anon=30"]):
            equal(e["cause"], "hidden", "verdict")
            check("huge_pages" in e["also"], f"huge_pages is missing: {e}")


@test
def locked_memory():
    with Group(LIMIT) as group:
        check_ends(last_ends(group, ["anon=30", "free=0", "lock=0"], ["anon=30"]), "locked")


@test
def need_that_keeps_growing():
    with Group(LIMIT) as group:
        ends = last_ends(group, ["anon=4"], ["leak=256/8"], samples=2)
        check_ends(ends, "leak")
        for e in ends:
            grower = e["sample"]["growth"]["process"]
            # other load on the machine changes the pace, and the rise begins there
            check(grower and grower["to_bytes"] > LIMIT / 2, f"size of the grower: {grower}")
            check(grower["to_bytes"] - grower["from_bytes"] >= MIB, f"growth: {grower}")
            equal(grower["name"], "oom_target", "name of the grower")


@test
def need_that_rises_suddenly():
    with Group(LIMIT) as group:
        # a slow machine may take most of a second to fill the memory
        check_ends(last_ends(group, ["anon=4"], ["anon=60"], samples=16, interval="100ms"), "burst")


@test
def need_that_is_nearly_the_limit():
    with Group(LIMIT) as group:
        check_ends(last_ends(group, ["anon=44"], ["anon=9"], samples=40), "limit_too_small")


class RecordedHeap(Recording):
    """A recorded series of a process and its heap, without the cgroup."""

    def __init__(self, pid, folder):
        self.begin(folder, "-p", str(pid), "--heap", "walk", "-o", "live_bytes", "-i", "50ms")


@test
def memory_that_the_allocator_keeps():
    if not IS_ROOT or not HAS_LOG:
        raise Skip("reading heaps and the kernel's log requires root")
    for steps, is_kept in ([["malloc=34", "holes=1"], True], [["malloc=34"], False]):
        with Folder() as folder, Group(LIMIT) as group, \
                Started(group, *steps, "ready=1", "anon=30") as process:
            recording = RecordedHeap(process.pid, folder)
            recording.take(2)
            process.communicate(b"x", timeout=60)
            recording.process.wait(timeout=60)
            # the series ends with the process; without the log, nothing shows that
            # it was killed
            alone, with_log = [ends[0] for ends in recording.told()]
            equal([alone["end"], alone["cause"]], ["none", "nobody"] if alone["end"] == "none"
                  else ["gone", "unknown"], "without the log")
            equal([with_log["end"], "retention" in [with_log["cause"], *with_log["also"]]],
                  ["killed", is_kept], f"with the log: {with_log}")


@test
def thread_stacks():
    with Group(LIMIT) as group:
        for e in last_ends(group, ["stacks=200"], ["anon=30"]):
            # mappings are read as often as the time budget allows, so at least some
            # stacks are known
            check("thread_stacks" in [e["cause"], *e["also"]], f"stacks: {e}")
            equal(e["sample"]["thread_count"], 201, "threads")


@test
def shared_memory_and_kernel_memory():
    with Group(LIMIT) as group:
        check_ends(last_ends(group, ["shm=40"], ["anon=30"]), "shmem")
    with Group(LIMIT) as group:
        check_ends(last_ends(group, ["pipes=34"], ["anon=30"]), "kernel_memory")


@test
def page_tables_are_named_if_the_log_is_available():
    with Group(LIMIT) as group:
        ends = last_ends(group, ["tables=20"], ["anon=40"])
        check_ends(ends, "kernel_memory")
        if HAS_LOG:
            check("page tables" in ends[1]["why"], ends[1]["why"])


@test
def files_left_on_a_tmpfs():
    path = f"/dev/shm/memstate-{os.getpid()}"
    with Group(LIMIT) as group:
        try:
            equal(group.run(f"file=40:{path}"), 0, "status of the writer")
            check_ends(last_ends(group, ["anon=1"], ["anon=12"]), "tmpfs_leftovers")
        finally:
            if os.path.exists(path):
                os.unlink(path)


@test
def a_limit_of_a_parent():
    with Group(LIMIT) as parent, Group(2 * LIMIT, parent) as child:
        check_ends(last_ends(child, ["anon=20"], ["anon=60"]), "ancestor_limit",
                   limit_cgroup=parent.path, victim_cgroup=child.path)


@test
def page_cache_is_not_a_cause():
    with Folder() as folder, Group(LIMIT) as group:
        recording = Recording(group, folder)
        with Filled(group, f"file=100:{folder}/f", f"read=1:{folder}/f", "anon=10"):
            recording.take(2)
            recording.end()
            for (e,) in recording.told():
                equal([e["end"], e["cause"], e["victim"]], ["none", "page_cache", None], "verdict")


def watch_rss(pid, limit, is_fair):
    """End the process like a watchdog, by its Rss or by its Rss without LazyFree."""
    rss = int(status_field(pid, "VmRSS").split()[0]) * 1024
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as f:
        lazy = [int(line.split()[1]) * 1024 for line in f if line.startswith("LazyFree:")][0]
    if rss - (lazy if is_fair else 0) > limit:
        os.kill(pid, signal.SIGKILL)


@test
def a_watchdog_that_uses_rss_kills_for_reclaimable_memory():
    for is_fair in (False, True):
        with Folder() as folder, Group(128 * MIB) as group, \
                Filled(group, "anon=40", "free=0", "anon=12") as filled:
            recording = Recording(group, folder)
            recording.take(2)
            watch_rss(filled.pid, 45 * MIB, is_fair)
            if not is_fair:
                filled.process.wait(timeout=60)
            recording.take(3)
            recording.end()
            for (e,) in recording.told():
                wanted = ["none", "lazyfree"] if is_fair else ["gone", "rss_watcher"]
                equal([e["end"], e["cause"], e["confidence"]], [*wanted, "high"], "verdict")
            if not is_fair:
                pid = str(filled.pid)
                equal(recording.told("-p", pid)[0][0]["victim"]["pid"], filled.pid, "victim with -p")


@test
def a_kill_by_another_process_is_not_an_oom_kill():
    with Folder() as folder, Group(LIMIT) as group, Filled(group, "anon=40") as filled:
        recording = Recording(group, folder)
        recording.take(2)
        filled.process.kill()
        filled.process.wait(timeout=60)
        recording.take(3)
        recording.end()
        for (e,) in recording.told():
            equal([e["end"], e["cause"], e["victim"]["pid"]], ["gone", "not_the_kernel", filled.pid], "verdict")
        text = memstate("oom", "explain", "--record", recording.file).must_be(0).out.decode()
        check("the kernel did not kill it" in text and f"({filled.pid}) of {group.path}" in text, text)
        for args, status, word in [(["-p", "4194303"], 1, b"none of these"),
                                   (["--cgroup", "/no/such"], 1, b"does not contain that cgroup"),
                                   (["--replay", recording.file], 2, b"mutually exclusive"),
                                   (["--at", "+1s"], 2, b"--at")]:
            result = memstate("oom", "explain", "--record", recording.file, *args).must_be(status)
            check(word in result.err, result.err)
            equal(result.out, b"", "output")


@test
def recorded_events_replace_the_log():
    if not HAS_LOG:
        raise Skip("the kernel's log is not readable")
    with Folder() as folder, Group(LIMIT) as group:
        recording = Recording(group, folder)
        equal(group.run("anon=60"), KILLED, "status")
        recording.take(3)
        recording.end()
        victim = recording.told()[1][-1]["victim"]["pid"]
        log = memstate("oom", "explain", "--cgroup", group.path, "--json").must_be(0)
        with open("/dev/kmsg", "rb") as f:
            os.set_blocking(f.fileno(), False)
            lines = []
            while True:
                try:
                    lines.append(os.read(f.fileno(), 8192))
                except BrokenPipeError:
                    continue
                except BlockingIOError:
                    break
        lines = [line for line in lines if f"Killed process {victim} ".encode() in line]
        with sqlite3.connect(recording.file) as db:
            sample, unix_ms = db.execute("SELECT sample, unix_ms FROM sample ORDER BY sample DESC").fetchone()
            for line in lines:
                db.execute("INSERT INTO event(sample, unix_ms, kind, pid, text) VALUES(?, ?, 'oom_kill', NULL, ?)",
                           (sample, unix_ms, line))
        ends = recording.told()[0]
        equal([len(ends), ends[0]["victim"]["pid"], ends[0]["has_report"]], [1, victim, True],
              "ends explained by the event")
        check(json.loads(log.out.splitlines()[-1])["victim"]["pid"] == victim, log.out)


run()
