#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""memstate exporter: its figures, its formats, and a real Prometheus."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile

from exporter_lib import OPENMETRICS, Exporter, add_up, parse, rss, sleepers
from live import (MIB, STATES, TIMEOUT, Skip, Target, check, equal, memstate, run, start_memstate,
                  test, wait_until)
from prometheus_lib import Prometheus

RESIDENT = "memstate_group_resident_bytes"


# Print the families that Prometheus' own client for Python reads, with type and unit.
STRICT = """
import json, sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
families = text_string_to_metric_families(sys.stdin.read())
print(json.dumps({family.name: [family.type, family.unit] for family in families}))
"""


def once(*args):
    done = memstate("exporter", "--once", *args)
    equal(done.status, 0, "exit status")
    return done.out if isinstance(done.out, str) else done.out.decode()


@test
def the_sum_of_a_group_is_rss():
    name = f"grp{os.getpid()}"
    with tempfile.TemporaryDirectory() as folder, sleepers(folder, name, 3) as pids:
        samples = parse(once("--group-by", "comm", "--match", f"^{name}$"))
        equal(add_up(samples, RESIDENT, group=name), rss(pids), "resident")
        equal(add_up(samples, "memstate_group_processes", group=name), 3, "processes")
        owners = parse(once("--group-by", "exe", "--match", f"^{name}$", "--owners"))
        equal(add_up(owners, "memstate_group_owner_bytes", group=name), rss(pids), "owners")
        equal(add_up(owners, RESIDENT, group=name), rss(pids), "resident by smaps")


@test
def the_sum_is_the_same_however_it_is_grouped():
    """All processes that this test starts, among all others: in (rest) with --top 0."""
    name = f"sum{os.getpid()}"
    with tempfile.TemporaryDirectory() as folder, sleepers(folder, name, 2) as pids:
        samples = parse(once("--group-by", "comm", "--top", "0"))
        equal({dict(labels)["group"] for (at, labels) in samples if at == RESIDENT}, {"(rest)"},
              "groups")
        check(add_up(samples, RESIDENT) >= rss(pids), "the rest has the processes")


@test
def lazyfree_moves_only_its_state():
    with Target("lazyfree", 32 * MIB, 20 * MIB, 0, is_stopped=True):
        samples = parse(once("--group-by", "comm", "--match", "^target$"))
        check(add_up(samples, RESIDENT, group="target", state="lazyfree") >= 20 * MIB, "lazyfree")
        check(add_up(samples, RESIDENT, group="target", state="private_dirty") >= 12 * MIB, "dirty")
        equal({dict(labels)["state"] for (at, labels) in samples if at == RESIDENT}, set(STATES),
              "states")


@test
def promtool_finds_nothing_to_complain_about():
    if not shutil.which("promtool"):
        raise Skip("promtool is not installed")
    done = subprocess.run(["promtool", "check", "metrics"], input=once("--owners").encode(),
                          capture_output=True, timeout=TIMEOUT)
    equal((done.returncode, done.stdout, done.stderr), (0, b"", b""), "promtool")


@test
def the_strict_parser_takes_openmetrics():
    with Exporter("--owners", "--group-by", "comm") as exporter:
        exporter.wait_ready()
        text = exporter.get(Accept=OPENMETRICS).body.decode()
    parse(text)
    for python in (sys.executable, "/usr/bin/python3"):
        done = subprocess.run([python, "-c", STRICT], input=text.encode(), capture_output=True,
                              timeout=TIMEOUT)
        if b"ModuleNotFoundError" not in done.stderr:
            break
    else:
        raise Skip("python3-prometheus-client is not installed")
    equal(done.stderr, b"", "the parser's complaints")
    families = json.loads(done.stdout)
    equal(families[RESIDENT], ["gauge", "bytes"], RESIDENT)
    equal(families["memstate_build"], ["info", ""], "memstate_build")
    equal(families["memstate_oom_verdicts"], ["counter", ""], "memstate_oom_verdicts")


@test
def hostile_names_make_valid_lines():
    names = [b'a"b\\c\nd', b"\xff\xfe\x80", b"(rest)", b"\x1b[31mred", b"a,b={}", "\u202ebidi".encode()]
    script = "import ctypes,sys,time\nctypes.CDLL(None).prctl(15, sys.argv[1].encode('utf-8', 'surrogateescape'), 0, 0, 0)\n" \
             "print('ready', flush=True)\ntime.sleep(600)"
    with contextlib.ExitStack() as stack:
        for name in names:
            process = subprocess.Popen(["python3", "-c", script, name], stdout=subprocess.PIPE)
            stack.callback(process.wait)
            stack.callback(process.kill)
            equal(process.stdout.readline(), b"ready\n", "the process is ready")
        samples = parse(once("--group-by", "comm", "--top", "1000"))
    groups = {dict(labels)["group"] for (at, labels) in samples if at == RESIDENT}
    # libproc2 replaces control characters by dots before memstate sees them
    check(groups & {r'a\"b\\c\\x0ad', r'a\"b\\c.d'}, f"quotes and newline: {groups}")
    check(r"\\xff\\xfe\\x80" in groups, f"invalid UTF-8: {groups}")
    check(groups & {r"\\x1b[31mred", ".[31mred"}, f"escape: {groups}")
    check("(rest)" in groups, "rest")


