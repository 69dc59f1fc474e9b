# SPDX-License-Identifier: GPL-2.0-or-later
"""memstate reads the heap of gperftools' tcmalloc from outside: every block of the program,
with the size that tcmalloc reports, and tcmalloc's own figures.

MEMSTATE_TEST_TCMALLOC names libraries to use instead of those of the system, separated by
colons, such as those of other versions.
"""

import ctypes.util
import json
import os
import shutil
import subprocess

from blocks_lib import SOURCE, check_blocks, check_churn, heap_of, leaks_of, running
from heap_lib import NO_HURRY, check_matrix
from live import Folder, Skip, check, equal, is_in_state, memstate, run, test, wait_until

PROGRAM = os.path.join(os.environ["builddir"], "tests", "targets", "blocks_target")
NAMED = os.environ.get("MEMSTATE_TEST_TCMALLOC")
# blocks of libc, the C++ library and tcmalloc's own objects
OTHERS = 24


def libraries():
    found = NAMED.split(":") if NAMED else \
        [lib for lib in map(ctypes.util.find_library, ("tcmalloc_minimal", "tcmalloc")) if lib]
    if not found:
        raise Skip("tcmalloc is not installed")
    return found


@test
def every_block_is_found_with_its_size():
    for library in libraries():
        with running(PROGRAM, "blocks", 4, 4000, LD_PRELOAD=library) as (pid, blocks):
            wait_until(lambda pid=pid: is_in_state(pid, b"S"), "the program waits")
            heap = heap_of(pid)
            equal([heap["allocator"], heap["heap_quality"], heap["problem"]], ["tcmalloc", "exact", None], library)
            equal(heap["unexplained_bytes"], 0, f"{library}: unexplained")
            more = heap["arenas"][0]["live_count"] - len(blocks)
            check(0 <= more <= OTHERS, f"{library}: {more} other blocks")
            check_blocks(library, pid, blocks, OTHERS)
            check_matrix(pid)


@test
def a_static_stripped_program_is_read():
    compiler = shutil.which("g++")
    if not compiler:
        raise Skip("g++ is not installed")
    with Folder() as folder:
        program = f"{folder}/program"
        result = subprocess.run(["gcc", "-O1", "-c", "-o", f"{folder}/program.o", SOURCE],
                                capture_output=True, text=True, check=False)
        equal(result.returncode, 0, result.stderr)
        result = subprocess.run([compiler, "-static", "-s", "-o", program, f"{folder}/program.o",
                                 "-Wl,--whole-archive", "-ltcmalloc_minimal", "-Wl,--no-whole-archive",
                                 "-lpthread"], capture_output=True, text=True, check=False)
        if result.returncode != 0:
            raise Skip(f"libtcmalloc_minimal.a cannot be linked: {result.stderr.splitlines()[-1:]}")
        with running(program, "blocks", 2, 2000) as (pid, blocks):
            heap = heap_of(pid)
            equal([heap["allocator"], heap["heap_quality"], heap["problem"]], ["tcmalloc", "exact", None], "heap")
            check_blocks("static", pid, blocks, OTHERS)


@test
def sums_equal_the_allocators_own_figures():
    if not os.path.exists(os.path.join(os.environ["builddir"], "src/agent/libmemstate-agent.so")):
        raise Skip("built without the helper")
    for library in libraries():
        with running(PROGRAM, "blocks", 4, 4000, LD_PRELOAD=library) as (pid, _):
            args = ("heap", "-p", pid, "--heap", "helper", "--json", *NO_HURRY)
            memstate(*args).must_be(0)  # the first query loads the helper, which allocates
            heap = json.loads(memstate(*args).must_be(0).out)
            values, arena = heap["helper"]["values"], heap["arenas"][0]
            live, cached = (values[f"{name}_bytes"] for name in
                            ("generic.current_allocated", "tcmalloc.thread_cache_free"))
            # from version 2.16 on, a block of the helper's thread is cached only during the query
            equal(arena["live_bytes"] + arena["cached_bytes"], live + cached, f"{library}: live and cached")
            if not NAMED:
                equal(arena["live_bytes"], live, f"{library}: live")
            equal(arena["system_bytes"], values["generic.heap_size"], f"{library}: system")
            equal(arena["spans_free_bytes"], values["tcmalloc.pageheap_free_bytes"], f"{library}: free spans")
            equal(arena["spans_returned_bytes"], values["tcmalloc.pageheap_unmapped_bytes"], f"{library}: returned")
            # tcmalloc also counts the unused ends of spans, which belong to heap_meta
            check(arena["free_bytes"] <= values["tcmalloc.central_cache_free_bytes"] +
                  values["tcmalloc.transfer_cache_free_bytes"], f"{library}: {arena}, {values}")


@test
def lost_blocks_are_leaks_and_others_are_not():
    for library in libraries():
        with running(PROGRAM, "leak", 500, 100, LD_PRELOAD=library) as (pid, blocks):
            # tcmalloc has a size class of 112 bytes
            leaked = sum(group["blocks"] for group in leaks_of(pid)["leaked"]
                         if group["block_bytes"] == 112)
            # registers and unused memory may still contain a pointer to the last blocks
            check(len(blocks) - 4 <= leaked <= len(blocks), f"{library}: {leaked} of {len(blocks)} are leaked")


@test
def the_debug_library_makes_an_estimate():
    library = ctypes.util.find_library("tcmalloc_minimal_debug")
    if not library:
        raise Skip("tcmalloc's debug library is not installed")
    with running(PROGRAM, "blocks", 2, 1000, LD_PRELOAD=library) as (pid, _):
        heap = heap_of(pid)
        equal([heap["allocator"], heap["heap_quality"]], ["tcmalloc", "estimate"], heap["problem"])
        check("debug library" in heap["problem"], heap["problem"])


@test
def a_busy_heap_is_exact_or_reported_as_an_estimate():
    for library in libraries():
        with running(PROGRAM, "churn", 3, LD_PRELOAD=library) as (pid, _):
            check_churn(library, pid)


run()
