#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# .ci/run counts a failed test as failed, whether or not it passes when it is run again,
# unless .ci/flaky lists it with a reason.
set -eu

: "${srcdir:?}"
cd "$srcdir"
if ! test -e .ci/stages.sh; then
	echo "not a git checkout: .ci is not in the release" >&2
	exit 77
fi
if ! command -v bash >/dev/null; then
	echo "bash is not installed" >&2
	exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export scratch

cat >"$scratch/tests.sh" <<'END'
set -uo pipefail
ci=$scratch
flaky=$scratch/flaky
. .ci/stages.sh
status=0

# log RESULT:TEST...: print what `make check` prints, with the end of test-suite.log.
log()
{
	local t result n
	for t in "$@"; do
		echo "${t%%:*}: ${t#*:}"
	done
	for t in "$@"; do
		result="${t%%:*}: ${t#*:}"
		case $result in
		PASS:*) ;;
		*) printf '%s\n%s\n\nFAIL: tests/unit/quoted_in_a_log is not a result\n' "${result%.*}" \
			"$(echo "${result%.*}" | sed 's/./=/g')" ;;
		esac
	done
	printf '%s\nTestsuite summary for memstate 1.0\n%s\n' ===== =====
	for result in PASS FAIL SKIP XFAIL XPASS ERROR; do
		n=0
		for t in "$@"; do
			test "${t%%:*}" != $result || n=$((n + 1))
		done
		echo "# $result:  $n"
	done
	printf '%s\n' =====
}

# passes_and_fails FILE: print the log, and fail if the log has a failed test.
prints()
{
	cat "$1"
	! grep -qE '^# (FAIL|XPASS|ERROR):  [1-9]' "$1"
}

# The stub of the make that runs failed tests again
make()
{
	echo "$*" >>"$scratch/calls"
	prints "$scratch/second"
}

# expect TITLE COUNTS PATTERN [ABSENT]: run the stage, and compare "PASSED FAILED SKIPPED"
# and the report.
expect()
{
	local title=$1 counts=$2 pattern=$3 absent=${4:-NEVER} dir=${dir:-build}
	passed=0 failed=0 skipped=0
	rm -f "$scratch"/stage.log* "$scratch/calls"
	suite stage "$dir" "${command[@]}" >"$scratch/report"
	if test "$passed $failed $skipped" != "$counts" ||
		! grep -qE -e "$pattern" "$scratch/report" || grep -qE -e "$absent" "$scratch/report"; then
		echo "$title: counted '$passed $failed $skipped', expected '$counts', with '$pattern':"
		sed 's/^/	/' "$scratch/report"
		status=1
	fi
}

command=(prints "$scratch/first")
: >"$flaky"

log PASS:tests/unit/test_a PASS:tests/live/b.py SKIP:tests/live/c.py >"$scratch/first"
log >"$scratch/second"
expect 'all pass' '2 0 1' '^passed: stage: 2 tests, 1 skipped'
test ! -e "$scratch/calls" || { echo 'passed tests were run again'; status=1; }

log PASS:tests/unit/test_a FAIL:tests/live/b.py SKIP:tests/live/c.py >"$scratch/first"
log FAIL:tests/live/b.py >"$scratch/second"
expect 'a broken test' '1 1 1' '^  broken: failed again: tests/live/b.py$' 'flaky'
grep -qxF -e '-C build -k check TESTS=tests/live/b.py ' "$scratch/calls" ||
	{ echo 'the failed test was not run alone'; status=1; }

log PASS:tests/live/b.py >"$scratch/second"
expect 'a flaky test stays failed' '1 1 1' '^  flaky: passed when run again: tests/live/b.py$' '^passed: stage'
grep -q '^FAILED: stage: 1 of 3 tests' "$scratch/report" || { echo 'a flaky test is reported as passed'; status=1; }

echo 'tests/live/b.py' >"$flaky"
expect 'a listed test without a reason' '1 1 1' '^  flaky: ' '^passed: stage'
echo '# tests/live/b.py the reason' >"$flaky"
expect 'a comment in the list' '1 1 1' '^  flaky: ' '^passed: stage'
echo 'tests/live/b.py the clock of the guest stops' >"$flaky"
expect 'a listed test that passes' '2 0 1' '^  known to be flaky, passed when run again: tests/live/b.py$' '^FAILED'
log FAIL:tests/live/b.py >"$scratch/second"
expect 'a listed test that fails again' '1 1 1' '^  broken: failed again: tests/live/b.py$' '^passed: stage'
log >"$scratch/second"
expect 'a listed test that was not run again' '1 1 1' '^  broken: ' '^passed: stage'

log PASS:tests/unit/test_a FAIL:tests/live/b.py ERROR:tests/live/d.py XPASS:tests/live/e.py >"$scratch/first"
log PASS:tests/live/b.py PASS:tests/live/d.py FAIL:tests/live/e.py >"$scratch/second"
expect 'one of each kind' '2 2 0' '^  flaky: passed when run again: tests/live/d.py$'
test "$(grep -c '^  \(flaky\|broken\|known\)' "$scratch/report")" = 3 ||
	{ echo 'a failed test is not classified'; cat "$scratch/report"; status=1; }

# With "-" as its folder, the whole stage is run again.
log PASS:tests/unit/test_a FAIL:tests/unit/test_b >"$scratch/first"
twice()
{
	if test -e "$scratch/once"; then
		log PASS:tests/unit/test_a PASS:tests/unit/test_b
	else
		: >"$scratch/once"
		prints "$scratch/first"
	fi
}
: >"$flaky"
command=(twice)
dir=- expect 'a flaky test of a whole stage' '1 1 0' '^  flaky: passed when run again: tests/unit/test_b$' '^passed: stage'
test ! -e "$scratch/calls" || { echo 'make was called for a whole stage'; status=1; }

# Without any result, or with an error after the tests, the command itself has failed.
command=(false)
expect 'a build that fails' '0 1 0' '^FAILED: stage: 1 of 1 tests'
command=(true)
expect 'a build that runs no test' '0 1 0' '^FAILED: stage: 1 of 1 tests'
fails_after()
{
	log PASS:tests/unit/test_a
	return 1
}
command=(fails_after)
expect 'an error after the tests' '1 1 0' '^FAILED: stage: 1 of 2 tests'

# The list of flaky tests
check()
{
	printf '%s\n' "$1" >"$flaky"
	check_flaky_list "$flaky" >"$scratch/report" && result=accepted || result=refused
	test $result = "$2" || { echo "list '$1': $result, expected $2"; status=1; }
}
check '' accepted
check '# only a comment' accepted
check 'tests/lint/check-ci.sh its reason' accepted
check 'tests/unit/base/test_text its reason' accepted
check 'tests/lint/check-ci.sh' refused
check 'tests/live/no_such_test.py its reason' refused

exit $status
END
status=0
bash "$scratch/tests.sh" || status=1
bash -c '. .ci/stages.sh && check_flaky_list .ci/flaky' || status=1
exit $status
