# SPDX-License-Identifier: GPL-2.0-or-later
"""Stacks recorded inside a counted program, against programs that report what they did.

The library is preloaded as memstate does it, and stacks_lib.py reads its file, so that no
memstate code that reads or shows stacks is involved.
"""

import bisect
import glob
import math
import os
import re
import resource
import shutil
import subprocess
import sys

from live import IS_ROOT, MEMSTATE, TIMEOUT, Folder, Skip, check, equal, run, test
from stacks_lib import CUT, StackFile

BUILT = os.environ["builddir"]
TARGET = os.path.join(BUILT, "tests", "targets", "stack_target")
ODD = os.path.join(BUILT, "tests", "targets", "stack_odd")
LIBRARY = os.path.join(os.path.dirname(os.path.realpath(MEMSTATE)), "src", "agent",
                       "libmemstate-count-stacks.so")
# Factor for the amount of work: make stress-stacks COUNT=100.
COUNT = int(os.environ.get("COUNT", "1"))

if not os.path.exists(LIBRARY):
    print("built without the counting libraries", file=sys.stderr)
    sys.exit(77)
if not shutil.which("nm"):
    print("nm is not installed: functions have no names", file=sys.stderr)
    sys.exit(77)


class Symbols:
    """The functions of a file, by address."""

    cache = {}

    def __init__(self, path):
        self.addresses, self.names = [], []
        if not os.path.exists(path):
            return
        out = subprocess.run(["nm", "-n", "--defined-only", path], capture_output=True, text=True,
                             check=False).stdout
        for line in out.splitlines():
            words = line.split()
            if len(words) == 3 and words[1] in "tTwW":
                self.addresses.append(int(words[0], 16))
                self.names.append(words[2].split(".")[0])

    def name(self, address):
        at = bisect.bisect_right(self.addresses, address) - 1
        return self.names[at] if at >= 0 else None

    @classmethod
    def of(cls, path):
        if path not in cls.cache:
            cls.cache[path] = cls(path)
        return cls.cache[path]


class Recorded:
    """One run: `truth` is what the target reported, `files` are the stack
    files by pid."""

    def __init__(self, *command, mode="live,check", status=0, environment=None, limits=None):
        with Folder() as folder:
            env = dict(os.environ, MEMSTATE_COUNT=folder, MEMSTATE_STACKS=mode, LD_PRELOAD=LIBRARY)
            env.update(environment or {})
            env.pop("MALLOC_PERTURB_", None)
            self.result = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True,
                                         check=False, timeout=TIMEOUT, preexec_fn=limits)
            equal(self.result.returncode, status, f"{command}: status")
            self.truth = {words[1]: (int(words[2]), int(words[3])) for words in
                          re.finditer(r"^(\S+) (\d+) (\d+)$", self.result.stdout, re.M)}
            self.all = [StackFile(path) for path in sorted(glob.glob(os.path.join(folder, "*.stacks")))]
            self.files = {file.pid: file for file in self.all}
        for file in self.all:
            equal(file.mismatch_count, 0, "cached stacks that differ from a new walk")

    @property
    def own(self):
        equal(len(self.all), 1, "programs")
        return self.all[0]


def names(file, node):
    found = []
    for frame in file.frames(node):
        module, address = file.place(frame)
        if frame.pc == CUT:
            found.append("[cut]")
        else:
            found.append(Symbols.of(module.path).name(address) if module else None)
    return found


def sums(file, what):
    """Return the sums below each function, wherever it is in a stack."""
    found = {}
    for node in file.nodes.values():
        if node.calls or node.live_blocks or node.peak:
            for name in set(names(file, node)):
                found[name] = found.get(name, 0) + getattr(node, what)
    return found


def check_truth(recorded, file=None, skip=()):
    file = file or recorded.own
    calls, sizes = sums(file, "calls"), sums(file, "bytes")
    for name, truth in recorded.truth.items():
        if name not in skip and not name.startswith(("live_", "peak_", "child")):
            name = "[cut]" if name == "cut" else name
            equal((calls.get(name, 0), sizes.get(name, 0)), truth, name)
    equal(file.lost_count, 0, "lost")


def check_live(recorded, file):
    blocks, sizes = sums(file, "live_blocks"), sums(file, "live_bytes")
    for name, truth in recorded.truth.items():
        if name.startswith("live_"):
            function = name.removeprefix("live_")
            equal((blocks.get(function, 0), sizes.get(function, 0)), truth, name)


def is_whole(file, skip=()):
    """Check that each stack ends where its thread started."""
    for node in file.nodes.values():
        stack = names(file, node) if node.calls else []
        if stack and not any(name in stack for name in skip):
            check(stack[-1] not in ("[cut]",), f"{stack} ends in {stack[-1]}")


