# SPDX-License-Identifier: GPL-2.0-or-later
"""Allocations by call stack, against programs that report how much
each stack allocated."""

import http.server
import os
import re
import shutil
import subprocess
import sys
import threading

from live import (IS_ROOT, MEMSTATE, TIMEOUT, Folder, Skip, check, equal, memstate, run,
                  test)
from pprof_lib import Profile

TARGETS = os.path.join(os.environ["builddir"], "tests", "targets")
TARGET = os.path.join(TARGETS, "profile_target")
PLUGIN = os.path.join(TARGETS, "profile_plugin.so")
LIBRARY = os.path.join(os.path.dirname(os.path.realpath(MEMSTATE)), "src", "agent",
                       "libmemstate-count-stacks.so")
SUMS = ["allocations", "bytes", "live_blocks", "live"]

with open(os.path.join(os.environ["builddir"], "config.h")) as _config:
    CONFIG = _config.read()


def has(what):
    return f"#define HAVE_{what} 1" in CONFIG


if not os.path.exists(LIBRARY):
    print("built without the counting libraries", file=sys.stderr)
    sys.exit(77)
if not has("PPROF") or not has("LIBELF"):
    print("built without protobuf-c or libelf: stacks cannot be saved, or have no names",
          file=sys.stderr)
    sys.exit(77)


class Recorded:
    """One run: `profile` as recorded; `stacks` and `lines` as the
    program reports them."""

    def __init__(self, folder, *command, options=("--live",), **popen):
        path = os.path.join(folder, "recorded")
        self.path = path
        self.result = memstate("count", *options, "--record", path, "--", *command, **popen)
        self.result.must_be(0)
        self.profile = Profile(path)
        self.stacks, self.lines = [], {}
        for line in self.result.errors():
            word = re.fullmatch(r"stack (.*) (\d+) (\d+) (\d+) (\d+)", line)
            if word:
                self.stacks.append((word[1].split(";"), [int(n) for n in word.groups()[1:]]))
            word = re.fullmatch(r"line (\w+) (\d+)", line)
            if word:
                self.lines[word[1]] = int(word[2])

    def check_stacks(self):
        check(self.stacks, "the program reports no stacks")
        for names, wanted in self.stacks:
            found, _ = self.profile.find(names)
            equal([found[name] for name in SUMS], wanted, ";".join(names))


def tool(*args):
    """Run another program, which must succeed, and return its output."""
    return subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True,
                          timeout=TIMEOUT).stdout.decode()


def build_id_of(path):
    """Return the build-id of the file, or None."""
    found = re.search(r"Build ID: (\w+)", tool("readelf", "-n", path))
    return found[1] if found else None


def needs(*programs):
    for program in programs:
        if not shutil.which(program):
            raise Skip(f"{program} is not installed")


def needs_lines():
    if not has("LIBDW"):
        raise Skip("built without libdw, so there are no inlined functions or lines")


def without_inlined(stacks):
    return [([name for name in names if name != "inner"], values) for names, values in stacks]


@test
def each_stack_has_its_allocations_to_the_call_and_to_the_byte():
    needs_lines()
    with Folder() as folder:
        recorded = Recorded(folder, TARGET, PLUGIN)
        recorded.check_stacks()
        equal(len(recorded.stacks), 6, "stacks that the program reports")


@test
def inlined_functions_and_lines_match_the_source():
    needs_lines()
    with Folder() as folder:
        recorded = Recorded(folder, TARGET)
        _, frames = recorded.profile.find(["main", "keep", "outer", "inner"])
        inner, outer, keep, _ = frames
        equal([f.line for f in (inner, outer)], [recorded.lines[n] for n in ("inner", "outer")],
              "lines")
        equal([f.is_inlined for f in (inner, outer, keep)], [True, False, False], "is inlined")
        check(all(f.file.endswith("tests/targets/profile_target.c") for f in frames),
              f"files of the source: {frames}")
        equal({os.path.basename(f.module) for f in frames}, {"profile_target"}, "module")


@test
def the_report_has_source_lines_or_offsets_without_names():
    needs_lines()
    needs("objcopy")
    with Folder() as folder:
        result = memstate("count", "--stacks", "--text", "--", TARGET).must_be(0)
        shown = result.out.decode()
        lines = dict(re.findall(r"^line (\w+) (\d+)$", shown + result.err.decode(), re.M))
        for name in ("inner", "outer"):
            check(re.search(rf" {name}  profile_target\.c:{lines[name]}$", shown, re.M),
                  f"{name}:{lines[name]} in {shown}")
        check("without names" not in shown, shown)
        bare = os.path.join(folder, "bare")
        tool("objcopy", "--strip-all", "--remove-section=.note.gnu.build-id", TARGET, bare)
        shown = memstate("count", "--stacks", "--text", "--top", 100, "--min", 0, "--",
                         bare).must_be(0).out.decode()
        offsets = {int(word, 16) for word in re.findall(r"  bare\+0x([0-9a-f]+)$", shown, re.M)}
        check(len(offsets) >= 4, f"call sites of different functions: {offsets} in {shown}")
        check(re.search(r"without names, most of it by \S+/bare:$", shown, re.M), shown)


