#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Measure what the metrics of one node cost Prometheus: bytes per sample on disk, and memory
per series. The node is generated; Prometheus and promtool are real.

Usage: fleet_cost.py MEMSTATE [CONTAINERS [TOP [HOURS [NODES]]]]
"""

import collections
import http.server
import os
import random
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

PAGE = 4096
INTERVAL_S = 30
BEGIN_S = 1_700_006_400  # a multiple of two hours, where a block begins
STATES = ["private_dirty", "lazyfree", "private_clean", "shared_dirty", "shared_clean"]
PARTS = ["live_anon", "shmem", "kernel", "sock", "lazyfree", "file", "slab_reclaimable", "unexplained"]
MOVES = re.compile("resident|pss|usage|need_bytes|working_set|memory_bytes|cpu_seconds|locked|duration")
CONSTANT = re.compile("limit_bytes|start_time|build_info|max_fds|processes|oom_kill|left_out|success")


class Series:
    """A value at each scrape: amounts walk by pages, ages repeat, counts rarely change."""

    def __init__(self, name, labels, rand):
        self.name, self.labels, self.rand = name, labels, rand
        self.value = rand.randrange(1, 200_000) * PAGE if "bytes" in name else 0

    def next(self):
        if CONSTANT.search(self.name):
            return self.value
        if "age_seconds" in self.name:
            return round(self.rand.uniform(0, 60), 3)
        if "timestamp" in self.name or "duration" in self.name:
            return round(self.rand.uniform(0, 1e6), 3)
        if self.name.endswith("seconds_total"):
            self.value = round(self.value + self.rand.random(), 6)
        elif 'state="private_dirty"' in self.labels or 'state="' not in self.labels and \
                MOVES.search(self.name):
            # every process allocates or frees between two scrapes
            self.value = max(0, self.value + self.rand.randrange(-256, 257) * PAGE)
        elif self.rand.random() < 0.1:
            self.value = max(0, self.value + self.rand.randrange(-16, 17) * PAGE)
        return self.value


def families(memstate):
    out = subprocess.run([memstate, "exporter", "--list-metrics"], check=True, capture_output=True, text=True)
    for line in out.stdout.splitlines():
        name, kind, _, labels, option = line.split("\t")[:5]
        if not option:
            yield name, kind, labels.split(",") if labels else []


def node(memstate, containers, top, seed):
    """Return the series of a node: a top group for each of `top`, a cgroup per container."""
    rand = random.Random(seed)
    names = [f"namespace{i % 20}/deployment{i}-{rand.randrange(16**15):015x}/app"
             for i in range(containers)]
    values = {"state": STATES, "part": PARTS, "stage": ["list", "cgroups", "processes"],
              "verdict": [f"verdict{i}" for i in range(27)]}
    for name, _, labels in families(memstate):
        others = [label for label in labels if label != "group"]
        if name.endswith("eta_seconds") or "eta_soonest" in name or "last_oom_kill" in name:
            groups = []  # absent in a node without a problem
        elif "group" not in labels:
            groups = [None]
        elif name.startswith("memstate_group") or "part" in labels:
            groups = names[:top] + ["(rest)"] * ("part" not in labels)
        else:
            groups = names
        for group in groups:
            base = []
            if group:
                base = [f'group="{group}"']
                if "/" in group:
                    base += [f'{k}="{v}"' for k, v in zip(("namespace", "pod", "container"), group.split("/"))]
            for value in values.get(others[0], ["x"]) if others and others[0] in values else [None]:
                more = [f'{others[0]}="{value}"'] if value else [f'{o}="x"' for o in others]
                yield Series(name, ",".join(base + more), rand)


def directory_bytes(folder):
    return sum(os.path.getsize(os.path.join(at, name))
               for at, _, names in os.walk(folder) for name in names)


def measure_disk(memstate, containers, top, hours):
    """Make blocks of `hours` of scrapes, as Prometheus writes them."""
    series = list(node(memstate, containers, top, 1))
    scrapes = int(hours * 3600 / INTERVAL_S)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "text")
        by_name = collections.defaultdict(list)
        for s in series:
            by_name[s.name].append(s)
        with open(path, "w") as f:
            for name, members in by_name.items():
                f.write(f"# TYPE {name} gauge\n")
                for s in members:
                    labels = f'instance="node1:9742",job="memstate"{"," if s.labels else ""}{s.labels}'
                    for i in range(scrapes):
                        f.write(f"{name}{{{labels}}} {s.next()} {BEGIN_S + i * INTERVAL_S}\n")
            f.write("# EOF\n")
        data = os.path.join(folder, "data")
        subprocess.run(["promtool", "tsdb", "create-blocks-from", "openmetrics", path, data], check=True,
                       stdout=subprocess.DEVNULL)
        chunks = sum(directory_bytes(os.path.join(data, b, "chunks")) for b in os.listdir(data))
        total = directory_bytes(data)
    samples = len(series) * scrapes
    print(f"{containers} containers, --top {top}: {len(series)} series; {samples} samples in {hours:g} h: "
          f"chunks {chunks / samples:.2f}, with index {total / samples:.2f} bytes per sample")


class Nodes(http.server.BaseHTTPRequestHandler):
    nodes = []

    def do_GET(self):
        text = "".join(f"{s.name}{{{s.labels}}} {s.next()}\n" for s in self.nodes[int(self.path.split("/")[1])])
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *args):
        pass


def rss_bytes(pid):
    with open(f"/proc/{pid}/smaps_rollup") as f:
        return int(re.search(r"^Rss: +(\d+) kB", f.read(), re.M)[1]) * 1024


def measure_memory(memstate, containers, top, count):
    """Scrape `count` generated nodes for two minutes, and read the Rss of Prometheus."""
    Nodes.nodes = [list(node(memstate, containers, top, i)) for i in range(count)]
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Nodes)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        address = "127.0.0.1:%d" % s.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        config = os.path.join(folder, "c.yml")
        with open(config, "w") as f:
            f.write("global: {scrape_interval: 15s}\nscrape_configs:\n")
            for i in range(count):
                f.write(f"- job_name: node{i}\n  metrics_path: /{i}/metrics\n  honor_labels: true\n"
                        f"  static_configs: [{{targets: ['127.0.0.1:{server.server_port}']}}]\n")
        process = subprocess.Popen(["prometheus", f"--config.file={config}", f"--web.listen-address={address}",
                                    f"--storage.tsdb.path={folder}/data"], stderr=subprocess.DEVNULL)
        try:
            time.sleep(5)
            first = rss_bytes(process.pid)
            time.sleep(120)
            with urllib.request.urlopen(f"http://{address}/metrics") as response:
                metrics = response.read().decode()
            series = float(re.search(r"^prometheus_tsdb_head_series (\S+)", metrics, re.M)[1])
            heap = float(re.search(r"^go_memstats_heap_inuse_bytes (\S+)", metrics, re.M)[1])
            last = rss_bytes(process.pid)
        finally:
            process.terminate()
            process.wait()
    print(f"{count} nodes, {series:.0f} series in the head: Rss {last / 2**20:.0f} MiB (after 5 s "
          f"{first / 2**20:.0f} MiB), heap in use {heap / 2**20:.0f} MiB: "
          f"{last / series / 1024:.1f} KiB of Rss per series")


def main():
    memstate, numbers = sys.argv[1], [float(x) for x in sys.argv[2:]] + [None] * 4
    containers, top = int(numbers[0] or 220), int(numbers[1] or 50)
    hours, nodes = numbers[2] or 2, int(numbers[3] if numbers[3] is not None else 40)
    measure_disk(memstate, containers, top, hours)
    if nodes > 0:
        measure_memory(memstate, containers, top, nodes)


if __name__ == "__main__":
    main()
