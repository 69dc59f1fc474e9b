# SPDX-License-Identifier: GPL-2.0-or-later
"""Whatever memstate reads about a process, the process stays unchanged."""

import itertools
import os

from live import (MIB, Folder, Target, check, equal, is_in_state, memstate, read_proc, run, sample,
                  status_field, stop, test, wait_until)


def read_all_ways(pid, heap):
    for args in (["--csv", "-n", 3, "-i", "50ms", "--output-all"], ["--csv", "-n1"],
                 ["--json", "-n1", "--output-all"], ["--text"], ["--text", "-t"]):
        memstate("-p", pid, "--heap", heap, *args).must_be(0)
    for args in ([], ["--csv"], ["--json"]):
        memstate("map", "-p", pid, *args).must_be(0)
    with Folder() as folder:
        memstate("capture", os.path.join(folder, "captured"), "-p", pid).must_be(0)


def own_status(pid):
    """Return the lines of status, except those that count for all processes
    of the user."""
    return [line for line in read_proc(pid, "status").splitlines() if not line.startswith(b"SigQ")]


def own_state(pid):
    """Return the lines of status without context switches, which a stop changes."""
    return [line for line in own_status(pid) if b"ctxt_switches" not in line]


def own_smaps(pid):
    """Return the lines of smaps, except figures that other processes mapping the
    same files change."""
    lines, is_shared = [], False
    for line in read_proc(pid, "smaps").splitlines():
        if b"-" in line.split(b" ")[0]:
            is_shared = b"/" in line or b"[v" in line
        if not is_shared or not line.startswith((b"Pss", b"Shared_", b"Private_", b"Referenced")):
            lines.append(line)
    return lines


def check_same(pid, before, now):
    changed = [f"{a} became {b}" for a, b in itertools.zip_longest(before, now) if a != b]
    equal(changed, [], f"changes of {pid}")


def states(pid):
    return [read_proc(f"{pid}/task/{tid}", "stat").rsplit(b")", 1)[1].split()[0]
            for tid in sorted(os.listdir(f"/proc/{pid}/task"))]


def check_unchanged(pids, facts_of, heap="off"):
    before = [facts_of(pid) for pid in pids]
    for pid in pids:
        was = states(pid)
        read_all_ways(pid, heap)
        # the process returns to its group stop or sleep, on a busy machine only
        # after a moment
        wait_until(lambda pid=pid, was=was: states(pid) == was,
                   "the process is back in its former state")
    for pid, was in zip(pids, before):
        check_same(pid, was, facts_of(pid))


@test
def a_stopped_process_has_the_same_pages_in_the_same_states():
    with Target("unbacked", 8 * MIB, 4 * MIB, is_stopped=True) as target:
        check(b"Referenced:         4096 kB" in own_smaps(target.pid), "no referenced pages")
        check_unchanged([target.pid], lambda pid: own_status(pid) + own_smaps(pid))
        check_unchanged([target.pid], lambda pid: own_state(pid) + own_smaps(pid), "auto")


@test
def lazily_freed_or_shared_pages_keep_their_state():
    """The referenced state of lazily freed pages means nothing: the kernel changes it."""
    with Target("lazyfree", 4 * MIB, 3 * MIB, MIB, MIB, is_stopped=True) as target:
        child = target.truth["child"]
        stop(child)
        check(b"LazyFree:           1024 kB" in own_smaps(child), "nothing is lazily freed")
        pids = [target.pid, child]
        check_unchanged(pids, lambda pid: own_status(pid) + [
            line for line in own_smaps(pid) if not line.startswith(b"Referenced")])
        check_unchanged(pids, lambda pid: own_state(pid) + [
            line for line in own_smaps(pid) if not line.startswith(b"Referenced")], "auto")


@test
def a_sleeping_process_is_not_woken():
    with Target("threads", "plain", 4, MIB // 4) as target:
        wait_until(lambda: is_in_state(target.pid, b"S"), "all threads sleep")
        check_unchanged([target.pid], lambda pid: [
            line for tid in sorted(os.listdir(f"/proc/{pid}/task"))
            for line in own_status(f"{pid}/task/{tid}")])


@test
def a_running_process_is_neither_stopped_nor_traced_with_heaps_off():
    with Target("threads", "spinning", 1, MIB // 4) as target:
        read_all_ways(target.pid, "off")
        equal(status_field(target.pid, "TracerPid"), "0", "TracerPid")
        check(sample(target.pid, ["state"])["state"] in "RS", "state")


@test
def a_series_with_heaps_leaves_the_process_unchanged():
    def facts_of(pid):
        return own_state(pid) + [line for line in own_smaps(pid)
                                 if not line.startswith(b"Referenced")]

    with Target("lazyfree", 4 * MIB, 3 * MIB, 0, is_stopped=True) as target:
        check(b"LazyFree:           3072 kB" in own_smaps(target.pid), "nothing is lazily freed")
        before = facts_of(target.pid)
        rows = memstate("-p", target.pid, "--csv", "-n", 50, "-i", "10ms", "--max-share",
                        100).must_be(0).rows()
        equal(len(rows), 50, "samples")
        ages = [row["heap_age_s"] for row in rows]
        check(any(age <= last for last, age in zip(ages, ages[1:])), "the heap was not walked again")
        wait_until(lambda: is_in_state(target.pid, b"T"), "the process is stopped as before")
        check_same(target.pid, before, facts_of(target.pid))


run()
