# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports on kernel logs of any size and origin, within time and memory limits."""

import json
import os
import resource
import subprocess

from live import MEMSTATE, Folder, check, equal, memstate, need_small_address_space, run, test

MIB = 1 << 20


def report(number, group, when="[{0}.5] "):
    """Return a complete report with a table of 100 tasks; number is the victim's pid."""
    lines = ["hog invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0",
             "memory: usage 65536kB, limit 65536kB, failcnt 31",
             f"Memory cgroup stats for {group}:", "anon 62914560", "file 4096", "shmem 0", "kernel 1048576",
             "[  pid  ]   uid  tgid total_vm      rss pgtables_bytes swapents oom_score_adj name"]
    lines += [f"[{100000 + task:7}]     0 {100000 + task:5}     4096     1024    49152        0             0 other {task}"
              for task in range(100)]
    lines += [f"[{number:7}]     0 {number:5}    12172    15360   106496        0             0 hog",
              f"oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg={group},"
              f"task_memcg={group},task=hog,pid={number},uid=0",
              f"Memory cgroup out of memory: Killed process {number} (hog) total-vm:48688kB, anon-rss:61440kB, "
              "file-rss:0kB, shmem-rss:0kB, UID:0 pgtables:104kB oom_score_adj:0"]
    return "".join(when.format(number) + line + "\n" for line in lines)


