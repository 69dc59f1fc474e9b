# SPDX-License-Identifier: GPL-2.0-or-later
"""memstate reads the heap of a Java virtual machine from outside: its figures equal those
of jcmd, which asks the virtual machine itself.

MEMSTATE_TEST_JAVA names the folders of JDKs to use instead of the one in PATH, separated
by colons.
"""

import contextlib
import functools
import os
import re
import shutil
import subprocess
import tempfile

from heap_lib import HEAP_OWNERS, NO_HURRY, check_details, check_matrix, read_heap
from live import KIB, Folder, Skip, check, equal, memstate, run, test

COLLECTORS = ["G1", "Serial", "Parallel"]
JAVA_SPACES = ["eden", "survivor", "old", "humongous", "archive", "free"]
CODE_SPACES = {"non-profiled nmethods": "code cache, non-profiled", "profiled nmethods": "code cache, profiled",
               "non-nmethods": "code cache, non-nmethods"}
SOURCE = """
import java.util.*;

public class Target {
    static final List<Object> keep = new ArrayList<>();
    static volatile Object last;

    static void churn() {
        Random random = new Random(1);

        while (true)
            last = new byte[random.nextInt(20000)];
    }

    public static void main(String[] args) throws Exception {
        Random random = new Random(1);

        for (int i = 0; i < 20000; i++)
            keep.add(new byte[random.nextInt(4000)]);
        for (int i = 0; i < 100000; i++)
            last = new byte[500];
        keep.add(new byte[6 << 20]);
        for (int i = 0; i < 3 && args.length > 0; i++) {
            Thread thread = new Thread(Target::churn);

            thread.setDaemon(true);
            thread.start();
        }
        System.out.println("ready");
        System.in.read();
    }
}
"""

ARENA_THREADS = 12
ARENA_BLOCKS = 500
# Each thread allocates blocks of 8 KiB by malloc, frees nine of ten, and waits.
# The last block of a thread is not always at the arena's top, because threads of the virtual
# machine leave gaps further down: the tenth blocks keep free() from trimming the arena.
ARENAS_SOURCE = """
import java.lang.reflect.Field;
import java.util.concurrent.CountDownLatch;

public class Target {
    static final CountDownLatch allocated = new CountDownLatch(THREADS);
    static final CountDownLatch freed = new CountDownLatch(THREADS);

    static void work(sun.misc.Unsafe unsafe) {
        long[] blocks = new long[BLOCKS];

        for (int i = 0; i < BLOCKS; i++) {
            blocks[i] = unsafe.allocateMemory(8192);
            unsafe.setMemory(blocks[i], 8192, (byte)1);
        }
        try {
            allocated.countDown();
            allocated.await();
            for (int i = 0; i < BLOCKS; i++)
                if (i % 10 != 9)
                    unsafe.freeMemory(blocks[i]);
            freed.countDown();
            Thread.sleep(1000000);
        } catch (InterruptedException e) {
        }
    }

    public static void main(String[] args) throws Exception {
        Field field = sun.misc.Unsafe.class.getDeclaredField("theUnsafe");

        field.setAccessible(true);
        sun.misc.Unsafe unsafe = (sun.misc.Unsafe)field.get(null);
        for (int i = 0; i < THREADS; i++) {
            Thread thread = new Thread(() -> work(unsafe));

            thread.setDaemon(true);
            thread.start();
        }
        freed.await();
        System.out.println("ready");
        System.in.read();
    }
}
"""


def each_jdk():
    """Yield the path of java and of jcmd of each JDK."""
    folders = [f for f in os.environ.get("MEMSTATE_TEST_JAVA", "").split(":") if f]
    found = [f"{f}/bin/java" for f in folders] or [shutil.which("java")]
    for java in found:
        jcmd = java and shutil.which("jcmd", path=os.path.dirname(os.path.realpath(java)))
        if not jcmd:
            raise Skip("no JDK with java and jcmd is installed")
        yield java, jcmd


COMPILED = tempfile.TemporaryDirectory()


@functools.cache
def compiled(java, source):
    """Compile a source with the JDK of `java`; return the folder of the class."""
    folder = tempfile.mkdtemp(dir=COMPILED.name)
    file = f"{folder}/Target.java"
    with open(file, "w", encoding="ascii") as f:
        f.write(source)
    javac = os.path.join(os.path.dirname(os.path.realpath(java)), "javac")
    subprocess.run([javac, "-nowarn", "-XDignore.symbol.file", "-d", folder, file], check=True,
                   stderr=subprocess.DEVNULL)
    return folder