@test
def calls_and_bytes_of_each_stack_are_exact_through_frames_of_all_kinds():
    for mode in ("", "live", "live,check"):
        recorded = Recorded(TARGET, "known", "400", mode=mode)
        own = recorded.own
        check_truth(recorded)
        is_whole(own)
        calls = sums(own, "calls")
        for name in ("through_variable", "through_aligned", "through_large"):
            equal(calls[name], 800, name)
        if mode:
            check_live(recorded, own)
            equal(own.live_bytes, own.total("live_bytes"), "live bytes")
        temporary = sums(own, "temporary")
        equal(temporary["leaf_two"], 1200, "temporary blocks of leaf_two")
        equal(temporary.get("leaf_one", 0), 0, "temporary blocks of leaf_one")


@test
def the_peak_of_each_stack_is_its_share_of_the_total_peak():
    own = (recorded := Recorded(TARGET, "peak")).own
    peaks = sums(own, "peak")
    equal(own.total("peak"), own.peak_bytes, "peaks of all stacks")
    for name in ("leaf_one", "leaf_two"):
        equal(peaks[name], recorded.truth[f"peak_{name}"][1], name)


@test
def threads_that_come_and_go_are_counted_exactly_and_leave_little_behind():
    recorded = Recorded(TARGET, "threads", str(1000 * COUNT), mode="live")
    check_truth(recorded)
    check(len(recorded.own.nodes) < 3000, f"{len(recorded.own.nodes)} nodes")


@test
def frees_by_another_thread_count_where_allocated():
    recorded = Recorded(TARGET, "hand-over", str(5000 * COUNT), mode="live")
    check_truth(recorded)
    check_live(recorded, recorded.own)


@test
def stacks_continue_from_a_handler_into_the_interrupted_code():
    recorded = Recorded(TARGET, "signals", "50")
    check_truth(recorded)
    is_whole(recorded.own)


@test
def a_handler_that_allocates_during_a_stack_walk_does_no_harm():
    # the handler may run inside malloc(), so the program itself must
    # not allocate elsewhere
    check_truth(Recorded(TARGET, "storm", str(500 * COUNT), mode="live"))


@test
def a_child_has_its_own_file_with_inherited_blocks():
    for mode in ("", "live"):
        recorded = Recorded(TARGET, "fork", "500", mode=mode)
        equal(len(recorded.all), 2, "programs")
        child = recorded.files[recorded.truth["child"][0]]
        parent = next(file for file in recorded.all if file is not child)
        calls, childs = sums(parent, "calls"), sums(child, "calls")
        equal((calls["leaf_one"], calls["leaf_aligned"], calls.get("leaf_two", 0)), (10, 500, 0), "parent")
        equal((childs.get("leaf_one", 0), childs["leaf_two"], childs.get("leaf_aligned", 0)), (0, 500, 0),
              "child")
        if mode:
            equal(sums(child, "live_blocks")["leaf_one"], 9, "blocks of the child")
            equal(sums(child, "live_bytes")["leaf_one"], 9000, "bytes of the child")
            equal(sums(parent, "live_blocks")["leaf_one"], 10, "blocks of the parent")


@test
def threads_of_a_child_do_not_share_state_with_its_first_thread():
    recorded = Recorded(ODD, "fork-threads", "20000")
    child = recorded.files[recorded.truth["child"][0]]
    check_truth(recorded, child)
    is_whole(child)


@test
def a_handler_that_allocates_while_a_childs_file_is_created_does_not_hang():
    for _ in range(3):
        Recorded(ODD, "fork-handler", "500", mode="live")


@test
def a_child_returning_from_a_handler_into_recording_code_is_not_harmed():
    Recorded(ODD, "handler-fork", "20", mode="check")


@test
def a_child_with_a_higher_limit_stays_within_its_parents_reservation():
    def limit():
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (32 << 20, hard))

    recorded = Recorded(ODD, "fork-grow", "60000", mode="", limits=limit)
    child = recorded.files[recorded.truth["child"][0]]
    check(child.lost_count > 0, "nothing was lost")
    equal(child.total("calls") + child.lost_count, 60000, "calls")


@test
def an_oversized_request_does_not_hide_later_calls():
    check_truth(Recorded(ODD, "too-much", "100", mode="live"))
    number = 100000
    recorded = Recorded(ODD, "too-much", str(number), mode="sample=1024")
    found = sums(recorded.own, "bytes")["allocate"] / (100 * number << recorded.own.scale_bits)
    check(0.8 < found < 1.25, f"{found} of the requested bytes")


