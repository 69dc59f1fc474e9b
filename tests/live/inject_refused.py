# SPDX-License-Identifier: GPL-2.0-or-later
"""Processes that cannot or must not be entered: the reason is reported and they are left
alone, most of them without even a stop."""

import errno
import os
import resource
import shlex
import signal
import subprocess

from inject_lib import LOOKED_AT, InjectTarget, check_same, facts, is_refused, tool
from live import (IS_ROOT, Folder, Skip, as_nobody, check, equal, read_proc, run, status_field,
                  stop, test, wait_until)

# x86-64: mmap, mprotect, munmap, clone, exit, futex, clone3, rseq; and an allow-list
# with poll only
FILTERS = [f"{action}:{number}" for action in ("errno", "trap", "kill")
           for number in (9, 10, 11, 56, 60, 202, 435, 334)] + ["allow:7"]


@test
def a_process_with_a_seccomp_filter():
    reasons = set()
    for name in FILTERS:
        with InjectTarget("filtered", name) as target:
            wait_until(lambda: target.is_in_call == 1, "the filter is installed")
            before = facts(target.pid)
            reasons.add(is_refused(target.pid))
            check_same(before, facts(target.pid))
            target.check_goes_on()
    check(all("filter" in reason or "seccomp" in reason for reason in reasons), f"{reasons}")


@test
def a_traced_process():
    with InjectTarget("traced") as target:
        reason = is_refused(target.pid, wanted=(errno.EBUSY,))
        check("trace" in reason, reason)
        equal(status_field(target.pid, "TracerPid"), str(target.truth["tracer"]), "tracer")


@test
def a_stopped_process():
    with InjectTarget("churn", 2) as target:
        stop(target.pid)
        before = facts(target.pid)
        is_refused(target.pid, "-l", 300, wanted=(errno.EAGAIN,))
        wait_until(lambda: status_field(target.pid, "State").startswith("T (stopped)"),
                   "the process is still stopped")
        check_same(before, facts(target.pid))
        os.kill(target.pid, signal.SIGCONT)
        target.check_goes_on()


@test
def a_process_of_another_user():
    nobody = {"preexec_fn": as_nobody()}
    with InjectTarget("churn", 2) as target:
        reason = is_refused(target.pid, wanted=(errno.EPERM, errno.EACCES),
                            steps=LOOKED_AT, **nobody)
        check(reason, "no reason given")
        target.check_goes_on()


@test
def a_process_that_is_not_dumpable():
    popen = {"preexec_fn": as_nobody()} if IS_ROOT else {}
    with InjectTarget("not-dumpable", **popen) as target:
        is_refused(target.pid, wanted=(errno.EPERM, errno.EACCES),
                   steps=LOOKED_AT, **popen)
        target.check_goes_on()


@test
def an_ordinary_users_own_process():
    """The kernel's settings may permit it; otherwise the process is unchanged."""
    popen = {"preexec_fn": as_nobody()} if IS_ROOT else {}
    with InjectTarget("still", 2, **popen) as target:
        before = facts(target.pid)
        cycle = tool(target.pid, **popen)[0]
        if cycle["open"] != 0:
            check(cycle["open_reason"], f"no reason given: {cycle}")
        check_same(before, facts(target.pid))
        target.check_whole()
        if cycle["open"] != 0:
            raise Skip(cycle["open_reason"])


@test
def a_process_that_shares_its_parents_memory():
    with InjectTarget("vforked") as target:
        before = [facts(target.truth[who]) for who in ("pid", "parent")]
        for who in ("pid", "parent"):
            is_refused(target.truth[who], "-l", 300, wanted=(errno.EAGAIN, errno.EOPNOTSUPP),
                       steps=LOOKED_AT)
        for was, who in zip(before, ("pid", "parent")):
            check_same(was, facts(target.truth[who]))