def explain(data, *args):
    """Return status, output, messages and CPU seconds."""
    process = subprocess.Popen([MEMSTATE, "oom", "explain", "--kmsg", "-", *args], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    before = os.times()
    out, err = process.communicate(data if isinstance(data, bytes) else data.encode())
    after = os.times()
    cpu = (after.children_user - before.children_user
           + after.children_system - before.children_system)
    return process.returncode, out.decode(), err.decode(), cpu


@test
def many_kills_get_a_summary_first_and_cost_little():
    log = "".join(report(1000 + n, f"/pods/{n % 3}") for n in range(348))
    status, out, err, cpu = explain(log)
    equal([status, err], [0, ""], "status")
    lines = out.splitlines()
    text = " ".join(lines[:3])
    check(text.startswith("The log contains 348 kills between 1000 s after boot and 1347 s after boot. "
                          "Most frequent limit: /pods/0 (116), most frequent victim: hog (348)."), text)
    check(any(line.split() == ["116", "60.0M", "/pods/2"] for line in lines[:10]), lines[:10])
    check(any(line.split() == ["348", "60.0M", "hog"] for line in lines[:14]), lines[:14])
    equal(sum(line.startswith("killed   hog (") for line in lines), 348, "kills listed")
    check(cpu < 1, f"{cpu} s of CPU time")
    with Folder() as folder:
        path = f"{folder}/page.html"
        status, out, err, cpu = explain(log, "--html", path)
        equal([status, out, err], [0, "", ""], "status")
        check(cpu < 1, f"{cpu} s of CPU time")
        size = os.path.getsize(path)
        check(100000 < size <= 2 * MIB, f"a page of {size} bytes")


@test
def json_has_the_summary_in_the_first_kill():
    day = "2026-11-22T15:4{0}:01+00:00 host kernel: "
    cut = day.format(3) + "hog invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0\n"
    empty = day.format(4) + "Memory cgroup out of memory: Killed process 4 (none) total-vm:1kB, anon-rss:0kB, file-rss:0kB\n"
    # kill 1 is later in the file, but earlier in time
    log = report(2, "/pods/a", day) + report(1, "/pods/b", day) + empty + cut + report(6, "/pods/a", day)
    status, out, err, _ = explain(log, "--json")
    equal([status, err], [0, ""], "status")
    kills = [json.loads(line) for line in out.splitlines()]
    equal([bool(kill["summary"]) for kill in kills], [True, False, False, False, False],
          "kills with a summary")
    rss = 15360 * 4096
    equal(kills[0]["summary"], {
        "kill_count": 5, "left_out_count": 0, "unkillable_count": 0,
        "first": "2026-11-22T15:41:01.000Z", "last": "2026-11-22T15:46:01.000Z",
        "limits": [{"limit": "cgroup", "cgroup": "/pods/a", "kill_count": 2, "largest_rss_bytes": rss},
                   {"limit": "cgroup", "cgroup": "/pods/b", "kill_count": 1, "largest_rss_bytes": rss},
                   {"limit": "cgroup", "cgroup": None, "kill_count": 1, "largest_rss_bytes": 0},
                   {"limit": "unknown", "cgroup": None, "kill_count": 1, "largest_rss_bytes": None}],
        "victims": [{"name": "hog", "kill_count": 3, "largest_rss_bytes": rss},
                    {"name": "none", "kill_count": 1, "largest_rss_bytes": 0},
                    {"name": None, "kill_count": 1, "largest_rss_bytes": None}]}, "summary")
    text = explain(log)[1]
    check(" ".join(text.split()).startswith(
        "The log contains 5 kills between 2026-11-22T15:41:01.000Z and 2026-11-22T15:46:01.000Z."), text[:200])
    check("       1            0  none\n       1            -  not in the log\n" in text, text[:800])
    equal(json.loads(explain(report(1, "/g"), "--json")[1])["summary"], None,
          "summary of a single kill")


@test
def a_page_is_bounded_and_escapes_names():
    log = "".join(report(1000 + n, f"/<script>alert({n})</script>{'x' * 400}") for n in range(3000))
    with Folder() as folder:
        path = f"{folder}/page.html"
        equal(explain(log, "--html", path)[0], 0, "status")
        with open(path, encoding="utf-8") as f:
            page = f.read()
        check(len(page) <= 2 * MIB and "more kills are not on this page" in page, len(page))
        check("<script>alert" not in page and "&lt;script&gt;alert" in page, "the name is not escaped")
    status, _, err, _ = explain(log, "--html", "/no/such/page.html")
    equal(status, 1, err)
    status, _, err, _ = explain(log, "--html", "x.html", "--json")
    equal(status, 2, err)


def bound_memory():
    resource.setrlimit(resource.RLIMIT_DATA, (100 * MIB, 100 * MIB))


@test
def an_endless_line_costs_no_memory():
    need_small_address_space()
    line = b"x" * (1 << 20)
    process = subprocess.Popen([MEMSTATE, "oom", "explain", "--kmsg", "-", "--json"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               preexec_fn=bound_memory)
    out, err = process.communicate(line * 256 + ("\n" + report(7, "/g")).encode())
    equal(process.returncode, 0, err)
    check(b": 1 line is too long" in err, err)
    equal(json.loads(out)["victim"]["pid"], 7, "victim after the long line")


@test
def figures_missing_from_a_truncated_report_are_left_out():
    head = "hog invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0\nMem-Info:\n"
    tail = ("[  pid  ]   uid  tgid total_vm      rss pgtables_bytes swapents oom_score_adj name\n"
            "[     77]     0    77    12172    15360   106496        0             0 hog\n"
            "oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,"
            "task_memcg=/x,task=hog,pid=77,uid=0\n")
    free = "Node 0 Normal free:100kB low:300kB\n"
    swap = "Total swap = 8388608kB\n"
    for lines, zones, cause in [
            (free + swap, "zones Normal of node 0 100.0K free cause", "regardless of the limit of the cgroup advice"),
            ("Free swap  = 1024kB\n" + swap, None, "regardless of the limit of the cgroup: 1.0M of 8.0G of swap is free advice"),
            ("Total swap = 0kB\n", None, "regardless of the limit of the cgroup: the machine has no swap advice"),
            ("Node 0 Normal free:100kB min:200kB low:300kB\n",
             "zones Normal of node 0 100.0K free (minimum 200.0K) cause",
             "zone Normal of node 0 has 100.0K free, below its minimum of 200.0K advice")]:
        out = " ".join(explain(head + lines + tail)[1].split())
        check(cause in out, out)
        check(zones in out if zones else "zones " not in out, out)
        machine = json.loads(explain(head + lines + tail, "--json")[1])["machine"]
        equal([machine["ram_bytes"], machine["free_bytes"]], [None, None], "unknown figures")


@test
def kills_without_a_cgroup_are_not_hidden():
    named = report(7, "/g")
    nameless = "Memory cgroup out of memory: Killed process 8 (y) total-vm:1kB, anon-rss:2kB, file-rss:3kB\n"
    for log, status, pids in [(named + nameless, 0, [7, 8]), (nameless, 3, [8]),
                              (report(7, "/other"), 1, []),
                              (report(7, "/other") + nameless, 3, [8])]:
        got, out, err, _ = explain(log, "--cgroup", "/g", "--json")
        equal([got, [json.loads(line)["victim"]["pid"] for line in out.splitlines()]], [status, pids], err)
        check(("does not name the cgroup" in err) == (8 in pids), err)
    equal(explain(named + nameless, "--json")[2], "", "messages without --cgroup")


@test
def times_are_in_text_and_json():
    for when, text, time, log_time, boot in [
            ("[{0}.5] ", "7.500000 s after boot", None, None, 7.5),
            ("Sep 27 11:33:05 host kernel: ", "Sep 27 11:33:05", None, "Sep 27 11:33:05", None),
            ("[Thu Dec  7 00:05:14 2017] ", "Thu Dec 7 00:05:14 2017", None, "Thu Dec  7 00:05:14 2017", None),
            ("2026-11-22T15:41:01.250+01:00 host kernel: [  9.25] ", "2026-11-22T14:41:01.250Z",
             "2026-11-22T14:41:01.250Z", "2026-11-22T15:41:01.250+01:00", 9.25)]:
        log = report(7, "/g", when)
        kill = json.loads(explain(log, "--json")[1])
        equal([kill["time"], kill["log_time"], kill["boot_seconds"]], [time, log_time, boot], when)
        equal(len(kill["tasks"]), 101, when)
        check(f"when     {text}\n" in explain(log)[1], explain(log)[1])


@test
def a_log_without_kills_is_reported_as_such():
    log = ("systemd invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=100\n"
           "Out of memory and no killable processes...\n")
    status, out, err, _ = explain(log)
    equal([status, out], [1, ""], err)
    check("no OOM kill found" in err and "memory ran out 1 time" in err, err)
    status, out, err, _ = explain("kworker/0:2 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=-1\n"
                                  "Out of memory: Killed process 9 (x) total-vm:4kB, anon-rss:2kB, file-rss:0kB\n",
                                  "--json")
    equal(json.loads(out)["cause"], "sysrq", err)
    equal(memstate("oom", "explain", "--kmsg", "/no/such").must_be(1).out, b"",
          "output for a missing file")


run()
