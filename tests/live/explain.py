# SPDX-License-Identifier: GPL-2.0-or-later
"""memstate explain: what it reports about an address, and about the path to the address,
matches what the process did."""

import json
import os

from leak_lib import LeakTarget
from live import (PAGE, Folder, OrderedTarget, Skip, check, equal, map_rows, memstate, read_proc,
                  run, test)


TARGETS = os.path.join(os.environ["builddir"], "tests", "targets")


def ask(pid, *addresses, status=0):
    out = memstate("explain", "-p", pid, "-J", "--max-pause", "1m",
                   *[f"{a:x}" for a in addresses]).must_be(status).out
    return [json.loads(line) for line in out.decode().splitlines()]


def number(text):
    return int(text, 16)


def live_blocks(pid):
    """Return the address and size of each live block, from a snapshot."""
    with Folder() as folder:
        path = os.path.join(folder, "snapshot")
        memstate("leaks", "-p", pid, "--max-pause", "1m", "--snapshot", path).must_be(0)
        with open(path, "rb") as f:
            data = f.read()
    numbers, value, shift = [], 0, 0
    for byte in data[data.index(b"\n\n") + 2:]:
        value |= (byte & 0x7f) << shift
        shift += 7
        if not byte & 0x80:
            numbers.append(value)
            value, shift = 0, 0
    blocks, end = [], 0
    for gap, size in zip(numbers[::2], numbers[1::2]):
        blocks.append((end + gap, size))
        end += gap + size
    return blocks


@test
def a_kept_block_is_reached_from_the_variable_that_keeps_it():
    with LeakTarget("list", 50) as target:
        first = target.word(target.truth["kept"])
        answer = ask(target.pid, first)[0]
        block = answer["block"]
        equal((number(block["addr"]), block["block_bytes"], block["state"]), (first, 40, "live"),
              "block")
        equal(answer["is_reachable"], True, "reachable")
        equal(answer["root"]["kind"], "memory", "root")
        equal(number(answer["root"]["addr"]), target.truth["kept"], "address of the root")
        check(answer["root"]["mapping"]["name"].endswith("leak_target") or
              answer["root"]["mapping"]["name"] == "", answer["root"])
        equal((answer["page"], answer["mapping"]["name"]), ("resident", "[heap]"), "page")
        if answer["root"]["symbol"]:
            check("kept" in answer["root"]["symbol"], answer["root"]["symbol"])


@test
def a_path_shows_each_pointer_of_the_chain():
    with LeakTarget("list", 50) as target:
        chain = [target.word(target.truth["kept"])]
        while target.word(chain[-1]):
            chain.append(target.word(chain[-1]))
        equal(len(chain), 50, "nodes")
        for length in (2, 5, 16):
            answer = ask(target.pid, chain[length - 1] + 17)[0]
            equal(answer["block"]["offset_bytes"], 17, "offset")
            equal(answer["step_count"], length, "steps")
            equal([number(step["block"]) for step in answer["steps"]], chain[:length], "blocks")
            for step in answer["steps"]:
                equal(target.word(number(step["place"])), number(step["word"]), "word on the path")
        answer = ask(target.pid, chain[-1])[0]
        equal(answer["step_count"], 50, "steps")
        shown = [step["step"] for step in answer["steps"]]
        equal((shown[0], shown[-1]), (0, 49), "first and last step")
        text = memstate("explain", "-p", target.pid, "--max-pause", "1m",
                        hex(chain[4])).must_be(0).out.decode()
        for node in chain[:5]:
            check(f"{node:x}" in text, text)


@test
def a_leaked_block_is_unreachable():
    with LeakTarget("list", 10) as target:
        out = memstate("leaks", "-p", target.pid, "-J", "--max-pause", "1m").must_be(0).out
        leaked = number(json.loads(out)["leaked"][0]["example_addr"])
        for address in (leaked, target.word(leaked)):  # the second block is leaked indirectly
            answer = ask(target.pid, address)[0]
            equal((answer["is_reachable"], answer["block"]["state"]), (False, "live"), "answer")


@test
def roots_are_named_by_their_kind_and_thread():
    with LeakTarget("register", 0) as target:
        (addr, _), = live_blocks(target.pid)
        root = ask(target.pid, addr)[0]["root"]
        equal((root["kind"], root["tid"]), ("register", target.pid), "root")
    with LeakTarget("tls", 1) as target:
        (addr, _), = live_blocks(target.pid)
        root = ask(target.pid, addr)[0]["root"]
        equal((root["kind"], root["tid"]), ("tls", target.pid), "root")
        equal(target.word(number(root["addr"])), addr, "word at the root")
    with LeakTarget("stacks", 1) as target:
        tids = {int(tid) for tid in os.listdir(f"/proc/{target.pid}/task")} - {target.pid}
        found = [answer["root"] for answer in
                 ask(target.pid, *[addr for addr, size in live_blocks(target.pid) if size == 40])]
        equal([(root["kind"], root["tid"]) for root in found], [("stack", tids.pop())], "roots")
        check(found[0]["offset_bytes"] >= -128, "below the stack pointer")