@test
def callers_at_nearby_addresses_are_distinguished():
    # at level N the program requests N bytes
    for mode in ("", "live", "check"):
        own = Recorded(ODD, "sites", "1000", mode=mode).own
        equal(sums(own, "calls")["call_from"], 4000, "calls")
        for node in own.nodes.values():
            levels = names(own, node).count("call_from") if node.calls else 0
            if levels:
                equal(node.bytes, node.calls * levels, f"bytes of {levels} levels")


@test
def a_thread_that_first_requests_zero_bytes_is_recorded():
    for mode in ("", "live"):
        check_truth(Recorded(ODD, "nothing", "50", mode=mode))


@test
def posix_spawn_and_vfork_leave_the_parents_counts_alone():
    recorded = Recorded(TARGET, "spawn", "5", mode="live")
    check_truth(recorded, next(file for file in recorded.all if "leaf_one" in sums(file, "calls")))


@test
def stacks_of_contexts_end_at_the_context_start():
    recorded = Recorded(TARGET, "contexts", "50")
    check_truth(recorded)
    is_whole(recorded.own)


@test
def a_stack_that_is_too_deep_is_cut_and_counted():
    recorded = Recorded(TARGET, "deep", "3")
    check_truth(recorded)
    check(sums(recorded.own, "calls")["[cut]"] >= 3, "cut")
    check(len(recorded.own.nodes) < 10000, f"{len(recorded.own.nodes)} nodes")


@test
def a_stack_through_code_without_tables_is_cut_and_counted():
    recorded = Recorded(TARGET, "made-code", "500")
    check_truth(recorded)
    equal(sums(recorded.own, "calls").get("run_made_code", 0), 0, "calls beyond the cut")


@test
def errno_is_unchanged_if_the_folder_of_a_module_is_gone():
    plugin = os.path.abspath(os.path.join(BUILT, "tests", "targets", "stack_plugin.so"))
    check_truth(Recorded(ODD, "gone", environment={"STACK_PLUGIN": plugin}))


@test
def modules_loaded_at_the_same_address_are_distinguished():
    plugins = {"STACK_PLUGIN": os.path.abspath(os.path.join(BUILT, "tests", "targets", "stack_plugin.so")),
               "STACK_PLUGIN_OTHER": os.path.abspath(os.path.join(BUILT, "tests", "targets",
                                                                  "stack_plugin_other.so"))}
    recorded = Recorded(TARGET, "modules", "40", environment=plugins)
    own = recorded.own
    check_truth(recorded)
    is_whole(own)
    found = {}
    for node in own.nodes.values():
        module = own.place(node)[0]
        if module and module.path in plugins.values():
            below = sum(n.calls for n in own.nodes.values() if node in own.frames(n))
            found[module.path] = found.get(module.path, 0) + below
    equal(found, {path: 20 for path in plugins.values()}, "stacks through each")


@test
def new_and_delete_are_recorded_with_complete_constructor_stacks():
    program = os.path.join(BUILT, "tests", "targets", "count_cxx")
    allocators = glob.glob("/usr/lib/*/libjemalloc.so.2") + glob.glob("/usr/lib64/libjemalloc.so.2")
    if not os.path.exists(program):
        raise Skip("no C++ compiler")
    preloads = [LIBRARY] + [f"{LIBRARY.replace('stacks.so', 'stacks-new.so')} {path}" for path in allocators]
    for preload in preloads:
        own = Recorded(program, environment={"LD_PRELOAD": preload}).own
        calls = sums(own, "calls")
        equal(calls["main"], 401, f"{preload}: calls of new")
        equal(sums(own, "live_blocks")["main"], 1, f"{preload}: blocks")
        equal(calls.get("[cut]", 0), 0, f"{preload}: cut")


@test
def counts_are_kept_when_the_program_is_killed():
    check_truth(Recorded(TARGET, "killed", "1000", mode="live", status=-9))


@test
def allocations_without_room_are_counted_as_lost():
    size = 4096 + (1 << 20) + 64 * 4500

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    recorded = Recorded(TARGET, "many", "3000", mode="live", limits=limit)
    own = recorded.own
    check(own.lost_count > 0, "nothing was lost")
    equal(sums(own, "calls")["leaf_one"] + own.lost_count, 3000, "recorded and lost calls")


