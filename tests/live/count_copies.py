# SPDX-License-Identifier: GPL-2.0-or-later
"""The counting probe and function pointers that a program copied at run time: those in
static data are counted; those in the heap make the result incomplete, and are reported."""

import os
import re
import shlex
import signal
import subprocess
import tempfile

from count_inject_lib import Counting, difference, put_in_and_out, was_put_in
from inject_lib import FOLDER
from live import (OrderedTarget, Skip, check, equal, parse_csv, run, start_memstate, status_field,
                  test)

TARGET = os.path.join(FOLDER, "count_copies_target")

BIG_BYTES = 256 << 20  # untouched zero-initialized data of the target


def resident_bytes(pid):
    return int(status_field(pid, "VmRSS").split()[0]) * 1024


def start():
    return OrderedTarget([TARGET])


def count_with_memstate(target, letters):
    """Count these orders with the command. Return its figures, its messages and its status."""
    counting = start_memstate("count", "-p", target.pid, "--probe", "inject", "--csv", "-i", "60s")
    try:
        header = counting.stdout.readline()
        check(header, "counting has not begun")
        for letter in letters:
            target.order(letter)
    finally:
        counting.send_signal(signal.SIGINT)
        out, err = counting.communicate()
    row = parse_csv(header + out)[-1]
    calls = {key: int(row[f"{key}_calls"]) for key in ("malloc", "free")} | {"bytes": int(row["requested_bytes"])}
    return calls, err.decode(), counting.returncode


@test
def calls_through_copies_in_static_data_are_counted():
    with start() as target:
        target.order(b"k")
        with Counting(target.pid) as counting:
            first = counting.read()["sums"]
            for letter in (b"c", b"C", b"c"):
                said = target.order(letter)
                then = counting.read()["sums"]
                equal(difference(first, then), said, f"calls by {letter}")
                first = then
            was_put_in(counting.end())


@test
def the_command_counts_them_and_reports_no_problem():
    with start() as target:
        target.order(b"k")
        calls, err, status = count_with_memstate(target, (b"c", b"C"))
        equal((status, err), (0, ""), "status and messages")
        equal(calls, {"malloc": 18, "free": 18, "bytes": 11 * 17 + 7 * 19}, "calls")


LIBRARY = """
#include <stdlib.h>
void *(*library_malloc)(size_t) = malloc;
"""
PROGRAM = r"""
#include <stdlib.h>
#include <unistd.h>
extern void *(*library_malloc)(size_t);
int main(void)
{
	char letter;

	if (write(1, "ready\n", 6) < 0)
		return 1;
	while (read(0, &letter, 1) == 1) {
		for (int i = 0; i < 9; i++)
			free(library_malloc(10));
		if (write(1, "malloc 9\nfree 9\nbytes 90\ndone\n", 30) < 0)
			return 1;
	}
	return 0;
}
"""


def build(folder, name, source, *options):
    path = os.path.join(folder, name)
    command = [*shlex.split(os.environ.get("CC", "cc")), "-x", "c", "-", "-o", path, *options]
    result = subprocess.run(command, input=source, text=True, capture_output=True, check=False)
    if result.returncode != 0:
        raise Skip(f"{command}: {result.stderr}")
    return path


@test
def a_variable_of_a_library_that_the_linker_copied_is_counted():
    with tempfile.TemporaryDirectory() as folder:
        library = build(folder, "libcopied.so", LIBRARY, "-shared", "-fPIC", "-fno-builtin")
        program = build(folder, "program", PROGRAM, "-fno-builtin", "-fno-pie", "-no-pie", "-x", "none", library)
        with OrderedTarget([program]) as target:
            calls, err, status = count_with_memstate(target, (b"c",))
            equal((status, err, calls), (0, "", {"malloc": 9, "free": 9, "bytes": 90}), "status, messages and calls")


@test
def copies_stay_equal_to_the_function_while_counting():
    with start() as target:
        target.order(b"k")
        before = target.order(b"a")
        equal(before["same"], 1, "the copy is equal to malloc")
        with Counting(target.pid) as counting:
            equal(target.order(b"a")["same"], 1, "the copy is equal to malloc while counting")
            was_put_in(counting.end())
        equal(target.order(b"a"), before, "copies after removal")


@test
def copies_are_restored_by_the_next_run_after_a_kill():
    with start() as target:
        target.order(b"k")
        before = target.order(b"a")
        with Counting(target.pid) as counting:
            check(target.order(b"a")["bss"] != before["bss"], "the copy is not redirected")
            counting.kill()
        target.order(b"c")
        put_in_and_out(target.pid)
        equal(target.order(b"a"), before, "copies after the next run")
        target.order(b"c")


@test
def a_copy_that_the_program_changes_stays():
    with start() as target:
        target.order(b"k")
        with Counting(target.pid) as counting:
            target.order(b"n")
            changed = target.order(b"a")["bss"]
            was_put_in(counting.end())
        equal(target.order(b"a")["bss"], changed, "the copy after removal")


@test
def a_changed_copy_survives_a_kill():
    with start() as target:
        target.order(b"k")
        with Counting(target.pid) as counting:
            target.order(b"n")
            changed = target.order(b"a")["bss"]
            counting.kill()
        put_in_and_out(target.pid)
        equal(target.order(b"a")["bss"], changed, "the copy after the next run")


@test
def words_that_are_no_copies_stay():
    with start() as target:
        target.order(b"o")
        before = target.order(b"O")
        with Counting(target.pid) as counting:
            equal(target.order(b"O"), before, "words while counting")
            was_put_in(counting.end())
        equal(target.order(b"O"), before, "words after removal")


@test
def copies_in_the_heap_make_the_result_incomplete():
    with start() as target:
        target.order(b"h")
        calls, err, status = count_with_memstate(target, (b"H",))
        equal((status, calls), (3, {"malloc": 0, "free": 0, "bytes": 0}), f"status and calls: {err}")
        check(f"{target.pid}: calls through 2 pointers to malloc or a related function in [heap] are not counted" in err,
              err)
        target.order(b"H")


@test
def words_on_the_stack_are_not_reported():
    with start() as target:
        target.order(b"s")
        _, err, status = count_with_memstate(target, ())
        equal((status, err), (0, ""), "status and messages")


@test
def a_heap_that_grows_without_counted_calls_makes_the_result_incomplete():
    with start() as target:
        target.order(b"s")
        calls, err, status = count_with_memstate(target, (b"g",))
        equal((status, calls["malloc"]), (3, 0), f"status and calls: {err}")
        found = re.search(r"\[heap\] grew by (\d+) bytes, more than the counted calls requested", err)
        check(found and 16 << 20 < int(found.group(1)) < 18 << 20, err)


@test
def a_heap_that_grows_by_counted_calls_is_no_problem():
    with start() as target:
        target.order(b"s")
        calls, err, status = count_with_memstate(target, (b"G",))
        equal((status, err, calls["malloc"]), (0, "", 4194), "status, messages and calls")


@test
def static_data_that_was_never_written_is_not_touched():
    with start() as target:
        target.order(b"k")
        before = resident_bytes(target.pid)
        with Counting(target.pid) as counting:
            was_put_in(counting.end())
        grown = resident_bytes(target.pid) - before
        check(grown < BIG_BYTES // 64, f"{grown} bytes more are resident")


run()
