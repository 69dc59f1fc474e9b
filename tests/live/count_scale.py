# SPDX-License-Identifier: GPL-2.0-or-later
"""memstate count --scale: the exponents of programs that grow in a known way."""

import json
import os
import sys

from live import MEMSTATE, Folder, check, equal, memstate, run, test

TARGET = os.path.join(os.environ["builddir"], "tests", "targets", "count_target")
LIBRARY = os.path.join(os.path.dirname(os.path.realpath(MEMSTATE)), "src", "agent",
                       "libmemstate-count.so")
SIZES = "20,40,80,160,320"

if not os.path.exists(LIBRARY):
    print("built without the counting libraries", file=sys.stderr)
    sys.exit(77)


def scaled(command, *options, sizes=SIZES, status=0):
    said = json.loads(memstate("count", "--json", "--scale", f"{command}", "--sizes", sizes,
                               *options).must_be(status).out)
    return {fit["figure"]: fit for fit in said["growth"]}, said["runs"]


def check_exponent(fit, wanted, within=0.05):
    equal(fit["outcome"], "fitted", f"{fit}")
    check(abs(fit["exponent"] - wanted) <= within, f"{fit}: not {wanted}")
    check(fit["low"] <= fit["exponent"] <= fit["high"], f"{fit}")


@test
def exponents_of_known_growth_are_found():
    growth, runs = scaled(f"'{TARGET}' pairs {{N}}")
    check_exponent(growth["allocation_calls"], 1)
    check_exponent(growth["requested_bytes"], 1)
    equal([(r["size"], r["allocation_calls"]) for r in runs],
          [(n, n) for n in (20, 40, 80, 160, 320)], "runs")
    growth, _ = scaled(f"'{TARGET}' pairs $(({{N}} * {{N}}))")
    check_exponent(growth["allocation_calls"], 2)
    # the start-up allocations are subtracted
    growth, _ = scaled(f"'{TARGET}' pairs $((1000 + {{N}} * {{N}}))")
    check_exponent(growth["allocation_calls"], 2)
    check(900 < growth["allocation_calls"]["constant"] < 1100, growth)


@test
def figures_that_do_not_grow_are_constant():
    growth, _ = scaled(f"'{TARGET}' functions {{N}}", "--max-exponent", "0")
    equal((growth["allocation_calls"]["outcome"], growth["allocation_calls"]["exponent"]),
          ("constant", 0), "allocations")
    text = memstate("count", "--scale", f"'{TARGET}' functions {{N}}", "--sizes", SIZES).must_be(0)
    check("allocations      O(1) " in text.out.decode(), text.out)


@test
def resident_memory_grows_with_touched_memory():
    growth, _ = scaled("python3 -c 'x = b\"1\" * ({N} << 20)'", "--runs", "3", sizes="8,16,32,64,128")
    check_exponent(growth["peak_rss_bytes"], 1, within=0.2)


@test
def an_exponent_above_the_limit_is_status_4():
    square = f"'{TARGET}' pairs $(({{N}} * {{N}}))"
    options = ["--scale", square, "--sizes", SIZES, "--max-exponent"]
    result = memstate("count", *options, "1.5").must_be(4)
    check(b"allocations: exponent 2.00" in result.err, result.err)
    check(result.out != b"", "no report")
    memstate("count", *options, "2.1").must_be(0)


@test
def an_unknown_exponent_is_status_125_with_a_limit():
    few = ["count", "--scale", f"'{TARGET}' pairs {{N}}", "--sizes", "10,20,40"]
    equal(b"unknown" in memstate(*few).must_be(0).out, True, "unknown is reported")
    check(b"4 sizes" in memstate(*few, "--max-exponent", "2").must_be(125).err, "no reason")
    hidden = ["count", "--scale", f"'{TARGET}' pairs $((1000000 + {{N}}))", "--sizes", SIZES]
    check(b"larger sizes" in memstate(*hidden, "--max-exponent", "2").must_be(125).err, "no reason")
    for command in (f"'{TARGET}' status {{N}}", "exit {N}", "echo {N}", "kill -9 $$ # {N}"):
        result = memstate("count", "--scale", command, "--sizes", SIZES).must_be(125)
        check(result.errors() and result.out == b"", f"{command}: {result.out} {result.err}")


@test
def nonsensical_arguments_are_refused():
    command = ["--scale", "echo {N}"]
    for wrong in ([*command], ["--sizes", SIZES, "--", "true"], ["--scale", "echo", "--sizes", SIZES],
                  [*command, "--sizes", "1,2,2,4"], [*command, "--sizes", "4,2,1"],
                  [*command, "--sizes", "a"], [*command, "--sizes", ""],
                  [*command, "--sizes", SIZES, "--check", "f"],
                  [*command, "--sizes", SIZES, "--max-exponent", "x"],
                  [*command, "--sizes", SIZES, "--", "true"], ["--max-exponent", "1", "--", "true"]):
        memstate("count", *wrong).must_be(2)


@test
def csv_has_a_row_for_each_run_of_each_size():
    with Folder() as folder:
        path = os.path.join(folder, "csv")
        with open(path, "wb") as f:
            f.write(memstate("count", "--csv", "--runs", 2, "--scale", f"'{TARGET}' pairs {{N}}",
                             "--sizes", "1,2,3,4").must_be(0).out)
        with open(path, encoding="utf-8") as f:
            rows = [line.split(",")[:4] for line in f]
    equal(rows[0], ["size", "run", "program", "allocation_calls"], "columns")
    equal([r[:2] + r[3:] for r in rows[1:]],
          [[str(n), str(r), str(n)] for n in (1, 2, 3, 4) for r in (1, 2)], "rows")


run()
