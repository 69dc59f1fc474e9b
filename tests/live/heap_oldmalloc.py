# SPDX-License-Identifier: GPL-2.0-or-later
"""memstate reads the heap of musl's old malloc from outside: every block of the program,
with its usable size, and no other block.

MEMSTATE_TEST_OLD_MUSL_GCC names compilers for musl before 1.2.1, or for a later musl that
was built with --with-malloc=oldmalloc, separated by colons. Without them, nothing can be
tested: current distributions have only mallocng.
"""

import os
import shutil
import subprocess

from blocks_lib import SOURCE, check_blocks, check_churn, heap_of, leaks_of, running
from heap_lib import check_matrix
from live import Folder, Skip, check, equal, is_in_state, run, test, wait_until

COMPILERS = [c for c in os.environ.get("MEMSTATE_TEST_OLD_MUSL_GCC", "").split(":") if shutil.which(c)]
LINKED = {"dynamic": [], "static": ["-static"], "stripped": ["-static", "-s"]}


def each_build(folder):
    """Build the target in each way; yield the name of the build and the program."""
    if not COMPILERS:
        raise Skip("no compiler for musl's old malloc; see MEMSTATE_TEST_OLD_MUSL_GCC")
    for i, compiler in enumerate(COMPILERS):
        for name, options in LINKED.items():
            program = f"{folder}/{i}-{name}"
            result = subprocess.run([compiler, "-O1", *options, "-o", program, SOURCE, "-lpthread"],
                                    capture_output=True, text=True, check=False)
            equal(result.returncode, 0, f"{compiler} {options}: {result.stderr}")
            yield f"{compiler} {name}", program


@test
def every_block_is_found_with_its_usable_size():
    with Folder() as folder:
        for name, program in each_build(folder):
            with running(program, "blocks", 4, 4000) as (pid, blocks):
                wait_until(lambda pid=pid: is_in_state(pid, b"S"), "the program waits")
                heap = heap_of(pid)
                equal([heap["allocator"], heap["heap_quality"], heap["problem"]], ["musl", "exact", None], name)
                equal(heap["unexplained_bytes"], 0, f"{name}: unexplained")
                equal(heap["arenas"][0]["live_count"] + heap["mapped_count"], len(blocks), f"{name}: blocks")
                check_blocks(name, pid, blocks)
                check_matrix(pid)


@test
def lost_blocks_are_leaks_and_others_are_not():
    with Folder() as folder:
        for name, program in each_build(folder):
            with running(program, "leak", 500, 100) as (pid, blocks):
                found = leaks_of(pid)
                equal(found["live_count"], 2 * len(blocks), f"{name}: blocks")
                # registers and unused memory may still contain a pointer to the last blocks
                leaked = found["direct_count"]
                check(len(blocks) - 4 <= leaked <= len(blocks), f"{name}: {leaked} of {len(blocks)} are leaked")
                equal(found["direct_bytes"], leaked * 112, f"{name}: leaked bytes")


@test
def a_busy_heap_is_exact_or_reported_as_an_estimate():
    with Folder() as folder:
        for name, program in each_build(folder):
            with running(program, "churn", 3) as (pid, _):
                check_churn(name, pid)


run()
