# SPDX-License-Identifier: GPL-2.0-or-later
"""An unreadable heap is recognized from the program's files, without stopping the
process. A jemalloc linked into the program is still read.

A process that waits in pause(2) switches contexts once for each stop.
"""

import contextlib
import os
import shutil
import subprocess

from live import (Folder, Skip, check, equal, is_in_state, memstate, run, status_field, test,
                  wait_until)

TARGETS = os.path.join(os.environ["builddir"], "tests", "targets")
SOURCE = os.path.join(os.environ["srcdir"], "tests", "targets", "code_target.c")
SWITCHES = "voluntary_ctxt_switches"
# jemalloc's archive is linked with glibc's unwinder, which needs a function
# that musl lacks.
UNWINDER = "int _dl_find_object(void *a, void *b) { return a == b ? -1 : -1; }\n"


@contextlib.contextmanager
def running(program):
    process = subprocess.Popen([program], stdout=subprocess.PIPE)
    try:
        check(process.stdout.readline() == b"\n", f"{program} does not start")
        wait_until(lambda: is_in_state(process.pid, b"S"), "the program waits")
        yield process.pid
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def read(program):
    """Return memstate's result, and the number of times the process was woken."""
    with running(program) as pid:
        before = int(status_field(pid, SWITCHES))
        result = memstate("heap", "-p", str(pid))
        wait_until(lambda: is_in_state(pid, b"S"), "the program waits again")
        return result, int(status_field(pid, SWITCHES)) - before


def check_unread(program, reason):
    result, wakes = read(program)
    equal(result.status, 1, "the exit status")
    check(reason.encode() in result.err, f"wrong reason: {result.err!r}")
    equal(wakes, 0, f"stops of {program}")


def check_read(program, allocator):
    result, wakes = read(program)
    equal(result.status, 0, f"the exit status, with {result.err!r}")
    check(f": {allocator}, exact".encode() in result.out.splitlines()[0], f"wrong allocator: {result.out!r}")
    check(wakes > 0, f"{program} was not stopped")


def target(name):
    program = os.path.join(TARGETS, name)
    if not os.path.exists(program):
        raise Skip(f"{name} was not built")
    return program


def compile_musl(folder, *options):
    compiler = shutil.which("musl-gcc")
    if not compiler:
        raise Skip("musl-gcc is not installed")
    program = os.path.join(folder, "program")
    result = subprocess.run([compiler, "-o", program, SOURCE, *options], capture_output=True,
                            text=True, check=False)
    if result.returncode != 0:
        raise Skip(f"musl-gcc cannot link the program: {result.stderr.splitlines()[-1:]}")
    return program


@test
def a_malloc_linked_into_the_program_is_recognized_without_a_stop():
    check_unread(target("code_target_tcmalloc"), "it is tcmalloc")


@test
def the_message_alone_does_not_replace_glibcs_malloc():
    check_read(target("code_target_message"), "glibc malloc")


@test
def an_unknown_malloc_of_the_program_may_be_a_wrapper():
    _, wakes = read(target("code_target_wrapper"))
    check(wakes > 0, "the program was not stopped")


@test
def a_musl_program_is_read():
    with Folder() as folder:
        check_read(compile_musl(folder), "musl malloc")


@test
def a_static_program_without_a_readable_allocator_is_not_stopped():
    """A static program for musl that never frees memory contains only a simple malloc."""
    with Folder() as folder:
        check_unread(compile_musl(folder, "-static", "-s"),
                     "no malloc of glibc or musl 1.2, no jemalloc, and no tcmalloc")


@test
def a_jemalloc_in_a_musl_program_is_read():
    with Folder() as folder:
        answer = subprocess.run(["gcc", "-print-file-name=libjemalloc.a"], capture_output=True,
                                text=True, check=False) if shutil.which("gcc") else None
        archive = answer.stdout.strip() if answer else ""
        if not os.path.isabs(archive):
            raise Skip("libjemalloc.a is not installed")
        unwinder = os.path.join(folder, "unwinder.c")
        with open(unwinder, "w", encoding="ascii") as f:
            f.write(UNWINDER)
        # musl itself allocates a buffer with its own malloc
        for mode, heaps in (([], "jemalloc and musl malloc"), (["-static"], "jemalloc")):
            check_read(compile_musl(folder, *mode, unwinder, archive, "-lpthread"), heaps)


run()
