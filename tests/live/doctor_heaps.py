# SPDX-License-Identifier: GPL-2.0-or-later
"""memstate doctor lists the heaps of a process: the same that memstate heap reads, each with
the evidence by which it was identified, or with the reason why it cannot be read.
"""

import contextlib
import json
import os
import re
import shutil
import subprocess

from heap_lib import NO_HURRY, HeapTarget
from live import (Folder, Skip, check, equal, is_in_state, memstate, run, status_field, test,
                  wait_until)

TARGETS = os.path.join(os.environ["builddir"], "tests", "targets")
SWITCHES = "voluntary_ctxt_switches"
PYTHON = "import sys; k = [str(i) for i in range(100000)]; print(flush=True); sys.stdin.read()"
TITLE = "heaps, read without pausing the process"
ERLANG = 'io:format("~n"), receive after infinity -> ok end.'


def doctor(pid):
    return json.loads(memstate("doctor", "-p", pid, "--json").must_be(0).out)


def read_heaps(pid):
    heap = json.loads(memstate("heap", "-p", pid, "--json", *NO_HURRY).must_be(0).out)
    return heap["heaps"]


def section(pid):
    """Return the list of heaps in the text report, with its lines joined, and the opening."""
    out = memstate("doctor", "-p", pid).must_be(0).out.decode()
    opening, rest = out.split("\n\n", 1)
    heaps = rest.split(TITLE + "\n")[1].split("\n\n")[0]
    return re.sub(r"\n {28}", " ", heaps).splitlines(), " ".join(opening.split())


@contextlib.contextmanager
def running(*command):
    """Start a program that prints an empty line when it is ready; yield its pid."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        equal(process.stdout.readline(), b"\n", f"{command[0]} starts")
        wait_until(lambda: is_in_state(process.pid, b"S"), "the program waits")
        yield process.pid
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


def check_same(listed, read):
    for key in ("heap", "title", "version", "evidence"):
        equal([h[key] for h in listed], [h[key] for h in read], key)
    check(all(h["evidence"] for h in listed), f"without evidence: {listed}")


@test
def the_heap_of_malloc_is_listed_without_a_stop():
    with HeapTarget("fragmented", 4) as target:
        target.wait_for_rest()
        before = status_field(target.pid, SWITCHES)
        report = doctor(target.pid)
        rows, opening = section(target.pid)
        equal(status_field(target.pid, SWITCHES), before, "context switches, one per stop")
        check_same(report["heaps"], read_heaps(target.pid))
    equal(report["heaps_problem"], None, "why no heap was found")
    glibc, = report["heaps"]
    equal([glibc["heap"], glibc["quality"]], ["glibc", "estimate"], "the heap")
    check("main_arena" in glibc["evidence"] and "the process ran" in glibc["problem"], glibc)
    equal(len(rows), 1, "rows")
    check(re.match(r"glibc +yes +glibc malloc; .*main_arena.* \(estimate: .*\)$", rows[0]), rows)
    check("cannot read" not in opening, opening)


@test
def several_heaps_are_listed():
    interpreter = "/usr/bin/python3"
    if not os.access(interpreter, os.X_OK):
        raise Skip(f"{interpreter} is not installed")
    with running(interpreter, "-c", PYTHON) as pid:
        read = read_heaps(pid)
        if [h["heap"] for h in read] != ["glibc", "python"]:
            raise Skip(f"the interpreter has other heaps: {read}")
        check_same(doctor(pid)["heaps"], read)
        rows, _ = section(pid)
    check(re.match(r"python +yes +Python objects; the heads of its pools ", rows[1]), rows)


@test
def an_allocator_that_cannot_be_read_is_named_without_a_stop():
    program = os.path.join(TARGETS, "code_target_tcmalloc")
    if not os.path.exists(program):
        raise Skip("code_target_tcmalloc was not built")
    with running(program) as pid:
        before = status_field(pid, SWITCHES)
        heaps = doctor(pid)["heaps"]
        rows, opening = section(pid)
        equal(status_field(pid, SWITCHES), before, "context switches, one per stop")
    equal([[h["heap"], h["quality"]] for h in heaps], [["tcmalloc", "unknown"]], "heaps")
    equal(heaps[0]["problem"], "it is tcmalloc, but not that of gperftools 2.6 to 2.18", "the reason")
    check(re.match(r"tcmalloc +no +tcmalloc; its library is mapped, or .*\(unknown: .*\)$", rows[0]), rows)
    check(opening.endswith(" memstate cannot read its heap: tcmalloc."), opening)


@test
def a_runtime_that_cannot_be_read_is_named():
    erl = shutil.which("erl")
    if not erl:
        raise Skip("Erlang is not installed")
    with running(erl, "-noshell", "-eval", ERLANG) as pid:
        check_same(doctor(pid)["heaps"], read_heaps(pid))
        rows, opening = section(pid)
    check(re.match(r"erlang +no +Erlang allocators; the program is beam.smp", rows[1]), rows)
    check(opening.endswith(" memstate cannot read 1 of 2 heaps: Erlang allocators."), opening)


@test
def a_program_without_an_allocator_has_no_heap():
    compiler = shutil.which("musl-gcc")
    if not compiler:
        raise Skip("musl-gcc is not installed")
    source = os.path.join(os.environ["srcdir"], "tests", "targets", "code_target.c")
    with Folder() as folder:
        program = os.path.join(folder, "program")
        subprocess.run([compiler, "-static", "-s", "-o", program, source], check=True)
        with running(program) as pid:
            report = doctor(pid)
            rows, _ = section(pid)
    equal(report["heaps"], [], "heaps")
    check("contains no malloc of glibc" in report["heaps_problem"], report["heaps_problem"])
    check(re.match(r"- +unknown +which heaps it has \(the program contains no malloc", rows[0]), rows)


run()
