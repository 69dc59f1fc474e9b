# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that allocate and free continuously with the allocators and runtimes that are
installed here, for stress_heap.py."""

import contextlib
import os
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.environ["srcdir"], "tests", "live"))

from blocks_lib import SOURCE  # pylint: disable=wrong-import-position
from live import check  # pylint: disable=wrong-import-position

PYTHON = """
import random, threading

def churn(seed):
    rng, keep = random.Random(seed), {}
    while True:
        key = rng.randrange(20000)
        keep[key] = rng.choice([bytes(rng.randrange(3000)), [key] * rng.randrange(50),
                                {key: str(key)}])
        keep.pop(rng.randrange(20000), None)

for seed in range(3):
    threading.Thread(target=churn, args=(seed,)).start()
"""

JAVA = """
import java.util.*;

public class Churn {
    static volatile Object last;

    static void churn(long seed) {
        Random random = new Random(seed);
        Object[] keep = new Object[20000];

        while (true) {
            int i = random.nextInt(keep.length);

            keep[i] = new byte[random.nextInt(random.nextInt(1000) == 0 ? 3 << 20 : 2000)];
            keep[random.nextInt(keep.length)] = null;
            last = new Object[] { keep[i], Integer.toString(i) };
        }
    }

    public static void main(String[] args) {
        for (int i = 0; i < 3; i++) {
            long seed = i;

            new Thread(() -> churn(seed)).start();
        }
    }
}
"""

NODE = """
const keep = [];
function step() {
  for (let i = 0; i < 5000; i++) {
    const at = Math.floor(Math.random() * 50000);
    keep[at] = [{ at, text: 'x' + at }, new Array(at % 100).fill(at), 'y'.repeat(at % 500)][i % 3];
    keep[Math.floor(Math.random() * 50000)] = null;
  }
  setImmediate(step);
}
step();
"""

PHP = """
$keep = [];
for (;;) {
    $at = mt_rand(0, 20000);
    $keep[$at] = mt_rand(0, 500) ? str_repeat("x", mt_rand(1, 3000)) : str_repeat("y", 3 << 20);
    unset($keep[mt_rand(0, 20000)]);
}
"""

RUBY = """
keep = {}
loop do
  at = rand(20000)
  keep[at] = [at.to_s * rand(100), Array.new(rand(50), at), { at => at.to_s }].sample
  keep.delete(rand(20000))
end
"""

GO = """
package main

import "math/rand"

func churn(seed int64) {
	random, keep := rand.New(rand.NewSource(seed)), map[int][]byte{}
	for {
		keep[random.Intn(20000)] = make([]byte, 1+random.Intn(3000))
		delete(keep, random.Intn(20000))
	}
}

func main() {
	for i := int64(0); i < 3; i++ {
		go churn(i)
	}
	select {}
}
"""


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def build(command, **popen):
    result = subprocess.run(command, capture_output=True, text=True, check=False, **popen)
    check(result.returncode == 0, f"{command}: {result.stderr}")


def yield_cpu():
    """Let memstate run although many threads of the program keep all CPUs busy."""
    os.nice(10)


@contextlib.contextmanager
def process(command):
    p = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                         preexec_fn=yield_cpu)
    try:
        time.sleep(0.5)
        yield p
    finally:
        p.kill()
        p.wait()
        p.stdin.close()


@contextlib.contextmanager
def redis(folder):
    socket = os.path.join(folder, "redis")
    with process(["redis-server", "--port", "0", "--unixsocket", socket, "--save", "",
                  "--maxmemory", "200mb", "--maxmemory-policy", "allkeys-random"]) as server:
        with process(["redis-benchmark", "-s", socket, "-l", "-q", "-t", "set,lpush,lpop,sadd,hset",
                      "-r", "100000", "-d", "300"]):
            yield server


def churn_programs(folder):
    """Return the names of the programs, and for each one a function that starts it."""
    found = {}

    def add(name, command):
        found[name] = lambda: process(command)

    add("python", [sys.executable, "-c", PYTHON])
    if shutil.which("java") and shutil.which("javac"):
        build(["javac", "-d", folder, write(folder, "Churn.java", JAVA)])
        for collector in ("G1", "Serial", "Parallel"):
            add(f"java {collector}",
                ["java", f"-XX:+Use{collector}GC", "-Xmx400m", "-cp", folder, "Churn"])
    for name, command in (("node", ["node", "-e", NODE]), ("ruby", ["ruby", "-e", RUBY]),
                          ("php", ["php", "-d", "memory_limit=-1", "-r", PHP])):
        if shutil.which(name):
            add(name, command)
    if shutil.which("musl-gcc"):
        program = os.path.join(folder, "musl")
        build(["musl-gcc", "-O1", "-o", program, SOURCE, "-lpthread"])
        add("musl", [program, "churn", "4", "4000"])
    go = os.environ.get("MEMSTATE_TEST_GO", "go").split(":")[0]
    if shutil.which(go):
        program = os.path.join(folder, "go")
        build([go, "build", "-o", program, write(folder, "churn.go", GO)],
              env={**os.environ, "CGO_ENABLED": "0", "GOCACHE": f"{folder}/cache", "HOME": folder})
        add("go", [program])
    if shutil.which("redis-server") and shutil.which("redis-benchmark"):
        found["redis"] = lambda: redis(folder)
    return found