@test
def the_profile_describes_what_was_counted():
    with Folder() as folder:
        recorded = Recorded(folder, TARGET)
        profile = recorded.profile
        check(profile.is_gzipped, "the profile is not gzipped")
        equal(profile.types, [("allocations", "count"), ("bytes", "bytes"), ("temporary", "count"),
                              ("live_blocks", "count"), ("live", "bytes"), ("peak", "bytes")],
              "types")
        check(f"command: {TARGET}" in profile.comments, f"the command: {profile.comments}")
        path = os.path.realpath(TARGET)
        equal(list(profile.mappings)[0], path, "the first mapping is the program")
        if shutil.which("readelf") and build_id_of(path):
            equal(profile.mappings[path], build_id_of(path), "build-id")
        report = memstate("count", "--json", "--", TARGET)
        counted = [int(n) for n in re.findall(r'"(?:allocation_calls|requested_bytes)":(\d+)',
                                              report.out.decode())][:2]
        equal([profile.sum("allocations"), profile.sum("bytes")], counted,
              "the same as without stacks")


@test
def cxx_names_match_the_source():
    program = os.path.join(TARGETS, "profile_cxx")
    if not os.path.exists(program) or not has("LIBIBERTY"):
        raise Skip("no C++ program was built, or names are not demangled")
    with Folder() as folder:
        Recorded(folder, program).check_stacks()


@test
def swift_names_are_demangled_by_the_swift_program():
    with Folder() as folder:
        without_lines = os.path.join(folder, "program")  # debug information has the C name
        needs("objcopy")
        tool("objcopy", "--strip-debug", TARGET, without_lines)
        swift = os.path.join(folder, "swift")
        with open(swift, "w") as f:
            f.write("#!/bin/sh\ntest \"$*\" = 'demangle --compact --simplified' &&\n"
                    "sed 's/^_[$]s4shop5shelfyyF$/shelf()/'\n")
        os.chmod(swift, 0o755)
        path = f"{folder}:{os.environ['PATH']}"
        recorded = Recorded(folder, without_lines, env=dict(os.environ, PATH=path))
        found, _ = recorded.profile.find(["main", "shelf()", "outer"])
        equal(found["bytes"], 50, "bytes")
        recorded = Recorded(folder, without_lines)
        if not shutil.which("swift"):
            found, _ = recorded.profile.find(["main", "_$s4shop5shelfyyF", "outer"])
            equal(found["bytes"], 50, "bytes without swift-demangle")


def stripped(folder, *options):
    path = os.path.join(folder, "stripped")
    tool("objcopy", "--strip-all", *options, TARGET, path)
    return path


@test
def a_stripped_program_has_the_names_of_its_debug_file():
    needs_lines()
    needs("objcopy", "readelf")
    with Folder() as folder:
        debug = os.path.join(folder, "beside")
        tool("objcopy", "--only-keep-debug", TARGET, debug)
        bare = Recorded(folder, stripped(folder))
        linked = Recorded(folder, stripped(folder, f"--add-gnu-debuglink={debug}"))
        linked.check_stacks()
        check(not bare.profile.find(["keep", "outer", "inner"])[1], "names without the debug file")
        equal(bare.profile.sum("bytes"), linked.profile.sum("bytes"), "all bytes are in both")
        build_id = build_id_of(TARGET)
        if not IS_ROOT or not build_id:
            return
        place = f"/usr/lib/debug/.build-id/{build_id[:2]}"
        was_there = os.path.isdir(place)
        os.makedirs(place, exist_ok=True)
        installed = os.path.join(place, f"{build_id[2:]}.debug")
        shutil.copy(debug, installed)
        try:
            Recorded(folder, stripped(folder)).check_stacks()
        finally:
            os.unlink(installed)
            if not was_there:
                os.rmdir(place)


@test
def a_program_that_was_replaced_has_no_names_rather_than_wrong_ones():
    with Folder() as folder:
        program, other = (shutil.copy(p, os.path.join(folder, name)) for p, name in
                          ((TARGET, "program"), (os.path.join(TARGETS, "count_target"), "other")))
        recorded = Recorded(folder, "sh", "-c", f"{program}; mv {other} {program}",
                            options=("-t", "--live"))
        stacks = [s for s in recorded.profile.samples if any(f.module == program for f in s[0])]
        check(stacks, "the program is not in any stack")
        equal({f.name for s, _ in stacks for f in s if f.module == program}, {""}, "names of its functions")