@test
def other_memory_has_its_mapping_and_page_state():
    with LeakTarget("large", 2) as target:
        maps = map_rows(target.pid)
        stack = next(m for m in maps if m["name"] == "[stack]")
        answer = ask(target.pid, number(stack["end_addr"]) - 8)[0]
        equal((answer["mapping"]["name"], answer["page"], answer["block"]),
              ("[stack]", "resident", None), "stack")
        # the kernel zeroes blocks with their own mapping, so most of their pages
        # were never touched
        big = target.word(target.truth["kept"])
        answer = ask(target.pid, big)[0]
        equal((answer["page"], answer["is_reachable"]), ("absent", True), "middle of the block")
        check("its own mapping" in answer["block"]["part"], answer["block"])
        equal(answer["block"]["arena"], None, "arena")
        # program text is resident or not, but never heap
        code = next(m for m in maps if m["perms"] == "r-xp")
        answer = ask(target.pid, number(code["start_addr"]))[0]
        equal((answer["mapping"]["start_addr"][2:], answer["block"], answer["is_reachable"]),
              (code["start_addr"], None, None), "code")


@test
def free_blocks_and_allocator_metadata_are_identified():
    with LeakTarget("freed", 50) as target:
        freed = [target.word(target.truth["kept"] + 8 * i) for i in range(50)]
        states = [answer["block"]["state"] for answer in ask(target.pid, *freed)]
        equal((set(states), states.count("cached")), ({"cached", "free"}, 7), "states")
        answer = ask(target.pid, freed[0] - 8)[0]
        equal((answer["block"], answer["problem"]), (None, None), "a block's head")
        top = next(m for m in map_rows(target.pid) if m["name"] == "[heap]")
        answer = ask(target.pid, number(top["end_addr"]) - PAGE)[0]
        equal(answer["block"]["state"], "free", "top")
        check("top" in answer["block"]["part"], answer["block"])


@test
def the_free_list_of_a_block_is_identified():
    with OrderedTarget([os.path.join(TARGETS, "bins_target")]) as target:
        unsorted = ("free, in the unsorted bin", None)
        lists = {
            "cache48": ("free, in a thread's cache", 48),
            "cache208": ("free, in a thread's cache", 208),
            "small": ("free, in a small bin", 208),
            "large": ("free, in a large bin", None),
            "unsorted": unsorted,
            "fast": ("free, in a fastbin", 48) if target.truth["fast_bytes"] else unsorted,
        }
        answers = ask(target.pid, *[target.truth[key] for key in lists])
        for key, answer in zip(lists, answers):
            block = answer["block"]
            equal((block["part"], block["list_chunk_bytes"]), lists[key], key)
        text = memstate("explain", "-p", target.pid, "--max-pause", "1m",
                        hex(target.truth["small"])).must_be(0).out.decode()
        check("free, in a small bin, of chunks of 208 bytes" in text, text)


@test
def a_lazily_freed_page_is_reported_as_such():
    with LeakTarget("lazy", 2) as target:
        for m in map_rows(target.pid):
            if 0 < m["lazyfree_bytes"] == m["rss_bytes"]:
                answer = ask(target.pid, number(m["start_addr"]))[0]
                equal((answer["lazyfree"], answer["page"]), ("yes", "resident"), "page")
                return
    raise Skip("the kernel has not lazily freed the whole mapping")


@test
def a_bad_address_is_reported_in_one_line():
    with LeakTarget("singles", 2) as target:
        memstate("explain", target.pid, "--max-pause", "1m", hex(target.truth["kept"])).must_be(0)
        for bad in ("", "0x", "xyz", "-1", "12 34", "1ffffffffffffffff"):
            result = memstate("explain", "-p", target.pid, bad).must_be(2)
            equal(result.out, b"", "output")
        memstate("explain", "-p", target.pid).must_be(2)
        memstate("explain", "1234").must_be(2)
        for addr in (0, 0x1000, 2**64 - 1, 2**47):
            result = memstate("explain", "-p", target.pid, "--max-pause", "1m", f"{addr:#x}")
            result.must_be(1)
            equal((result.out, len(result.errors())), (b"", 1), f"{addr:#x}: {result.err}")
            check(f"{addr:x}".encode() in result.err, result.err)
        kept = target.truth["kept"]
        equal(len(ask(target.pid, 0x1000, kept, status=3)), 1, "answers")
        result = memstate("explain", "-p", f"{target.pid},{os.getpid()}", hex(kept)).must_be(2)
        equal(result.out, b"", "output")


@test
def an_unreadable_heap_still_shows_the_mapping():
    with LeakTarget("singles", 2) as target:
        result = memstate("explain", "-p", target.pid, "-J", "--max-pause", "1us",
                          hex(target.truth["kept"])).must_be(3)
        answer = json.loads(result.out)
        equal((answer["block"], answer["is_reachable"]), (None, None), "block")
        check(answer["problem"], "no reason is given")
        check(b"--max-pause" in result.err, result.err)
        check(b"State" in read_proc(target.pid, "status"), "the target is gone")


@test
def an_aligned_mapped_block_has_its_address_and_usable_size():
    with OrderedTarget([os.path.join(TARGETS, "aligned_target")]) as target:
        truth = {(target.truth[f"addr_{i}"], target.truth[f"size_{i}"])
                 for i in range(target.truth["blocks"])}
        large = {block for block in live_blocks(target.pid) if block[1] >= 256 * 1024}
        equal(large, truth, "large blocks")
        for addr, size in sorted(truth):
            for place in (addr, addr + size - 1):
                block = ask(target.pid, place)[0]["block"]
                equal((number(block["addr"]), block["block_bytes"]), (addr, size),
                      f"block at {place:x}")


run()