@contextlib.contextmanager
def running(folder, java, options, *args, source=SOURCE, more_env=None):
    """Start the target with these options of the virtual machine; yield its pid."""
    command = [java, "-Xmx256m", *options, "-cp", compiled(java, source), "Target", *args]
    process = subprocess.Popen(command, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True,
                               env={**os.environ, "TMPDIR": folder, **(more_env or {})})
    try:
        equal(process.stdout.readline(), "ready\n", f"{java} {options}")
        yield process.pid
    finally:
        process.stdin.close()
        process.kill()
        process.wait()
        process.stdout.close()


def ask(jcmd, pid):
    """Return what the virtual machine reports about itself."""
    commands = ["GC.heap_info", "Compiler.codecache", "Thread.print"]
    result = [subprocess.run([jcmd, str(pid), c], capture_output=True, text=True, check=True).stdout
              for c in commands]
    # of the threads, only their number
    return result[:2] + re.findall(r"_java_thread_list=\w+, length=(\d+)", result[2])


def java_heap_of(pid):
    heap = read_heap(pid)
    check_details(heap)
    equal(heap["unexplained_bytes"], 0, "unexplained")
    return next(h for h in heap["heaps"] if h["heap"] == "java")


def read_still(jcmd, pid):
    """Return jcmd's figures and memstate's, which belong together: jcmd's did not change meanwhile."""
    for _ in range(30):
        before = ask(jcmd, pid)
        heap = java_heap_of(pid)
        if before == ask(jcmd, pid):
            return before, heap
    raise AssertionError("the idle virtual machine does not come to rest")


def spaces_of(heap):
    return {s["space"]: s for s in heap["spaces"]}


def check_addresses(text, name, space):
    """Compare with "[bottom, top, end)" in the line of a space."""
    words = re.search(name + r".*\[(\w+), ?(\w+), ?(?:\w+, ?)?(\w+)\)", text).groups()
    bottom, top, end = (int(w, 16) for w in words)
    equal([space["live_bytes"], space["free_bytes"]], [top - bottom, end - top], name)


