# SPDX-License-Identifier: GPL-2.0-or-later
"""memstate reads jemalloc's heap from outside; its figures equal mallctl()'s,
to the byte.

The library is the system's, or those in MEMSTATE_TEST_JEMALLOC, separated by colons, such
as other versions.
"""

import ctypes.util
import json
import os
import re
import shutil
import socket
import subprocess
import tempfile

from heap_lib import (FOLDER, HEAP_OWNERS, NO_HURRY, HeapTarget, anonymous_rss, check_matrix,
                      read_heap, rss)
from live import (KIB, MIB, Skip, check, equal, memstate, read_proc, run, status_field, test,
                  wait_until)

LIBRARIES = os.environ.get("MEMSTATE_TEST_JEMALLOC", "").split(":") if \
    os.environ.get("MEMSTATE_TEST_JEMALLOC") else [ctypes.util.find_library("jemalloc")]
STRETCHES = ("active", "dirty", "muzzy", "retained")
# No pages decay during a test.
STILL = "dirty_decay_ms:-1,muzzy_decay_ms:-1"


class JemallocTarget(HeapTarget):
    def __init__(self, *args, library=None, conf=STILL, one_cpu=False, **more):
        env = {"MALLOC_CONF": conf}
        if one_cpu:
            env["ONE_CPU"] = "yes"
        if library:
            env["LD_PRELOAD"] = library
        more.setdefault("program", "jemalloc_target")
        super().__init__(*args, more_env=env, **more)


def each_library():
    if not all(LIBRARIES):
        raise Skip("libjemalloc is not installed")
    return LIBRARIES


def lazyfree_within(pid):
    """Return the LazyFree bytes of all mappings."""
    return sum(int(line.split()[1]) * KIB for line in read_proc(pid, "smaps").splitlines()
               if line.startswith(b"LazyFree:"))


def classes_of(heap):
    """Return the number of blocks handed out or cached by size, as
    jemalloc counts them."""
    counts = {c["upper_bytes"]: c["live_count"] + c["cached_count"] + c["own_count"]
              for c in heap["classes"]}
    return {size: count for size, count in counts.items() if count}


def classes_said(truth):
    return {int(key[6:]): value for key, value in truth.items() if key.startswith("class_")}


def check_truth(heap, truth):
    for stretch in STRETCHES:
        equal(heap[f"{stretch}_bytes"], truth[stretch], stretch)
    equal(heap["allocated_bytes"], truth["allocated"], "allocated")
    equal(classes_of(heap), classes_said(truth), "blocks by size")
    if "cached" in truth:
        equal(heap["cached_bytes"], truth["cached"], "cached")
    for key in ("live", "cached", "own", "slab_free", *STRETCHES):
        equal(sum(a[f"{key}_bytes"] for a in heap["arenas"]), heap[f"{key}_bytes"],
              f"sum of the arenas' {key}")
    check(heap["live_bytes"] + heap["cached_bytes"] + heap["own_bytes"] +
          heap["slab_free_bytes"] <= heap["active_bytes"], "more than active")


def is_asleep(pid):
    """Return whether all threads sleep: a thread that was just released may
    touch its stack."""
    return all(read_proc(f"{pid}/task/{tid}", "stat").rsplit(b")", 1)[1].split()[0] == b"S"
               for tid in os.listdir(f"/proc/{pid}/task"))


def check_target(target):
    """Check everything that both sides can know about a target."""
    pid = target.pid
    wait_until(lambda: is_asleep(pid), "the target is asleep")
    rss_before, lazyfree_before = rss(pid), lazyfree_within(pid)
    heap = read_heap(pid)
    equal(rss(pid), rss_before, "Rss after the walk")
    check(lazyfree_within(pid) >= lazyfree_before, "LazyFree is less after the walk")
    equal(heap["problem"], None, "problem")
    equal(heap["heap_quality"], "exact", "quality")
    equal(heap["allocator"], "jemalloc", "allocator")
    equal((heap["mallinfo2"], heap["mapped_count"]), (None, None),
          "figures that jemalloc does not have")
    check_truth(heap, target.truth)
    row = check_matrix(pid)
    equal(row["allocator"], "jemalloc", "allocator of the row")
    equal(row["heap_quality"], "exact", "quality of the row")
    for owner in HEAP_OWNERS:
        equal(row[f"{owner}_bytes"], heap[f"{owner}_resident_bytes"], owner)
    equal(row["trimmable_bytes"], heap["dirty_resident_bytes"] + heap["muzzy_resident_bytes"],
          "trimmable")
    check(row["pool_pages_bytes"] >= row["trimmable_bytes"], "a trim could free more than is free")
    equal(target.order(b"i"), {k: v for k, v in target.truth.items() if k != "pid"},
          "figures of the target after the walk")
    return heap


