# SPDX-License-Identifier: GPL-2.0-or-later
"""Call stacks through files whose segments have gaps, and through code
without unwind tables."""

import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

from live import MEMSTATE, TIMEOUT, Skip, check, equal, memstate, need_built_with, run, test
from stacks_lib import CUT, StackFile

TARGETS = os.path.join(os.environ["builddir"], "tests", "targets")
JIT = os.path.join(TARGETS, "jit_target")
LIBRARY = os.path.join(os.path.dirname(os.path.realpath(MEMSTATE)), "src", "agent",
                       "libmemstate-count-stacks.so")

if not os.path.exists(LIBRARY):
    print("built without the counting libraries", file=sys.stderr)
    sys.exit(77)


class Recorded:
    def __init__(self, *command, options=("--stacks",)):
        result = memstate("count", "--json", *options, "--", *command, timeout=2 * TIMEOUT)
        pid = None
        try:
            equal(result.status, 0, f"{command}: {result.err}")
            self.document = json.loads(result.out[result.out.index(b'{"memstate"'):])
            pid = self.document["pid"]
        finally:
            for path in glob.glob(f"/tmp/perf-{pid}.map*") + glob.glob(f"/tmp/jit-{pid}.dump"):
                os.unlink(path)
        self.functions = {f["function"]: f for f in self.document["functions"]}

    def calls(self, name, what="total"):
        return self.functions.get(name, {}).get(f"{what}_allocations", 0)

    def callers(self, name):
        return {caller["function"] for caller in self.functions[name]["callers"]}


@test
def code_in_a_distant_segment_has_complete_stacks():
    need_built_with("LIBELF")
    for options in (("--stacks",), ("--live",)):
        own = Recorded(os.path.join(TARGETS, "holes_target"), "100", options=options)
        equal((own.calls("far_alloc", "self"), own.calls("near_alloc", "self")), (100, 200), "calls")
        equal(own.document["cut_allocations"], 0, "cut")
        equal((own.callers("far_alloc"), own.callers("near_alloc")), ({"main"}, {"main"}), "callers")


@test
def code_without_tables_is_unwound_by_frame_pointer_and_marked():
    need_built_with("LIBELF")
    own = Recorded(JIT, "pointer", "nothing", "50")
    equal(own.callers("leaf"), {"[unknown]"}, "caller of leaf")
    equal(own.callers("[unknown]"), {"main"}, "caller of the generated code")
    equal((own.calls("leaf"), own.calls("main")), (50, 50), "calls")
    equal((own.document["cut_allocations"], own.document["frame_pointer_allocations"]), (0, 50), "marked")


@test
def without_a_frame_pointer_the_stack_is_cut():
    need_built_with("LIBELF")
    for frame in ("none", "stray"):
        own = Recorded(JIT, frame, "nothing", "50")
        equal((own.calls("leaf"), own.document["cut_allocations"]), (50, 50), frame)
        equal(own.document["frame_pointer_allocations"], 0, f"{frame}: marked")
        equal(own.callers("[unknown]"), {"[cut]"}, frame)


@test
def names_come_from_perf_map_files():
    need_built_with("LIBELF")
    for file, name in (("map", "JS:*made /x.js:1"), ("dump", "dumped"), ("garbage", "JS:*made /x.js:1")):
        own = Recorded(JIT, "pointer", file, "20")
        equal((own.callers("leaf"), own.calls("[unknown]")), ({name}, 0), file)
    equal(Recorded(JIT, "pointer", "link", "20").callers("leaf"), {"[unknown]"}, "a symlink")


@test
def node_has_complete_stacks_and_function_names():
    need_built_with("LIBELF")
    node = shutil.which("node")
    if not node:
        raise Skip("node is not installed")
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "allocate.js")
        with open(script, "w") as file:
            file.write("function grow(n) { const a = []; for (let i = 0; i < n; i++)"
                       " a.push(Buffer.allocUnsafeSlow(2000 + i)); return a.length; }\n"
                       "let t = 0; for (let k = 0; k < 200; k++) t += grow(50); console.log(t);\n")
        own = Recorded(node, "--perf-basic-prof", script)
        total, cut = own.document["totals"]["allocations"], own.document["cut_allocations"]
        check(cut * 100 < total, f"{cut} of {total} stacks are cut")
        named = sum(f["total_allocations"] for n, f in own.functions.items() if "grow" in n and "JS:" in n)
        check(named >= 5000, f"{named} allocations below grow()")
        check(own.document["frame_pointer_allocations"] >= named, "too few stacks are marked")
        # check each cached stack against a new walk
        env = dict(os.environ, MEMSTATE_COUNT=folder, MEMSTATE_STACKS="live,check", LD_PRELOAD=LIBRARY)
        subprocess.run([node, script], env=env, stdout=subprocess.DEVNULL, check=True,
                       timeout=2 * TIMEOUT)
        files = [StackFile(path) for path in glob.glob(os.path.join(folder, "*.stacks"))]
        largest = max(files, key=lambda f: f.checked_count)
        check(largest.checked_count > 10000, f"{largest.checked_count} stacks checked")
        equal(largest.mismatch_count, 0, "cached stacks that differ from a new walk")
        check(any(n.is_by_frame for n in largest.nodes.values() if n.pc != CUT), "no frame is marked")


run()
