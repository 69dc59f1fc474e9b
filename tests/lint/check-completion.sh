#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The bash completion, queried as bash does it.
set -eu

: "${srcdir:?}" "${MEMSTATE:?}"
if ! command -v bash >/dev/null; then
	echo 'bash is not installed' >&2
	exit 77
fi
# shellcheck disable=SC2016 # bash expands what is between the quotes
exec bash -c '
. "$srcdir/contrib/bash-completion/memstate"
status=0

# complete_words WORD...: set COMPREPLY to the sorted candidates for the last
# word, including duplicates.
program=$MEMSTATE
complete_words()
{
	COMP_WORDS=("$program" "$@")
	COMP_CWORD=$#
	COMPREPLY=()
	_memstate
	mapfile -t COMPREPLY < <(printf "%s\n" "${COMPREPLY[@]}" | sort)
}

# offers "WORDS" "EXPECTED": check the sorted candidates. An empty last word is written @.
offers()
{
	local -a words

	read -ra words <<<"$1"
	complete_words "${words[@]/#@/}"
	[[ ${COMPREPLY[*]} == "$2" ]] && return
	echo "memstate $1: completes to \"${COMPREPLY[*]}\", not \"$2\"" >&2
	status=1
}

long_options()
{
	"$MEMSTATE" help -a "$@" | grep "^  " | cut -c1-30 | grep -o -e "--[a-z][a-z.-]*" | sort -u |
		paste -sd" "
}

columns()
{
	"$MEMSTATE" "$@" --list-columns | cut -d" " -f1 | sort -u | paste -sd" "
}

verbs=$("$MEMSTATE" --help | sed -n "/^Commands:/,/^\$/s/^  \([a-z]*\( [a-z][a-z]*\)*\)  .*/\1/p" | sort)
offers "@" "$(grep -v " " <<<"$verbs" | paste -sd" ")"
offers "--" "$(long_options)"
while read -r verb; do
	read -ra words <<<"$verb"
	offers "$verb --" "$(long_options "${words[@]}")"
done <<<"$verbs"
offers "ma" "map"
offers "--no" "--no-config --no-headings --no-pager --no-stop"

offers "-o @" "$(columns)"
offers "--output = @" "$(columns)"
offers "map -o @" "$(columns map)"
offers "oom @" "explain predict watch"
offers "oom --csv @" ""
offers "oom wa" "watch"
offers "oom watch @" ""
offers "oom watch --arm @" "freeze high trace"
offers "-o pid,ksm" "pid,ksm_bytes"
offers "-o ksm_bytes,pid,ksm" ""
offers "-o +ksm" "+ksm_bytes"
offers "-o +pid,ksm" "+pid,ksm_bytes"
offers "-s ksm" "ksm_bytes"
offers "-s -ksm" "-ksm_bytes"
offers "map --csv -s own" "owner"

offers "--procfs $srcdir/tests/fixtures/demo -p @" "4242 memstate-demo"
offers "map -p 4242,mem --procfs /nowhere" ""
offers "--procfs $srcdir/tests/fixtures/demo -p 4242,mem" "4242,memstate-demo"
complete_words -p "$$"
[[ " ${COMPREPLY[*]} " == *" $$ "* ]] || { echo "-p: does not offer $$" >&2; status=1; }

# memstate need not be on PATH: the completion runs the program as it was typed.
HOME=$(cd "$(dirname "$MEMSTATE")" && pwd)
PATH=/usr/bin:/bin
for program in "~/${MEMSTATE##*/}" "$HOME/${MEMSTATE##*/}"; do
	offers "leaks --" "$(long_options leaks)"
done
program=$MEMSTATE

offers "-- @ x" ""
offers "-n @" ""
exit $status
'
