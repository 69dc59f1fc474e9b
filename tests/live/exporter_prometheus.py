#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A real Prometheus scrapes the exporter with the committed rules, while processes come and go
and one is killed. The exporter needs no more rights than the manifests and units give it."""

import contextlib
import os
import shutil
import subprocess
import tempfile
import threading
import urllib.request

import oom_lib
from exporter_lib import Exporter, add_up, free_port, parse, rss, sleepers
from live import (IS_ROOT, MEMSTATE, MIB, TIMEOUT, Skip, check, equal, need_built_with, run, test,
                  wait_until)
from oom_lib import Group
from prometheus_lib import Prometheus

RULES = [os.path.join(os.environ["srcdir"], "contrib", "prometheus", name)
         for name in ("memstate-rules.yml", "memstate-alerts.yml")]
RESIDENT = "memstate_group_resident_bytes"
KILLS = "memstate_cgroup_oom_kills_total"


@contextlib.contextmanager
def scraped(*args):
    with tempfile.TemporaryDirectory() as folder, \
         Exporter("--top", "1000", "-i", "500ms", "--max-cpu", "100%", *args) as exporter:
        exporter.wait_ready()
        with Prometheus(folder, f"127.0.0.1:{exporter.port}", RULES) as prometheus:
            wait_until(lambda: prometheus.value("up") == 1, "Prometheus has scraped")
            yield prometheus


@contextlib.contextmanager
def churn(folder):
    """Start and end processes until the end of the block. Return their number in a list."""
    is_over, started = threading.Event(), []

    def begin():
        while not is_over.is_set():
            with sleepers(folder, f"churn{os.getpid()}", 3) as pids:
                started.extend(pids)
                is_over.wait(0.2)
    thread = threading.Thread(target=begin)
    thread.start()
    try:
        yield started
    finally:
        is_over.set()
        thread.join()


@test
def the_sums_stay_right_while_processes_come_and_go():
    name = f"stay{os.getpid()}"
    with tempfile.TemporaryDirectory() as folder, sleepers(folder, name, 3) as pids, \
         churn(folder) as started, scraped("--group-by", "comm") as prometheus:
        # this writes back pages of the program: their state changes, and their sum does not
        with open(os.path.join(folder, name), "rb") as program:
            os.fsync(program)
        count = len(started)
        wait_until(lambda: len(started) >= count + 12 and
                   prometheus.value("count_over_time(up[1m])") >= 5, "five scrapes and four generations")
        equal(prometheus.value("min_over_time(up[1m])"), 1, "every scrape succeeded")
        equal(prometheus.value(f'memstate:group_resident:bytes{{group="{name}"}}'), rss(pids),
              "the recorded sum of a group")
        for over in ("min_over_time", "max_over_time"):
            equal(prometheus.value(f'{over}(memstate:group_resident:bytes{{group="{name}"}}[1m])'),
                  rss(pids), f"{over} of the processes that stay")
        churned = prometheus.value(f'max_over_time(memstate_group_processes{{group="churn{os.getpid()}"}}[1m])')
        check(churned is None or 1 <= churned <= 3, f"processes of one generation: {churned}")
        # other groups of this machine may have alerts, and a few processes may be unreadable
        for alerts in (f'group="{name}"', 'alertname=~"MemstateExporter(Down|Failed|Stale|Full)"'):
            equal(prometheus.query(f'ALERTS{{alertstate="firing",{alerts}}}'), [], "alerts")


@oom_lib.test
def a_kill_counts_from_0_to_1_and_fires_the_alert():
    with Group(24 * MIB) as group:
        with oom_lib.Filled(group, "anon=8"), scraped("--group-by", "cgroup") as prometheus:
            series = f'{KILLS}{{group="{group.path}"}}'
            wait_until(lambda: prometheus.value(series) is not None, "the counter exists")
            equal(prometheus.value(series), 0, "the counter before the kill")
            near = prometheus.value(f'memstate_cgroup_limit_bytes{{group="{group.path}"}}')
            equal(near, 24 * MIB, "the limit")
            equal(prometheus.query('ALERTS{alertname="MemstateOomKill"}'), [], "no alert yet")
            check(group.run("anon=48") != 0, "the program is killed")
            wait_until(lambda: prometheus.value(series) == 1, "the counter is 1")
            wait_until(lambda: prometheus.query('ALERTS{alertname="MemstateOomKill",alertstate="firing",'
                                                f'group="{group.path}"}}'), "the alert fires")
            equal(prometheus.value(f"max_over_time({series}[1m])"), 1, "never more than 1")


def kernel_has_perfmon():
    """CAP_PERFMON permits reading the memory figures of other processes since Linux 6.15."""
    return tuple(int(x) for x in os.uname().release.split("-")[0].split(".")[:2]) >= (6, 15)


@contextlib.contextmanager
def serving_with(rights, *args):
    """Serve with setpriv's options; return a function that gets the samples."""
    port = free_port()
    process = subprocess.Popen(["setpriv", *rights, "--no-new-privs", MEMSTATE, "exporter", *args,
                                "--web.listen-address", f"127.0.0.1:{port}"], stderr=subprocess.PIPE)

    def get():
        check(process.poll() is None, "the exporter has ended")
        with contextlib.suppress(OSError):
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=TIMEOUT) as response:
                return parse(response.read().decode())
        return None
    try:
        wait_until(get, "the exporter serves")
        yield get
    finally:
        process.kill()
        process.communicate()


def count_known(samples, group):
    """Return the number of processes that the exporter has tried to read."""
    return sum(add_up(samples, f"memstate_group_{kind}processes", group=group) or 0 for kind in ("", "unreadable_"))


@test
def the_rights_of_the_manifests_and_units_suffice():
    """As root in a container, or as another user, with CAP_PERFMON or CAP_SYS_PTRACE alone."""
    need_built_with("MICROHTTPD")
    if not IS_ROOT or not shutil.which("setpriv"):
        raise Skip("requires root and setpriv")
    other_user = ["--reuid=65534", "--regid=65534", "--clear-groups"]
    name = f"own{os.getpid()}"
    with tempfile.TemporaryDirectory() as folder, sleepers(folder, name, 2) as pids:
        for capability, suffices in (("+perfmon", kernel_has_perfmon()), ("+sys_ptrace", True), ("", False)):
            only = ",".join(["-all", capability]).rstrip(",")
            rights = [f"--inh-caps={only}", f"--bounding-set={only}"]
            for who in ([], [*other_user, f"--ambient-caps={only}"]):
                with serving_with([*who, *rights], "--group-by", "comm", "--match", f"^{name}$",
                                  "-i", "500ms", "--max-cpu", "100%") as get:
                    # on a busy machine, the first collection may not reach the processes
                    wait_until(lambda g=get: count_known(g(), name) == 2, "both are known")
                    samples = get()
                what = f"with {capability or 'nothing'} as {'another user' if who else 'root'}"
                equal(add_up(samples, RESIDENT, group=name), rss(pids) if suffices else 0, what)
                equal(add_up(samples, "memstate_group_unreadable_processes", group=name),
                      0 if suffices else 2, f"unreadable {what}")


if __name__ == "__main__":
    run()