def check_g1(text, spaces):
    used, = re.search(r"used (\d+)K \[", text).groups()
    equal(sum(spaces[s]["live_bytes"] for s in JAVA_SPACES if s in spaces) // KIB, int(used), "used")
    young, survivors = re.search(r"(\d+) young .* (\d+) survivors", text).groups()
    equal([spaces[s]["count"] if s in spaces else 0 for s in ("eden", "survivor")],
          [int(young) - int(survivors), int(survivors)], "young regions")
    region, = re.search(r"region size (\d+)K", text).groups()
    total, = re.search(r"total (\d+)K", text).groups()
    equal(sum(spaces[s]["count"] for s in JAVA_SPACES if s in spaces), int(total) // int(region), "regions")


def check_serial(text, spaces):
    check_addresses(text, "eden space", spaces["eden"])
    check_addresses(text, "the space", spaces["old"])


def check_parallel(text, spaces):
    check_addresses(text, "eden space", spaces["eden"])
    check_addresses(text, "object space", spaces["old"])


def check_code(text, spaces):
    for name, used in re.findall(r"CodeHeap '(.*)': size=.* used=(\d+)Kb", text):
        equal(spaces[CODE_SPACES[name]]["live_bytes"] // KIB, int(used), name)


def check_metaspace(text, spaces):
    used, committed = re.search(r"Metaspace +used (\d+)K, committed (\d+)K", text).groups()
    resident = sum(spaces[s]["resident_bytes"] for s in ("metaspace", "class space")) // KIB
    check(int(used) <= resident <= int(committed), f"metaspace {used}, {resident}, {committed}")


def check_sums(heap, what):
    """The spaces other than the stacks contain all resident memory of the heap."""
    resident = sum(s["resident_bytes"] for s in heap["spaces"] if s["space"] != "thread stacks")
    equal(resident, sum(heap[f"{o}_resident_bytes"] for o in HEAP_OWNERS), what)


@test
def the_figures_are_those_of_the_virtual_machine():
    checks = {"G1": check_g1, "Serial": check_serial, "Parallel": check_parallel}
    with Folder() as folder:
        for java, jcmd in each_jdk():
            for name in COLLECTORS:
                with running(folder, java, [f"-XX:+Use{name}GC"]) as pid:
                    (heap_info, codecache, threads), heap = read_still(jcmd, pid)
                    spaces = spaces_of(heap)
                    equal([heap["quality"], heap["problem"]], ["exact", None], name)
                    check(re.fullmatch(r"\d+[.\d]+", heap["version"]), f"{name}: {heap['version']}")
                    checks[name](heap_info, spaces)
                    check_code(codecache, spaces)
                    check_metaspace(heap_info, spaces)
                    check_sums(heap, name)
                    equal(spaces["thread stacks"]["count"], int(threads), f"{name}: threads")
                    check_matrix(pid)


@test
def a_heap_without_compressed_pointers_is_read():
    with Folder() as folder:
        for java, jcmd in each_jdk():
            options = ["-XX:-UseCompressedOops", "-XX:-UseCompressedClassPointers", "-Xshare:off",
                       "-XX:-SegmentedCodeCache"]
            with running(folder, java, options) as pid:
                (heap_info, codecache, _), heap = read_still(jcmd, pid)
                spaces = spaces_of(heap)
                equal([heap["quality"], heap["problem"]], ["exact", None], "quality")
                used, = re.search(r"used (\d+)K", heap_info).groups()
                java_spaces = [spaces[s] for s in JAVA_SPACES if s in spaces]
                equal(sum(s["live_bytes"] for s in java_spaces) // KIB, int(used), "used")
                used, = re.search(r"CodeCache: size=.* used=(\d+)Kb", codecache).groups()
                equal(spaces["code cache"]["live_bytes"] // KIB, int(used), "code cache")
                check("class space" not in spaces and spaces["metaspace"]["resident_bytes"] > 0, f"{spaces}")
                check_sums(heap, "sums")


@test
def the_heap_of_another_collector_is_a_bound():
    with Folder() as folder:
        for java, jcmd in each_jdk():
            with running(folder, java, ["-XX:+UseZGC"]) as pid:
                (heap_info, codecache, _), heap = read_still(jcmd, pid)
                spaces = spaces_of(heap)
                equal(heap["quality"], "bound", "quality")
                check("ZGC" in heap["problem"], heap["problem"])
                used, = re.search(r"used (\d+)M", heap_info).groups()
                equal(spaces["shared heap of ZGC"]["live_bytes"] >> 20, int(used), "used")
                check_code(codecache, spaces)
                check_sums(heap, "sums")


@test
def many_arenas_are_reported_with_the_remedy():
    """Threads of the program free most of what they allocated outside the Java heap."""
    source = ARENAS_SOURCE.replace("THREADS", str(ARENA_THREADS)).replace("BLOCKS", str(ARENA_BLOCKS))
    with Folder() as folder:
        for java, _ in each_jdk():
            for limit in (2, 2 * ARENA_THREADS):
                env = {"MALLOC_ARENA_MAX": str(limit)}
                with running(folder, java, [], source=source, more_env=env) as pid:
                    heap = read_heap(pid)
                    texts = [memstate(*verb, "-p", pid, "--text", *NO_HURRY).must_be(0).out.decode()
                             for verb in (("heap",), ("--heap", "walk"))]
                arenas = heap["arenas"]
                check(all(a["problem"] is None for a in arenas), f"{java}: {arenas}")
                free = sum(a["free_resident_bytes"] for a in arenas)
                malloc = heap["heaps"][0]
                equal(free,
                      malloc["pool_pages_resident_bytes"] + malloc["pool_fragments_resident_bytes"],
                      "free in all arenas")
                is_many = len(arenas) - 1 > 8
                equal(is_many, limit > 2, f"{len(arenas)} arenas")
                check(free > ARENA_THREADS * ARENA_BLOCKS * 6 * KIB, f"free in the arenas: {free}")
                sentence = (f"is free, but held in {len(arenas) - 1} arenas of glibc malloc besides the "
                            "main arena: MALLOC_ARENA_MAX=2 in the environment")
                for text in texts:
                    equal(sentence in " ".join(text.split()), is_many, f"the sentence in {text}")


@test
def a_busy_heap_is_exact_or_reported_as_an_estimate():
    with Folder() as folder:
        for java, _ in each_jdk():
            for name in COLLECTORS:
                with running(folder, java, [f"-XX:+Use{name}GC"], "churn") as pid:
                    for _ in range(4):
                        heap = java_heap_of(pid)
                        check(heap["quality"] == "exact" or heap["problem"], f"{name}: {heap}")
                        check(heap["quality"] in ("exact", "estimate"), f"{name}: {heap}")


CLASSES_SOURCE = SOURCE.replace("        System.out.println", """        for (int i = 0; i < 12345; i++)
            keep.add(new Small());
        for (int i = 0; i < 777; i++)
            keep.add(new Large());
        for (int i = 0; i < 55; i++)
            keep.add(new Small[i]);
        System.out.println""").replace("public class Target {", """public class Target {
    static class Small { int number; Object object; }
    static class Large { long a, b, c; Object d; byte e; }
""")
KNOWN_CLASSES = {"Target$Small": 12345, "Target$Large": 777, "[LTarget$Small;": 55}
# jcmd fills the unused ends of allocation buffers with these.
FILLERS = ("[I", "[Ljdk.internal.vm.FillerElement;")
OBJECT_SPACES = JAVA_SPACES[:-1]


def histogram_of(jcmd, pid):
    """Return the instances and bytes of each class, as the virtual machine counts them."""
    text = subprocess.run([jcmd, str(pid), "GC.class_histogram", "-all"], capture_output=True, text=True,
                          check=True).stdout
    counts = {}
    for count, size, name in re.findall(r"^ *\d+: +(\d+) +(\d+) +(\S+)", text, re.MULTILINE):
        before = counts.get(name, (0, 0))
        counts[name] = (before[0] + int(count), before[1] + int(size))
    return counts


def classes_of(heap):
    """Return the instances and bytes of each class, whose sum is that of the spaces."""
    objects = heap["objects"]
    live = sum(s["live_bytes"] for s in heap["spaces"] if s["space"] in OBJECT_SPACES)
    equal(sum(t["bytes"] for t in objects["types"]) + objects["other_bytes"] + objects["unused_bytes"],
          live, "bytes of all classes")
    return {t["type"]: (t["count"], t["bytes"]) for t in objects["types"]}


def check_classes(jcmd, pid, what):
    histogram_of(jcmd, pid)  # the first answer loads classes
    before, heap, after = histogram_of(jcmd, pid), java_heap_of(pid), histogram_of(jcmd, pid)
    classes = classes_of(heap)
    equal(heap["objects"]["problem"], None, what)
    for name, count in KNOWN_CLASSES.items():
        equal(classes[name][0], count, f"{what}: {name}")
    for name in set(before) | set(after) | set(classes) - set(FILLERS):
        if name in FILLERS:
            continue
        answers = [before.get(name, (0, 0)), after.get(name, (0, 0))]
        check(min(answers) <= classes.get(name, (0, 0)) <= max(answers),
              f"{what}: {name}: {classes.get(name)}, {answers}")
    check(len(classes) > 150, f"{what}: {len(classes)} classes")


@test
def the_classes_are_those_of_the_histogram_of_jcmd():
    options = [["-XX:+UseG1GC"], ["-XX:+UseSerialGC"],
               ["-XX:+UseParallelGC", "-XX:-UseCompressedClassPointers", "-Xshare:off",
                "-XX:ObjectAlignmentInBytes=16"]]
    with Folder() as folder:
        for java, jcmd in each_jdk():
            for option in options:
                with running(folder, java, option, source=CLASSES_SOURCE) as pid:
                    check_classes(jcmd, pid, f"{java} {option}")


@test
def the_classes_of_a_busy_heap_are_known_or_the_rest_is_reported():
    with Folder() as folder:
        for java, _ in each_jdk():
            with running(folder, java, ["-XX:+UseG1GC"], "churn", source=CLASSES_SOURCE) as pid:
                for _ in range(3):
                    heap = java_heap_of(pid)
                    objects = heap["objects"]
                    check(objects["problem"] or objects["other_bytes"] == 0, objects)
                    if heap["quality"] != "exact":
                        continue
                    classes = classes_of(heap)
                    if not objects["problem"]:
                        equal({k: classes[k][0] for k in KNOWN_CLASSES}, KNOWN_CLASSES, "classes")


run()
