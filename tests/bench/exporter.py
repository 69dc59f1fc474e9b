#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The cost of memstate exporter, next to prometheus-process-exporter in the same run.

    exporter.py [SECONDS]

400 processes of 5 MiB in 100 mappings, 50 cgroups with a limit, a scrape of each exporter every 15
seconds. Then the CPU time of a scrape of some 4000 series.
"""

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

MEMSTATE = os.environ.get("MEMSTATE", "memstate")
PORT, PEER_PORT = 19742, 19743
KID = """
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
int main(void)
{
	for (int i = 0; i < 100; i++) {
		char *p = mmap(0, 53248, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		memset(p, 1, 53248);
		mprotect(p, 4096, PROT_READ);
	}
	pause();
}
"""


def find_hierarchy():
    with open("/proc/self/mountinfo") as f:
        for line in f:
            fields, _, rest = line.partition(" - ")
            kind, _, options = rest.split()
            if kind == "cgroup" and "memory" in options.split(","):
                return fields.split()[4], "memory.limit_in_bytes"
            if kind == "cgroup2":
                return fields.split()[4], "memory.max"
    sys.exit("there is no memory controller")


def cpu_ms(pid):
    return time.clock_gettime_ns((~pid << 3) | 2) / 1e6


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as f:
        return [int(child) for child in f.read().split()]


def get(port, packed=True):
    request = urllib.request.Request(f"http://127.0.0.1:{port}/metrics",
                                     headers={"Accept-Encoding": "gzip"} if packed else {})
    with urllib.request.urlopen(request, timeout=60) as response:
        return response.read()


def memory(pid):
    with open(f"/proc/{pid}/smaps_rollup") as f:
        text = f.read()
    return [int(re.search(rf"^{key}: +(\d+)", text, re.M)[1]) / 1024 for key in ("Rss", "Pss")]


class Machine:
    def __init__(self, stack, folder, count, group_count):
        subprocess.run(["gcc", "-O1", "-o", f"{folder}/kid", "-x", "c", "-"], input=KID.encode(), check=True)
        root, limit = find_hierarchy()
        groups = []
        for i in range(group_count):
            path = f"{root}/memstate-bench-{os.getpid()}-{i}"
            os.mkdir(path)
            stack.callback(os.rmdir, path)
            with open(f"{path}/{limit}", "w") as f:
                f.write(str(200 << 20))
            groups.append(path)
        stack.callback(time.sleep, 0.5)  # until the processes have left their groups
        for i in range(count):
            os.symlink("kid", f"{folder}/kid{i}")
            process = subprocess.Popen([f"{folder}/kid{i}"])
            stack.callback(process.wait)
            stack.callback(process.kill)
            with open(f"{groups[i % group_count]}/cgroup.procs", "w") as f:
                f.write(str(process.pid))
        time.sleep(2)

    @staticmethod
    def start(stack, *command):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        stack.callback(process.wait)
        stack.callback(process.terminate)
        return process


def compare(folder, seconds):
    with contextlib.ExitStack() as stack:
        Machine(stack, folder, 400, 50)
        own = Machine.start(stack, MEMSTATE, "exporter", "--web.listen-address", f"127.0.0.1:{PORT}")
        peer = None
        if shutil.which("prometheus-process-exporter"):
            with open(f"{folder}/peer.yml", "w") as f:
                f.write("process_names:\n- name: \"{{.Comm}}\"\n  cmdline: ['.+']\n")
            peer = Machine.start(stack, "prometheus-process-exporter", "-config.path", f"{folder}/peer.yml",
                                 f"-web.listen-address=127.0.0.1:{PEER_PORT}")
        time.sleep(4)
        pids = [own.pid, *children(own.pid)]
        begin = [sum(map(cpu_ms, pids)), cpu_ms(peer.pid) if peer else 0, time.monotonic()]
        scrapes = max(seconds // 15, 1)
        for _ in range(scrapes):
            time.sleep(15)
            get(PORT)
            if peer:
                get(PEER_PORT)
        elapsed = time.monotonic() - begin[2]
        used = sum(map(cpu_ms, pids)) - begin[0]
        looks = elapsed / 10
        print(f"{len([p for p in os.listdir('/proc') if p.isdigit()])} processes, {elapsed:.0f} s")
        print(f"memstate: {used:.0f} ms of CPU, {used / elapsed / 10:.2f} % of one, {used / looks:.0f} ms a look")
        print("Rss, Pss in MiB: " + ", ".join("%.1f %.1f" % tuple(memory(pid)) for pid in pids))
        if peer:
            used = cpu_ms(peer.pid) - begin[1]
            print(f"process-exporter: {used:.0f} ms, {used / scrapes:.0f} ms a look, "
                  f"Rss {memory(peer.pid)[0]:.1f} MiB")


def scrape(folder):
    with contextlib.ExitStack() as stack:
        Machine(stack, folder, 330, 50)
        own = Machine.start(stack, MEMSTATE, "exporter", "--web.listen-address", f"127.0.0.1:{PORT}",
                            "--group-by", "comm", "--top", "500", "--max-series", "20000", "-i", "60s")
        time.sleep(4)
        child = children(own.pid)[0]
        text = get(PORT, False)
        series = sum(not line.startswith(b"#") for line in text.splitlines())
        for name, packed in (("gzip, the first of a look", True), ("gzip, others", True), ("plain", False)):
            count = 1 if "first" in name else 50
            begin = cpu_ms(child)
            for _ in range(count):
                body = get(PORT, packed)
            print(f"scrape of {series} series, {name}: {(cpu_ms(child) - begin) / count:.2f} ms, {len(body)} bytes")


def main():
    with tempfile.TemporaryDirectory() as folder:
        compare(folder, int(sys.argv[1]) if len(sys.argv) > 1 else 60)
    with tempfile.TemporaryDirectory() as folder:
        scrape(folder)


if __name__ == "__main__":
    main()
