# SPDX-License-Identifier: GPL-2.0-or-later
"""jemalloc read from outside is what its mallctl() says inside, to the byte.

The library is the system's, or those that MEMSTATE_TEST_JEMALLOC names, separated by colons: other
versions of it, say.
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
# Nothing decays while a test looks.
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
    """LazyFree of all mappings."""
    return sum(int(line.split()[1]) * KIB for line in read_proc(pid, "smaps").splitlines()
               if line.startswith(b"LazyFree:"))


def classes_of(heap):
    """Blocks handed out or cached, as jemalloc itself counts them, by size."""
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
    """All its threads wait: a thread that was let go may still touch a page of its stack."""
    return all(read_proc(f"{pid}/task/{tid}", "stat").rsplit(b")", 1)[1].split()[0] == b"S"
               for tid in os.listdir(f"/proc/{pid}/task"))


def check_target(target):
    """All that can be known of a target from both sides."""
    pid = target.pid
    wait_until(lambda: is_asleep(pid), "it is asleep")
    rss_before, lazyfree_before = rss(pid), lazyfree_within(pid)
    heap = read_heap(pid)
    equal(rss(pid), rss_before, "Rss after the walk")
    check(lazyfree_within(pid) >= lazyfree_before, "LazyFree is less after the walk")
    equal(heap["problem"], None, "problem")
    equal(heap["heap_quality"], "exact", "quality")
    equal(heap["allocator"], "jemalloc", "allocator")
    equal((heap["mallinfo2"], heap["mapped_count"]), (None, None), "what jemalloc has not")
    check_truth(heap, target.truth)
    row = check_matrix(pid)
    equal(row["allocator"], "jemalloc", "allocator of the row")
    equal(row["heap_quality"], "exact", "quality of the row")
    for owner in HEAP_OWNERS:
        equal(row[f"{owner}_bytes"], heap[f"{owner}_resident_bytes"], owner)
    equal(row["trimmable_bytes"], heap["dirty_resident_bytes"] + heap["muzzy_resident_bytes"],
          "trimmable")
    check(row["pool_pages_bytes"] >= row["trimmable_bytes"], "a trim of more than is free")
    equal(target.order(b"i"), {k: v for k, v in target.truth.items() if k != "pid"},
          "what it says after the walk")
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
            check(heap["trimmable_bytes"] > MIB, "nothing to purge: the test does not test")
            check_purge(target, heap)


@test
def every_thread_has_a_cache():
    for library in each_library():
        for count in (1, 12):
            with JemallocTarget("threads", count, library=library) as target:
                heap = check_target(target)
                equal(heap["caches"], count + 1, "caches")
                check(heap["cached_bytes"] > 0, "nothing is cached: the test does not test")


@test
def threads_without_a_cache_are_no_problem():
    for library in each_library():
        with JemallocTarget("idle", 5, library=library) as target:
            check(1 <= check_target(target)["caches"] <= 6, "caches")


@test
def shapes_of_all_kinds_are_known():
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
            check(heap["muzzy_bytes"] > MIB, "nothing is muzzy: the test does not test")
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
def without_caches_what_is_live_is_a_bound():
    for library in each_library():
        with JemallocTarget("fragmented", 4, library=library,
                            conf=f"{STILL},tcache:false") as target:
            heap = read_heap(target.pid)
            equal(heap["heap_quality"], "bound", "quality")
            check("cache" in heap["problem"], heap["problem"])
            check_truth(heap, target.truth)
            check_matrix(target.pid)


@test
def huge_pages_of_jemallocs_own_make_a_bound():
    for library in each_library():
        with JemallocTarget("fragmented", 16, library=library, conf=f"{STILL},hpa:true") as target:
            heap = read_heap(target.pid)
            if heap["heap_quality"] == "exact":  # before 5.3, or without support for it
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
def a_process_that_never_stands_still_goes_on_undamaged():
    for library in each_library():
        with JemallocTarget("churn", 3, library=library) as target:
            for args in ((), ("--no-stop",)) * 10:
                heap = json.loads(memstate("heap", "-p", target.pid, "-J", *NO_HURRY,
                                           *args).must_be(0).out)
                equal(heap["unexplained_bytes"], 0, "unexplained")
                equal(heap["allocator"], "jemalloc", "allocator")
                check(heap["heap_quality"] in ("exact", "bound", "estimate"),
                      heap["heap_quality"])
            equal(target.process.poll(), None, "the target")
            equal(status_field(target.pid, "TracerPid"), "0", "tracer")


@test
def the_page_for_people_has_what_jemalloc_has():
    library = each_library()[0]
    with JemallocTarget("fragmented", 2, library=library) as target:
        out = memstate("heap", "-p", target.pid, *NO_HURRY).must_be(0).out.decode()
        for word in ("jemalloc", "EXTENTS", "dirty", "muzzy", "retained", "purge"):
            check(word in out, f"no {word} in {out}")
        for word in ("fastbin", "mallinfo", "malloc_trim", "TOP"):
            check(word not in out, f"{word} in {out}")


class Redis:
    """A redis-server that nobody else talks to, with values of many sizes."""

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
        """The reply of one command: a line, or the text that it announces."""
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
        """What jemalloc says of all its arenas."""
        text = self.ask("MEMORY", "MALLOC-STATS")
        found = re.search(r"Allocated: (\d+), active: (\d+), .*retained: (\d+)", text)
        if not found:
            raise Skip("this redis-server has no jemalloc")
        return dict(zip(("allocated", "active", "retained"), map(int, found.groups())))

    def stop(self):
        self.process.kill()
        self.process.wait()


def check_redis(redis):
    # its replies are in its heap as well: what a buffer or two may take
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
              f"{key}: {heap[f'{key}_bytes']}, redis says {value}")
    row = check_matrix(redis.pid, is_still=False)
    equal(row["allocator"], "jemalloc", "allocator of the row")
    check(row["live_bytes"] > row["anon_bytes"], "most memory is not the heap's")


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
