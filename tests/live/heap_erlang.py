# SPDX-License-Identifier: GPL-2.0-or-later
"""memstate names the allocators of Erlang's virtual machine, whose heaps it cannot read, and
counts their memory as anon. The sizes are those that the virtual machine reports itself.
"""

import contextlib
import json
import os
import shutil
import subprocess

from heap_lib import HEAP_OWNERS, NO_HURRY, check_matrix
from live import Folder, Skip, check, equal, is_in_state, memstate, run, test, wait_until

# Print the total of erlang:memory(), and the bytes of the carriers that are mapped by mmap().
# The list is in a carrier of its own.
PROGRAM = """
L = lists:seq(1, 1000000),
Value = fun(Key, Properties) ->
    case lists:keyfind(Key, 1, Properties) of false -> 0; Tuple -> element(2, Tuple) end
end,
Of = fun({instance, _, Parts}) ->
    lists:sum([Value(mseg_alloc_carriers_size, P)
               || {Kind, P} <- Parts, Kind =:= mbcs orelse Kind =:= sbcs]);
    (_) -> 0
end,
All = [erlang:system_info({allocator, A}) || A <- erlang:system_info(alloc_util_allocators)],
Mapped = lists:sum([Of(I) || Instances <- All, is_list(Instances), I <- Instances]),
io:format("~p ~p~n", [erlang:memory(total), Mapped]),
receive after infinity -> L end.
"""
LIST_BYTES = 1000000 * 16
PROBLEM = ("memstate cannot read Erlang's allocators, whose memory is part of anon; "
           "erlang:memory() shows its use")


@contextlib.contextmanager
def running():
    """Start Erlang; yield its pid and the two figures that it prints."""
    erl = shutil.which("erl")
    if not erl:
        raise Skip("Erlang is not installed")
    with Folder() as folder:
        process = subprocess.Popen([erl, "-noshell", "-eval", PROGRAM], stdout=subprocess.PIPE,
                                   stdin=subprocess.DEVNULL, text=True,
                                   env={**os.environ, "HOME": folder})
        try:
            total, mapped = map(int, process.stdout.readline().split())
            wait_until(lambda: is_in_state(process.pid, b"S"), "the virtual machine waits")
            yield process.pid, total, mapped
        finally:
            process.kill()
            process.wait()
            process.stdout.close()


@test
def the_allocators_are_named_with_the_reason():
    with running() as (pid, _, _):
        heap = json.loads(memstate("heap", "-p", pid, "--json", *NO_HURRY).must_be(0).out)
        text = memstate("heap", "-p", pid, *NO_HURRY).must_be(0).out.decode()
    equal(heap["heap_quality"], "bound", "the quality of the sums")
    malloc, erlang = heap["heaps"]
    equal([malloc["heap"], malloc["quality"]], ["glibc", "exact"], "malloc's heap")
    equal([erlang["heap"], erlang["quality"], erlang["problem"]],
          ["erlang", "unknown", PROBLEM], "Erlang's allocators")
    check("beam.smp" in erlang["evidence"], erlang["evidence"])
    check(all(erlang[f"{o}_resident_bytes"] is None for o in HEAP_OWNERS),
          f"figures of a heap that was not read: {erlang}")
    check("Erlang allocators: unknown, at most the " in " ".join(text.split()), text)


@test
def their_memory_is_anon():
    with running() as (pid, total, mapped):
        result = memstate("-p", pid, "--json", "-n", 1, "--heap", "walk", *NO_HURRY).must_be(0)
        report = memstate("-p", pid, "--text", "--heap", "walk", *NO_HURRY).must_be(0)
        check_matrix(pid)
    p = json.loads(result.out)["processes"][0]
    check(LIST_BYTES < mapped, f"the list of {LIST_BYTES} is not in the carriers: {mapped}")
    check(LIST_BYTES <= p["anon_bytes"], f"the list of {LIST_BYTES} is not in anon: {p['anon_bytes']}")
    # carriers are resident or not, and anon contains little else
    anon = p["anon_bytes"] + p["unbacked_bytes"]
    check(mapped <= anon, f"{mapped} of carriers, but anon is {anon}")
    # carriers from malloc are allocated blocks
    check(total <= anon + p["live_bytes"], f"{total} allocated, but {p}")
    words = " ".join(report.out.decode().split())
    for text in ("Erlang's virtual machine (BEAM)", "recon_alloc:memory(usage)", PROBLEM):
        check(text in words, f"without {text!r}: {words}")


run()