class Program:
    """A program compiled for the test, waiting."""

    def __init__(self, folder, command, source):
        path, text = os.path.join(folder, "program"), os.path.join(folder, "program.c")
        with open(text, "w", encoding="ascii") as f:
            f.write(source)
        try:
            subprocess.run([*command, "-o", path, text], check=True, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
        except (OSError, subprocess.CalledProcessError):
            raise Skip(f"cannot be built here: {command}") from None
        self.process = subprocess.Popen([path])
        self.pid = self.process.pid

    def __enter__(self):
        wait_until(lambda: status_field(self.pid, "State").startswith("S") or
                   self.process.poll() is not None, "the program waits")
        equal(self.process.poll(), None, "status")
        return self

    def __exit__(self, *unused):
        self.process.kill()
        self.process.wait()


WAITS = "#include <stdlib.h>\n#include <unistd.h>\nint main(void) { return malloc(9) ? pause() : 1; }\n"
WAITS_32 = ('__asm__(".globl _start\\n_start: mov $29, %eax\\n int $0x80\\n jmp _start\\n");\n')


CC = shlex.split(os.environ.get("CC", "cc"))


def check_program(command, source, words):
    """Check that the program is refused with these words in the reason."""
    with Folder() as folder, Program(folder, command, source) as program:
        wait_until(lambda: read_proc(program.pid, "syscall").startswith((b"34 ", b"29 ")),
                   "the program waits")
        before = facts(program.pid)
        reason = is_refused(program.pid, wanted=(errno.EOPNOTSUPP, errno.ENOSYS))
        check(words in reason, f"{words!r} is not in the reason {reason!r}")
        check_same(before, facts(program.pid))
        equal(program.process.poll(), None, "status")


@test
def a_musl_program():
    check_program(["musl-gcc"], WAITS, "musl")


@test
def a_static_program():
    check_program([*CC, "-static"], WAITS, "static")


@test
def a_program_of_another_word_size():
    check_program([*CC, "-m32", "-nostdlib", "-static"], WAITS_32, "word size")


@test
def a_program_with_a_sanitizer():
    """Sanitizer runtimes crash in threads that they did not start."""
    skipped = []
    for option, word in (("thread", "ThreadSanitizer"), ("address", "AddressSanitizer"),
                         ("leak", "LeakSanitizer")):
        try:
            check_program([*CC, f"-fsanitize={option}"], WAITS, word)
        except Skip as skip:
            skipped.append(str(skip))
    if len(skipped) == 3:
        raise Skip(skipped[0])


OWN_MALLOC = """
#include <stddef.h>
#include <unistd.h>
static char pool[1 << 20]; static size_t used;
void *malloc(size_t n) { used += (n + 31) & ~15; return pool + used - ((n + 15) & ~15); }
void free(void *p) { (void)p; }
void *calloc(size_t n, size_t m) { return malloc(n * m); }
void *realloc(void *p, size_t n) { (void)p; return malloc(n); }
int main(void) { return malloc(9) ? pause() : 1; }
"""
# Pools as PartitionAlloc reserves them: 32 GiB at an address that is a multiple of 32 GiB,
# in use from the second page on.
POOLS = """
#include <stdint.h>
#include <sys/mman.h>
__attribute__((constructor)) static void make_pools(void)
{
	uintptr_t size = (uintptr_t)32 << 30;
	uintptr_t at = (uintptr_t)mmap(NULL, 2 * size, PROT_NONE,
				       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	uintptr_t pool = (at + size - 1) & ~(size - 1);
	if (at == (uintptr_t)MAP_FAILED ||
	    mprotect((void *)(pool + 4096), 1 << 21, PROT_READ | PROT_WRITE) < 0)
		_exit(1);
}
"""
LIKE_GO = """
#include <sys/mman.h>
#include <unistd.h>
int main(void) { return mmap((void *)0xc000000000, 1 << 22, PROT_READ | PROT_WRITE,
MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED ? 1 : pause(); }
"""


@test
def a_program_with_its_own_malloc():
    """As in Chromium: glibc's mallinfo2() would report a malloc that the program
    does not use."""
    check_program([*CC, "-rdynamic", "-fno-builtin"], OWN_MALLOC, "malloc is not glibc's")


@test
def a_program_like_chromium():
    check_program([*CC, "-D_GNU_SOURCE", "-rdynamic", "-fno-builtin"], OWN_MALLOC + POOLS, "PartitionAlloc")


@test
def a_go_program():
    check_program([*CC, "-D_GNU_SOURCE"], LIKE_GO, "Go program")
    check_program([*CC, "-D_GNU_SOURCE", "-static"], LIKE_GO, "Go program")


@test
def memstate_with_few_descriptors():
    """With too few descriptors the injection is refused before anything is done,
    naming the limit."""
    refused = 0
    with InjectTarget("still", 2) as target:
        before = facts(target.pid)
        for count in range(6, 24):
            limit = {"preexec_fn": lambda count=count: resource.setrlimit(resource.RLIMIT_NOFILE,
                                                                          (count, count))}
            cycle = tool(target.pid, **limit)[0]
            if cycle["open"] == 0:
                equal(cycle["close"], 0, f"close with {count} descriptors: {cycle}")
            else:
                refused += 1
                check("RLIMIT_NOFILE" in cycle["open_reason"], f"{count} descriptors: {cycle}")
                equal(cycle["steps"], [], "steps")
            check_same(before, facts(target.pid))
    check(1 < refused < 18, f"refused {refused} times of 18")


run()
