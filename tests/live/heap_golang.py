# SPDX-License-Identifier: GPL-2.0-or-later
"""memstate reads the heap of a Go program from outside: the objects and their bytes equal
runtime.ReadMemStats of the same moment.

MEMSTATE_TEST_GO names the go commands to use instead of go, separated by colons, such as
those of other versions.
"""

import contextlib
import json
import os
import shutil
import subprocess

from heap_lib import NO_HURRY, check_details, check_matrix
from live import Folder, Skip, check, equal, is_in_state, memstate, run, test, wait_until

SOURCE = os.path.join(os.environ["srcdir"], "tests", "targets", "go_target.go")
COMPILERS = [c for c in os.environ.get("MEMSTATE_TEST_GO", "go").split(":") if shutil.which(c)]
BUILDS = {"plain": [], "stripped": ["-ldflags", "-s -w"]}


def build(folder, compiler, options, cgo="0"):
    program = f"{folder}/program"
    env = {**os.environ, "CGO_ENABLED": cgo, "GOCACHE": f"{folder}/cache", "GOFLAGS": "", "HOME": folder}
    result = subprocess.run([compiler, "build", *options, "-o", program, SOURCE], env=env,
                            capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise Skip(f"{compiler} cannot build the program: {result.stderr.splitlines()[-1:]}")
    return program


@contextlib.contextmanager
def waiting(program):
    """Start the program; yield its pid and Go's own figures."""
    process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        line = process.stdout.readline()
        wait_until(lambda: is_in_state(process.pid, b"S"), "the program waits")
        names = ("HeapAlloc", "HeapObjects", "StackInuse", "HeapIdle")
        yield process.pid, dict(zip(names, map(int, line.split())))
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


def each_build(folder):
    if not COMPILERS:
        raise Skip("Go is not installed")
    for compiler in COMPILERS:
        for name, options in BUILDS.items():
            yield f"{compiler}, {name}", build(folder, compiler, options)


def heap_of(pid):
    report = json.loads(memstate("heap", "-p", pid, "--json", *NO_HURRY).must_be(0).out)
    check_details(report)
    return report


def spaces_of(go):
    return {space["space"]: space for space in go["spaces"]}


def live_bytes(go):
    return sum(space["live_bytes"] for n, space in spaces_of(go).items() if n.startswith("spans"))


def read_twice(program):
    """Return the report, a row of a series and Go's own figures.

    In 2 of 650 runs on a busy machine, HeapAlloc of Go 1.19 still contained objects of one
    span that the sweeper had already freed, according to the span itself. Such a run is
    repeated.
    """
    for _ in range(3):
        with waiting(program) as (pid, truth):
            heap = heap_of(pid)
            check_matrix(pid)
            row = memstate("--csv", "-n1", "-p", pid, "--heap", "walk", *NO_HURRY).must_be(0).rows()[0]
        if live_bytes(heap["heaps"][0]) == truth["HeapAlloc"]:
            break
    return heap, row, truth


@test
def objects_equal_those_of_the_runtime():
    with Folder() as folder:
        for name, program in each_build(folder):
            heap, row, truth = read_twice(program)
            go = heap["heaps"][0]
            spaces = spaces_of(go)
            equal([go["heap"], go["quality"], go["problem"]], ["go", "exact", None], name)
            equal(heap["unexplained_bytes"], 0, f"{name}: unexplained")
            equal(live_bytes(go), truth["HeapAlloc"], f"{name}: HeapAlloc")
            tiny = sum(c["live_count"] for c in go["classes"])
            # ReadMemStats counts tiny objects that share a block one by one
            check(tiny <= truth["HeapObjects"] <= tiny * 1.01, f"{name}: {tiny} objects, {truth}")
            # work buffers of the collector are in the same kind of spans
            check(spaces["stacks and work buffers"]["live_bytes"] >= truth["StackInuse"], f"{name}: {truth}")
            # the kernel may make released pages resident again, as parts of huge pages
            check(spaces["idle pages"]["resident_bytes"] <= truth["HeapIdle"] + truth["StackInuse"],
                  f"{name}: {spaces} {truth}")
            check(row["anon_bytes"] * 20 <= row["rss_bytes"], f"{name}: {row}")
            equal(row["live_bytes"], heap["live_resident_bytes"], f"{name}: live")


@test
def a_program_with_cgo_has_two_heaps():
    if not COMPILERS or not shutil.which("gcc"):
        raise Skip("Go or gcc is not installed")
    with Folder() as folder:
        source = f"{folder}/cgo.go"
        with open(SOURCE, encoding="utf-8") as f, open(source, "w", encoding="utf-8") as to:
            to.write(f.read().replace("import (", "// #include <stdlib.h>\nimport \"C\"\n\nimport (", 1)
                     .replace("runtime.ReadMemStats(&stats)", "for i := 0; i < 1000; i++ {\n\t\tC.malloc(2000)\n\t}\n\truntime.ReadMemStats(&stats)", 1))
        env = {**os.environ, "CGO_ENABLED": "1", "GOCACHE": f"{folder}/cache", "HOME": folder, "GOFLAGS": ""}
        result = subprocess.run([COMPILERS[0], "build", "-o", f"{folder}/program", source], env=env,
                                capture_output=True, text=True, check=False)
        if result.returncode != 0:
            raise Skip(f"cgo does not work: {result.stderr.splitlines()[-1:]}")
        with waiting(f"{folder}/program") as (pid, _):
            heap = heap_of(pid)
            equal([(h["heap"], h["quality"]) for h in heap["heaps"]], [("glibc", "exact"), ("go", "exact")], "heaps")
            check(heap["heaps"][0]["live_resident_bytes"] >= 2000 * 1000, heap["heaps"][0])
            check_matrix(pid)


@test
def leaks_needs_a_malloc():
    with Folder() as folder:
        _, program = next(each_build(folder))
        with waiting(program) as (pid, _):
            result = memstate("leaks", "-p", pid, *NO_HURRY).must_be(1)
            check("no malloc" in result.errors()[0], result.errors())


run()
