#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The bash completion, asked as bash asks it.
set -eu

: "${srcdir:?}" "${MEMSTATE:?}"
if ! command -v bash >/dev/null; then
	echo 'bash is not here' >&2
	exit 77
fi
# shellcheck disable=SC2016 # what is between the quotes is bash's to expand
exec bash -c '
. "$srcdir/contrib/bash-completion/memstate"
status=0

# complete WORD...: what is offered for the last word, in COMPREPLY, sorted; what is offered twice
# is there twice.
program=$MEMSTATE
complete_words()
{
	COMP_WORDS=("$program" "$@")
	COMP_CWORD=$#
	COMPREPLY=()
	_memstate
	mapfile -t COMPREPLY < <(printf "%s\n" "${COMPREPLY[@]}" | sort)
}

# offers "WORDS" "EXPECTED": all that is offered, sorted. An empty last word is written @.
offers()
{
	local -a words

	read -ra words <<<"$1"
	complete_words "${words[@]/#@/}"
	[[ ${COMPREPLY[*]} == "$2" ]] && return
	echo "memstate $1: offers \"${COMPREPLY[*]}\", not \"$2\"" >&2
	status=1
}

long_options()
{
	"$MEMSTATE" "$@" --help | grep "^  " | cut -c1-30 | grep -o -e "--[a-z][a-z-]*" | sort -u |
		paste -sd" "
}

columns()
{
	"$MEMSTATE" "$@" --list-columns | cut -d" " -f1 | sort -u | paste -sd" "
}

verbs=$("$MEMSTATE" --help | sed -n "/^Commands:/,/^\$/s/^  \([a-z]*\) .*/\1/p" | sort)
offers "@" "$(paste -sd" " <<<"$verbs")"
offers "--" "$(long_options)"
for verb in $verbs; do
	offers "$verb --" "$(long_options "$verb")"
done
offers "ma" "map"
offers "--no" "--no-headings --no-stop"

offers "-o @" "$(columns)"
offers "--output = @" "$(columns)"
offers "map -o @" "$(columns map)"
offers "oom @" "explain predict watch"
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

# It need not be on PATH: however it is typed, that is the one that is asked.
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