class Server(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        found = re.fullmatch(r"/buildid/(\w+)/debuginfo", self.path)
        is_there = found and found[1] == self.server.build_id
        self.send_response(200 if is_there else 404)
        self.send_header("Content-Length", str(len(self.server.debug) if is_there else 0))
        self.end_headers()
        if is_there:
            self.wfile.write(self.server.debug)

    def log_message(self, *_):
        pass


@test
def a_debuginfod_server_is_queried_by_build_id():
    needs_lines()
    needs("objcopy", "readelf")
    build_id = build_id_of(TARGET)
    libraries = tool("ldconfig", "-p") if shutil.which("ldconfig") else ""
    if not build_id or "libdebuginfod.so" not in libraries:
        raise Skip("no build-id, or built without libdebuginfod")
    with Folder() as folder:
        debug = os.path.join(folder, "debug")
        tool("objcopy", "--only-keep-debug", TARGET, debug)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
        server.build_id = build_id
        with open(debug, "rb") as f:
            server.debug = f.read()
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            environment = dict(os.environ, DEBUGINFOD_CACHE_PATH=os.path.join(folder, "cache"),
                               DEBUGINFOD_URLS=f"http://127.0.0.1:{server.server_port}/")
            for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
                environment.pop(name, None)
            Recorded(folder, stripped(folder), env=environment).check_stacks()
        finally:
            server.shutdown()
            thread.join()
            server.server_close()


@test
def pprof_reads_the_same_figures():
    needs("go")
    with Folder() as folder:
        recorded = Recorded(folder, TARGET)
        environment = dict(os.environ, PPROF_TMPDIR=folder, HOME=folder, GOFLAGS="-mod=mod")
        for name, unit in recorded.profile.types:
            r = subprocess.run(["go", "tool", "pprof", "-top", f"-sample_index={name}",
                                "-unit=B" if unit == "bytes" else "-unit=count", "-nodecount=100000",
                                "-nodefraction=0", recorded.path], capture_output=True, text=True,
                               env=environment, timeout=TIMEOUT)
            if "no such tool" in r.stderr:
                raise Skip("this Go has no pprof")
            equal(r.returncode, 0, f"status of pprof: {r.stderr}")
            total = re.search(r"of (\d+)\w* total", r.stdout)
            equal(int(total[1]) if total else 0, recorded.profile.sum(name), f"total of {name}")
            for line in r.stdout.splitlines():
                word = re.fullmatch(r" *(\d+)B? +[\d.]+% +[\d.]+% +(\d+)B? +[\d.]+%  (\S+)( \(inline\))?",
                                    line)
                if word and word[3] in ("inner", "outer", "keep", "drop", "main"):
                    totals = sum(values[name] for stack, values in recorded.profile.samples
                                 if any(f.name == word[3] for f in stack))
                    equal(int(word[2]), totals, f"{name} of {word[3]}")


@test
def a_recorded_profile_can_be_shown_and_recorded_again():
    with Folder() as folder:
        recorded = Recorded(folder, TARGET)
        again = os.path.join(folder, "again")
        report = memstate("count", "--replay", recorded.path, "--record", again)
        report.must_be(0)
        check(b"keep" in report.out, "the function is not in the report")
        key = lambda s: (s[0], sorted(s[1].items()))
        equal(sorted(map(key, Profile(again).samples)), sorted(map(key, recorded.profile.samples)),
              "samples")
        with open(recorded.path, "rb") as a, open(again, "rb") as b:
            check(a.read() != b"" and b.read() != b"", "a file is empty")


@test
def an_unwritable_file_is_reported_and_no_partial_file_remains():
    with Folder() as folder:
        path = os.path.join(folder, "no", "where")
        result = memstate("count", "--stacks", "--record", path, "--", TARGET)
        result.must_be(125)
        check(f"memstate: {path}: No such file or directory" in result.errors(), result.err)
        result = memstate("count", "--stacks", "--record", "/dev/full", "--", TARGET)
        result.must_be(125)
        check("memstate: /dev/full: No space left on device" in result.errors(), result.err)


@test
def the_exit_status_of_the_command_is_kept():
    with Folder() as folder:
        path = os.path.join(folder, "recorded")
        memstate("count", "--stacks", "--record", path, "--", "sh", "-c", "exit 7").must_be(7)
        check(os.path.exists(path), "no recording was written")


@test
def conflicting_options_are_refused():
    for options in (["--stacks", "--calls-only"], ["--record", "x"], ["--stacks", "--csv", "-i", "1"],
                    ["--sample", "0B"], ["--sample", "many"], ["--replay", "x"],
                    ["--stacks", "--runs", "2"]):
        result = memstate("count", *options, "--", "true")
        result.must_be(2)
        equal(result.out, b"", f"output of {options}")
    for options in (["--stacks"], ["--replay", "x", "--stacks"], ["--replay", "x", "--sample", "1K"]):
        memstate("count", *options).must_be(2)


@test
def a_file_that_is_not_a_profile_is_refused_by_name():
    with Folder() as folder:
        path = os.path.join(folder, "file")
        for content in (b"", b"\0", b"a;b\n", b"\x1f\x8b\x08", os.urandom(1000) + b"\0"):
            with open(path, "wb") as f:
                f.write(content)
            result = memstate("count", "--replay", path)
            result.must_be(1)
            equal(result.out, b"", "output")
            check(len(result.errors()) == 1 and result.errors()[0].startswith(f"memstate: {path}: "),
                  result.err)


run()