def check_purge(target, heap):
    before = anonymous_rss(target.pid)
    target.order(b"p")
    equal(before - anonymous_rss(target.pid), heap["trimmable_bytes"], "given back by a purge")
    heap = read_heap(target.pid)
    equal((heap["dirty_bytes"], heap["muzzy_bytes"], heap["trimmable_bytes"]), (0, 0, 0),
          "dirty, muzzy and trimmable after a purge")


@test
def a_fragmented_heap_is_known_to_the_byte():
    for library in each_library():
        with JemallocTarget("fragmented", 64, library=library) as target:
            heap = check_target(target)
            check(heap["trimmable_bytes"] > MIB, "nothing to purge: the test proves nothing")
            check_purge(target, heap)


@test
def every_thread_has_a_cache():
    for library in each_library():
        for count in (1, 12):
            with JemallocTarget("threads", count, library=library) as target:
                heap = check_target(target)
                equal(heap["caches"], count + 1, "caches")
                check(heap["cached_bytes"] > 0, "nothing is cached: the test proves nothing")


@test
def threads_without_a_cache_are_handled():
    for library in each_library():
        with JemallocTarget("idle", 5, library=library) as target:
            check(1 <= check_target(target)["caches"] <= 6, "caches")


@test
def heaps_of_all_shapes_are_known():
    shapes = (("exited", 6), ("aligned", 32), ("tiny", 100000), ("sparse", 20))
    for library in each_library():
        for shape in shapes:
            with JemallocTarget(*shape, library=library) as target:
                check_purge(target, check_target(target))


@test
def a_forked_childs_heap_is_known():
    for library in each_library():
        with JemallocTarget("forked", 4, library=library) as target:
            check_target(target)


@test
def muzzy_pages_are_lazyfree():
    conf = "dirty_decay_ms:20,muzzy_decay_ms:-1"

    def decays(target):
        target.order(b"d")
        target.truth = {"pid": target.pid, **target.order(b"i")}
        return target.truth["dirty"] == 0

    for library in each_library():
        with JemallocTarget("fragmented", 32, library=library, conf=conf,
                            one_cpu=True) as target:
            wait_until(lambda: decays(target), "dirty pages decay")
            heap = check_target(target)
            check(heap["muzzy_bytes"] > MIB, "nothing is muzzy: the test proves nothing")
            equal(heap["muzzy_resident_bytes"], lazyfree_within(target.pid), "LazyFree")
            check_purge(target, heap)


@test
def configurations_change_nothing():
    confs = ("narenas:1", "percpu_arena:percpu", "oversize_threshold:0", "retain:false",
             "metadata_thp:always", "thp:always")
    for library in each_library():
        for conf in confs:
            for shape in (("fragmented", 8), ("threads", 3)):
                with JemallocTarget(*shape, library=library, conf=f"{STILL},{conf}") as target:
                    try:
                        check_target(target)
                    except AssertionError as error:
                        raise AssertionError(f"{conf} {shape}: {error}") from error


@test
def without_caches_live_bytes_are_a_bound():
    for library in each_library():
        with JemallocTarget("fragmented", 4, library=library,
                            conf=f"{STILL},tcache:false") as target:
            heap = read_heap(target.pid)
            equal(heap["heap_quality"], "bound", "quality")
            check("cache" in heap["problem"], heap["problem"])
            check_truth(heap, target.truth)
            check_matrix(target.pid)


@test
def jemalloc_huge_pages_make_live_bytes_a_bound():
    for library in each_library():
        with JemallocTarget("fragmented", 16, library=library, conf=f"{STILL},hpa:true") as target:
            heap = read_heap(target.pid)
            # jemalloc before 5.3, or built without huge page support
            if heap["heap_quality"] == "exact":
                check_truth(heap, target.truth)
                continue
            equal(heap["heap_quality"], "bound", "quality")
            check("hpa" in heap["problem"], heap["problem"])
            equal(heap["active_bytes"], target.truth["active"], "active")
            check_matrix(target.pid)


@test
def a_static_programs_heap_is_known():
    if not os.path.exists(os.path.join(FOLDER, "jemalloc_target_static")):
        raise Skip("static programs with jemalloc cannot be linked here")
    for shape in (("fragmented", 16), ("threads", 2), ("sparse", 5)):
        with JemallocTarget(*shape, program="jemalloc_target_static") as target:
            check_target(target)