@test
def a_textfile_is_replaced_as_a_whole():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "m.prom")
        process = start_memstate("exporter", "--textfile", path, "-i", "20ms", "--max-cpu", "100%")
        wait_until(lambda: os.path.exists(path), "the file exists")
        inodes = set()
        while len(inodes) < 5:
            with open(path) as f:
                inodes.add(os.fstat(f.fileno()).st_ino)
                text = f.read()
            check(text.endswith("\n") and "process_max_fds" in text.splitlines()[-1], "whole")
            parse(text)
        process.terminate()
        equal(process.wait(timeout=TIMEOUT), 0, "exit status")
        equal(os.listdir(folder), ["m.prom"], "no temporary file")


@test
def a_fifo_is_refused():
    # an open() of a FIFO without a reader would wait, with the signals blocked
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "m.prom")
        os.mkfifo(path)
        process = start_memstate("exporter", "--textfile", path)
        _, err = process.communicate(timeout=TIMEOUT)
        equal((process.returncode, err.decode()),
              (1, f"memstate: {path}: is a FIFO; --textfile requires a regular file\n"), "result")


@test
def a_full_disk_keeps_the_old_file():
    if not os.path.exists("/dev/full"):
        raise Skip("no /dev/full")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "m.prom")
        with open(path, "w") as f:
            f.write("old\n")
        # a file size limit fails like a full disk
        process = start_memstate("exporter", "--textfile", path, "-n", "2", "-i", "10ms",
                                 preexec_fn=lambda: __import__("resource").setrlimit(
                                     __import__("resource").RLIMIT_FSIZE, (1024, 1024)))
        _, err = process.communicate(timeout=TIMEOUT)
        equal(process.returncode, 1, "exit status")
        equal(err.decode().count("m.prom"), 1, "the error is reported once")
        with open(path) as f:
            equal(f.read(), "old\n", "the file")
        equal(os.listdir(folder), ["m.prom"], "no temporary file")


@test
def groups_go_and_come():
    name = f"gone{os.getpid()}"
    with tempfile.TemporaryDirectory() as folder, \
         Exporter("--group-by", "comm", "-i", "50ms", "--max-cpu", "100%", "--top", "1000") as exporter:
        exporter.wait_ready()
        with sleepers(folder, name, 2) as pids:
            samples = exporter.wait_for(
                lambda s: add_up(s, "memstate_group_processes", group=name) == 2, "the group is shown")
            equal(add_up(samples, RESIDENT, group=name), rss(pids), "resident")
        exporter.wait_for(lambda s: add_up(s, RESIDENT, group=name) is None, "the group is gone")
        equal(exporter.process.poll(), None, "the exporter runs")


@test
def the_budget_of_cpu_time_is_kept():
    with Exporter("-i", "10ms", "--max-cpu", "4%") as exporter:
        exporter.wait_ready()
        first = exporter.samples()
        begin = add_up(first, "memstate_collect_timestamp_seconds")
        last = exporter.wait_for(
            lambda s: add_up(s, "memstate_collect_timestamp_seconds") >= begin + 3, "three seconds of looks")
        elapsed = add_up(last, "memstate_collect_timestamp_seconds") - begin
        used = add_up(last, "memstate_collect_cpu_seconds_total") - \
            add_up(first, "memstate_collect_cpu_seconds_total")
        check(used <= 0.05 * elapsed, f"{used} s of CPU in {elapsed} s")
        check(used > 0, "looks were taken")


@test
def a_real_prometheus_scrapes():
    name = f"prom{os.getpid()}"
    with tempfile.TemporaryDirectory() as folder, sleepers(folder, name, 2) as pids, \
         Exporter("--group-by", "comm", "--top", "1000", "-i", "500ms", "--max-cpu", "100%") as exporter:
        exporter.wait_ready()
        with Prometheus(folder, f"127.0.0.1:{exporter.port}") as prometheus:
            wait_until(lambda: prometheus.value("up") is not None, "Prometheus has scraped")
            equal(prometheus.value("up"), 1, "up")
            equal(prometheus.value(f'sum({RESIDENT}{{group="{name}"}})'), rss(pids), "sum of resident")
            shown = prometheus.value("scrape_samples_scraped")
            equal(prometheus.value("scrape_samples_post_metric_relabeling"), shown, "all samples are taken")
            equal(prometheus.value('count({job="memstate",__name__=~"memstate_.*|process_.*"})'), shown,
                  "no series is lost or double")


if __name__ == "__main__":
    run()
