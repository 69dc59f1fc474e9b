# SPDX-License-Identifier: GPL-2.0-or-later
"""Whatever memstate reads of a process, the process is as it was before."""

import os

from live import (MIB, Folder, Target, check, equal, memstate, read_proc, run, sample, status_field,
                  stop, test)


def read_all_ways(pid):
    for args in (["--csv", "-n", 3, "-i", "50ms", "--output-all"], ["--csv", "-n1"],
                 ["--json", "-n1", "--output-all"], ["--text"], ["--text", "-t"]):
        memstate("-p", pid, *args).must_be(0)
    for args in ([], ["--csv"], ["--json"]):
        memstate("map", "-p", pid, *args).must_be(0)
    with Folder() as folder:
        memstate("capture", os.path.join(folder, "captured"), "-p", pid).must_be(0)


def facts(pid):
    keys = ["State", "TracerPid", "VmRSS", "VmHWM", "SigPnd", "ShdPnd", "voluntary_ctxt_switches",
            "nonvoluntary_ctxt_switches", "Threads"]
    return {key: status_field(pid, key) for key in keys}


def own_smaps(pid):
    """smaps, less what other processes that map the same files change in it."""
    lines, is_shared = [], False
    for line in read_proc(pid, "smaps").splitlines():
        if b"-" in line.split(b" ")[0]:
            is_shared = b"/" in line or b"[v" in line
        if not is_shared or not line.startswith((b"Pss", b"Shared_", b"Private_", b"Referenced")):
            lines.append(line)
    return lines


@test
def a_stopped_process_has_the_same_pages_in_the_same_states():
    with Target("lazyfree", 4 * MIB, 3 * MIB, MIB, MIB, is_stopped=True) as target:
        stop(target.truth["child"])
        pids = [target.pid, target.truth["child"]]
        before = [(facts(pid), own_smaps(pid)) for pid in pids]
        check(b"LazyFree:           1024 kB" in before[1][1], "the child has no LazyFree pages")
        for pid in pids:
            read_all_ways(pid)
        for pid, (status, smaps) in zip(pids, before):
            equal(facts(pid), status, "status")
            equal(set(own_smaps(pid)) ^ set(smaps), set(), f"what has changed in smaps of {pid}")
            equal(own_smaps(pid), smaps, f"smaps of {pid}")


@test
def a_sleeping_process_is_not_woken():
    with Target("threads", "plain", 4, MIB // 4) as target:
        before = [(tid, read_proc(f"{target.pid}/task/{tid}", "status"))
                  for tid in os.listdir(f"/proc/{target.pid}/task")]
        read_all_ways(target.pid)
        for tid, status in before:
            equal(read_proc(f"{target.pid}/task/{tid}", "status"), status, f"status of {tid}")


@test
def a_running_process_is_neither_stopped_nor_traced():
    with Target("threads", "spinning", 1, MIB // 4) as target:
        read_all_ways(target.pid)
        equal(status_field(target.pid, "TracerPid"), "0", "TracerPid")
        check(sample(target.pid, ["state"])["state"] in "RS", "state")


run()