@test
def a_constantly_allocating_process_is_read_unharmed():
    for library in each_library():
        with JemallocTarget("churn", 3, library=library) as target:
            for args in ((), ("--no-stop",)) * 10:
                heap = json.loads(memstate("heap", "-p", target.pid, "-J", *NO_HURRY,
                                           *args).must_be(0).out)
                equal(heap["unexplained_bytes"], 0, "unexplained")
                equal(heap["allocator"], "jemalloc", "allocator")
                check(heap["heap_quality"] in ("exact", "bound", "estimate"),
                      heap["heap_quality"])
            equal(target.process.poll(), None, "exit status of the target")
            equal(status_field(target.pid, "TracerPid"), "0", "tracer")


@test
def the_text_report_shows_jemallocs_own_figures():
    library = each_library()[0]
    with JemallocTarget("fragmented", 2, library=library) as target:
        out = memstate("heap", "-p", target.pid, *NO_HURRY).must_be(0).out.decode()
        for word in ("jemalloc", "EXTENTS", "dirty", "muzzy", "retained", "purge"):
            check(word in out, f"no {word} in {out}")
        for word in ("fastbin", "mallinfo", "malloc_trim", "TOP"):
            check(word not in out, f"{word} in {out}")


class Redis:
    """A private redis-server with values of many sizes."""

    def __init__(self, folder):
        server = shutil.which("redis-server")
        if not server:
            raise Skip("redis-server is not installed")
        path = os.path.join(folder, "socket")
        self.process = subprocess.Popen(
            [server, "--port", "0", "--unixsocket", path, "--save", "", "--dir", folder,
             "--appendonly", "no", "--daemonize", "no"], stdout=subprocess.DEVNULL)
        self.pid = self.process.pid
        try:
            wait_until(lambda: os.path.exists(path) or self.process.poll() is not None,
                       "redis-server listens")
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.connect(path)
            self.file = self.socket.makefile("rb")
        except OSError as error:
            self.stop()
            raise Skip(f"redis-server does not answer: {error}") from error

    def ask(self, *words):
        """Send one command; return its reply, a line or a bulk string."""
        data = b"*%d\r\n" % len(words)
        for word in words:
            word = word if isinstance(word, bytes) else str(word).encode()
            data += b"$%d\r\n%s\r\n" % (len(word), word)
        self.socket.sendall(data)
        line = self.file.readline().strip()
        if line.startswith(b"$"):
            return self.file.read(int(line[1:]) + 2)[:-2].decode()
        return line.decode()

    def stats(self):
        """Return jemalloc's own figures for all its arenas."""
        text = self.ask("MEMORY", "MALLOC-STATS")
        found = re.search(r"Allocated: (\d+), active: (\d+), .*retained: (\d+)", text)
        if not found:
            raise Skip("this redis-server does not use jemalloc")
        return dict(zip(("allocated", "active", "retained"), map(int, found.groups())))

    def stop(self):
        self.process.kill()
        self.process.wait()


def check_redis(redis):
    # replies are in redis's heap too: allow for a few buffers
    slack = 256 * KIB
    for _ in range(20):
        before = redis.stats()
        heap = read_heap(redis.pid)
        if before == redis.stats() and heap["heap_quality"] == "exact":
            break
    equal(heap["allocator"], "jemalloc", "allocator")
    equal((heap["heap_quality"], heap["problem"]), ("exact", None), "quality")
    equal(heap["unexplained_bytes"], 0, "unexplained")
    for key, value in before.items():
        check(abs(heap[f"{key}_bytes"] - value) <= slack,
              f"{key}: {heap[f'{key}_bytes']}, redis reports {value}")
    row = check_matrix(redis.pid, is_still=False)
    equal(row["allocator"], "jemalloc", "allocator of the row")
    check(row["live_bytes"] > row["anon_bytes"], "most memory is not in the heap")


@test
def redis_is_fully_explained():
    with tempfile.TemporaryDirectory() as folder:
        redis = Redis(folder)
        try:
            redis.stats()
            for i in range(4000):
                equal(redis.ask("SET", f"key:{i}", b"v" * (i * 37 % 12000)), "+OK", "SET")
            check_redis(redis)
            for i in range(0, 4000, 3):
                equal(redis.ask("DEL", f"key:{i}"), ":1", "DEL")
            check_redis(redis)
        finally:
            redis.stop()


run()