@test
def a_full_disk_and_little_address_space_do_no_harm():
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (1 << 28, 1 << 28))

    recorded = Recorded(TARGET, "known", "300", mode="live", limits=limit)
    check_truth(recorded)
    if not IS_ROOT or not shutil.which("mount"):
        return
    with Folder() as folder:
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1M", "none", folder], check=False,
                          capture_output=True).returncode != 0:
            return
        try:
            env = dict(os.environ, MEMSTATE_COUNT=folder, MEMSTATE_STACKS="live", LD_PRELOAD=LIBRARY)
            result = subprocess.run([TARGET, "many", "20000"], env=env, stdout=subprocess.PIPE, text=True,
                                    check=False, timeout=TIMEOUT)
            equal(result.returncode, 0, "status")
            own = StackFile(glob.glob(os.path.join(folder, "*.stacks"))[0])
            check(own.lost_count > 0, "nothing was lost")
            equal(own.total("calls") + own.lost_count, 20000, "recorded and lost calls")
        finally:
            subprocess.run(["umount", folder], check=False)


@test
def python_with_each_cached_stack_checked():
    python = "/usr/bin/python3"
    if not os.path.exists(python):
        raise Skip(f"{python} is not installed")
    code = ("import json\nt = json.dumps([{'n': str(i), 'v': list(range(20))} for i in range(100)])\n"
            f"for _ in range({4 * COUNT}):\n    json.loads(t)\n")
    own = Recorded(python, "-c", code, environment={"PYTHONMALLOC": "malloc"}).own
    calls = own.total("calls")
    check(calls > 10000 * COUNT, f"{calls} allocations")
    equal(own.checked_count, calls, "stacks that were checked")
    equal(own.total("peak"), own.peak_bytes, "peaks of all stacks")
    cut = sum(n.calls for n in own.nodes.values() if n.calls and list(own.frames(n))[-1].pc == CUT)
    equal(cut, 0, "cut")


@test
def libunwind_finds_the_same_frames():
    library = os.path.abspath(os.path.join(BUILT, "tests", "targets", "unwind_agree.so"))
    if not os.path.exists(library):
        raise Skip("built without libunwind")
    code = f"import json\nfor _ in range({10 * COUNT}):\n    json.loads('[' + '[1, {{}}, \"a\"],' * 100 + '0]')\n"
    commands = [(TARGET, "known", "200"), (TARGET, "many", str(500 * COUNT)),
                (os.path.join(BUILT, "tests", "targets", "count_cxx"),),
                (shutil.which("python3", path="/usr/bin"), "-c", code)]
    for command in commands:
        if not command[0] or not os.path.exists(command[0]):
            continue
        with Folder() as folder:
            path = os.path.join(folder, "agree")
            env = dict(os.environ, LD_PRELOAD=library, UNWIND_AGREE=path, PYTHONMALLOC="malloc")
            subprocess.run(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                           check=True, timeout=TIMEOUT)
            with open(path, encoding="ascii") as file:
                text = file.read()
        found = re.match(r"checked (\d+) differing (\d+)", text)
        check(int(found[1]) > 100, f"{command}: {text}")
        equal(int(found[2]), 0, f"{command}: stacks that differ: {text}")


@test
def estimates_are_unbiased_with_correct_intervals():
    runs, number, mean = (100 if COUNT > 1 else 10), 5000, 16384
    inside = total = expected = 0
    live = 0
    for _ in range(runs):
        recorded = Recorded(TARGET, "sizes", str(number), mode=f"live,sample={mean}")
        own = recorded.own
        scale = 1 << own.scale_bits
        truth = recorded.truth["leaf_one"]
        estimate = sums(own, "bytes").get("leaf_one", 0) / scale
        calls = sums(own, "calls").get("leaf_one", 0) / scale
        live += sums(own, "live_bytes").get("leaf_two", 0) / scale
        # variance of a sum of independent draws: a block of s bytes counts as s / p
        # with probability p
        sizes = [1 + i * 7919 % 3000 for i in range(number)]
        chances = [-math.expm1(-(s + 1) / mean) for s in sizes]
        deviation = math.sqrt(sum(s * s * (1 - p) / p for s, p in zip(sizes, chances)))
        inside += abs(estimate - truth[1]) < 1.96 * deviation
        total, expected = total + estimate - truth[1], expected + deviation ** 2
        check(abs(calls - truth[0]) < 6 * math.sqrt(sum((1 - p) / p for p in chances)), f"{calls} calls")
    # 95 % are expected; the bound fails one correct run in a million
    check(inside >= runs * 0.95 - 4.9 * math.sqrt(runs * 0.95 * 0.05) - 1.5,
          f"{inside} of {runs} runs were within their interval")
    check(abs(total) < 4.9 * math.sqrt(expected),
          f"off by {total}, standard deviation {math.sqrt(expected)}")
    others = recorded.truth["live_leaf_two"][1] * runs
    p = -math.expm1(-100001 / mean)
    check(abs(live - others) < 4.9 * math.sqrt(others * 100000 * (1 - p) / p) + 0.001 * others, f"{live} live")


run()
