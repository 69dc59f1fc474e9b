#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Every command has --help and --version, and rejects unknown arguments in the same way.
set -eu

: "${MEMSTATE:?}"

status=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

complain()
{
	echo "memstate $args: $*"
	status=1
}

# run ARGS...: leaves the output in out and err, and the status in $exit.
run()
{
	args=$*
	exit=0
	"$MEMSTATE" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null || exit=$?
}

# says_on_stdout ARGS...: succeeds, with output on stdout and none on stderr.
says_on_stdout()
{
	run "$@"
	test "$exit" = 0 || complain "exit status $exit instead of 0"
	test -s "$scratch/out" || complain "nothing on stdout"
	test ! -s "$scratch/err" || complain "something on stderr"
}

# refuses ARGS...: a usage error, with a message and a hint on stderr and
# nothing on stdout.
refuses()
{
	hint="Try 'memstate${verb:+ $verb} --help'"
	run "$@"
	test "$exit" = 2 || complain "exit status $exit instead of 2"
	test ! -s "$scratch/out" || complain "something on stdout"
	test "$(wc -l <"$scratch/err")" = 2 || complain "not a line and a hint on stderr"
	grep -q '^memstate: ' "$scratch/err" || complain "a message without the program name"
	grep -qF "$hint" "$scratch/err" || complain "no hint: $hint"
}

# check [COMMAND]
check()
{
	verb=${1:-}
	# a verb may have two words
	# shellcheck disable=SC2086
	set -- $verb
	for option in --help -h; do
		says_on_stdout "$@" $option
		grep -q '^Usage: memstate' "$scratch/out" || complain "no usage"
		test -z "$(grep -E '.{81}' "$scratch/out")" || complain "a line exceeds 80 columns"
	done
	says_on_stdout "$@" --version
	grep -qx 'memstate [0-9][0-9.]*[a-z0-9-]*' "$scratch/out" || complain "no version"
	refuses "$@" --no-such-option
	refuses "$@" -Q
	refuses "$@" a b c d e f
}

verbs=$("$MEMSTATE" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\( [a-z][a-z]*\)*\)  .*/\1/p')
test -n "$verbs" || { echo "no commands in --help"; exit 1; }
check
echo "$verbs" >"$scratch/verbs"
while read -r verb; do
	check "$verb"
done <"$scratch/verbs"

# same ARGS...: --help of the command and "help" print the same.
same()
{
	says_on_stdout help "$@"
	mv "$scratch/out" "$scratch/help"
	says_on_stdout "$@" --help
	cmp -s "$scratch/help" "$scratch/out" || complain "prints another text than help"
}

# suggests NAMES ARGS...: a usage error that suggests these names.
suggests()
{
	names=$1
	shift
	refuses "$@"
	grep -q "did you mean $names?\$" "$scratch/err" || complain "does not suggest $names"
}

# The help fits on a screen of 40 lines, is grouped, and the rest of it is shown with -a.
verb=
for command in '' $(sed 's/ /_/g' "$scratch/verbs"); do
	# a verb may have two words
	# shellcheck disable=SC2046
	says_on_stdout $(echo "$command" | tr _ ' ') --help
	test "$(wc -l <"$scratch/out")" -le 41 || complain "the help has more than 41 lines"
	grep -q '^General:$' "$scratch/out" || complain "no heading"
	all=$(grep -c '^ .* --' "$scratch/out")
	# shellcheck disable=SC2046
	says_on_stdout help -a $(echo "$command" | tr _ ' ')
	test -z "$(grep -E '.{81}' "$scratch/out")" || complain "a line exceeds 80 columns"
	test "$(grep -c '^ .* --' "$scratch/out")" -ge "$all" || complain "-a lists fewer options"
done

# The features are those of config.h.
says_on_stdout --version
if test -f "${builddir:?}/config.h"; then
	for pair in ncurses:NCURSES sqlite:SQLITE elf:LIBELF dw:LIBDW pprof:PPROF \
		libproc2:LIBPROC2; do
		sign=-
		grep -q "^#define HAVE_${pair#*:} 1\$" "$builddir/config.h" && sign=+
		grep -q "^Features:.* $sign${pair%:*}\>" "$scratch/out" ||
			complain "not $sign${pair%:*}"
	done
fi

same
same heap
same oom
same oom watch
refuses no-such-command
refuses no-such-command --help
suggests "'leaks'" leasks
suggests "'leaks'" leasks --help
suggests "'--text'" --txet
suggests "'rss'" -o rrs --csv
refuses 100 no-such-command
verb=help
suggests "'leaks'" help leasks
suggests "'oom watch'" help oom wacht
refuses help map 1
refuses help oom no-such-command
verb='oom watch'
suggests "'--keep'" oom watch --kepe 1h
verb=oom
suggests "'oom watch'" oom wathc --help
refuses oom no-such-command --help
verb=
refuses --csv --json
refuses -o no_such_column --csv
refuses -s no_such_column
refuses -i nonsense
refuses -n 0
refuses -p
exit $status
