# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# stages.sh - run the stages of .ci/run, and count their tests. .ci/run sets $ci, the
# folder of the logs; tests/lint/check-ci.sh runs these functions with made logs.

passed=0 failed=0 skipped=0
flaky=${flaky:-.ci/flaky}

# show LOG: print the end of it, to see what went wrong.
show()
{
	echo "---- the last lines of $1"
	tail -n 300 "$1"
	echo "----"
}

# run NAME COMMAND...: run one stage; show its output only if it fails.
run()
{
	local name=$1 log="$ci/$1.log" start=$SECONDS
	shift
	if "$@" >"$log" 2>&1 </dev/null; then
		passed=$((passed + 1))
		echo "passed: $name ($((SECONDS - start)) s)"
	else
		failed=$((failed + 1))
		echo "FAILED: $name ($((SECONDS - start)) s)"
		show "$log"
	fi
}

# count LOG WHAT...: print the sum of these numbers in automake's summaries,
# ignoring other lines.
count()
{
	local log=$1
	shift
	awk -v what=" $* " '
		/^Testsuite summary for/ { rulers = 2 }
		/^=====/ { rulers-- }
		rulers >= 0 && /^# [A-Z]+:/ {
			name = substr($2, 1, length($2) - 1)
			if (index(what, " " name " "))
				n += $3
		}
		END { print n + 0 }' "$log"
}

# tests_with LOG RESULT...: print each test with one of these results once, without the
# headings of the logs and suffixes.
tests_with()
{
	local log=$1
	shift
	awk -v what=" $* " '
		name != "" && !(/^=+$/ && length($0) == width) { print name }
		{ name = "" }
		/^[A-Z]+: tests\/[^ ]+$/ && index(what, " " substr($1, 1, length($1) - 1) " ") {
			name = $2
			width = length($0)
		}
		END { if (name != "") print name }' "$log" | sort -u
}

failed_tests()
{
	tests_with "$1" FAIL ERROR XPASS
}

# check_flaky_list FILE: each line is a comment, or a test that exists and a reason.
check_flaky_list()
{
	local name reason status=0
	while read -r name reason; do
		case $name in '' | '#'*) continue ;; esac
		test -n "$reason" || { echo "$1: $name: no reason is given"; status=1; }
		test -e "$name" || test -e "$name.c" || { echo "$1: $name: no such test"; status=1; }
	done <"$1"
	return $status
}

# is_known_flaky TEST: whether $flaky lists it with a reason.
is_known_flaky()
{
	awk -v name="$1" '$1 == name && NF > 1 { found = 1 } END { exit !found }' "$flaky"
}

# run_again LOG DIR COMMAND...: run the failed tests alone, or all of COMMAND if
# DIR is "-", and write $LOG.again. The result only classifies the failed tests.
run_again()
{
	local log=$1 dir=$2 tests
	shift 2
	tests=$(failed_tests "$log" | tr '\n' ' ')
	test "$dir" = - || set -- make -C "$dir" -k check TESTS="$tests"
	test -z "$tests" || "$@" >"$log.again" 2>&1 </dev/null || true
}

# classify LOG: for each failed test print "broken TEST" if it did not pass when it was run
# again, else "flaky TEST", or "known TEST" if $flaky lists it.
classify()
{
	local name
	failed_tests "$1" | while read -r name; do
		if test -n "$(failed_tests "$1.again" | grep -xF -e "$name")" ||
			! tests_with "$1.again" PASS XFAIL | grep -qxF -e "$name"; then
			echo "broken $name"
		elif is_known_flaky "$name"; then
			echo "known $name"
		else
			echo "flaky $name"
		fi
	done
}

# describe: replace the words of classify by those of the report.
describe()
{
	sed 's/^broken /  broken: failed again: /
		s/^flaky /  flaky: passed when run again: /
		s/^known /  known to be flaky, passed when run again: /'
}

# suite NAME DIR COMMAND...: run a stage that runs `make check` in DIR; its tests count
# one by one. A failed test is a failure even if it passes when it is run again, except
# those that $flaky lists.
suite()
{
	local name=$1 dir=$2 log="$ci/$1.log" start=$SECONDS status=0 p f s known=0
	shift 2
	"$@" >"$log" 2>&1 </dev/null || status=$?
	p=$(count "$log" PASS XFAIL) f=$(count "$log" FAIL XPASS ERROR) s=$(count "$log" SKIP)
	# No test failed, or no test ran, but the command failed.
	test $status = 0 -a $((p + f + s)) != 0 || test "$f" != 0 || f=1
	rm -f "$log.again"
	if test "$f" != 0; then
		show "$log"
		run_again "$log" "$dir" "$@"
	fi
	: >"$log.classes"
	test ! -e "$log.again" || classify "$log" >"$log.classes"
	known=$(grep -c '^known ' "$log.classes" || true)
	p=$((p + known)) f=$((f - known))
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	if test "$f" = 0; then
		echo "passed: $name: $p tests, $s skipped ($((SECONDS - start)) s)"
	else
		echo "FAILED: $name: $f of $((p + f + s)) tests ($((SECONDS - start)) s)"
		test ! -e "$log.again" || show "$log.again"
	fi
	describe <"$log.classes"
	grep '^SKIP: tests/' "$log" | sed 's/\.[a-z]*$//; s/^/  /' | sort -u
}
