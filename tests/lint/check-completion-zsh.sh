#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The zsh completion: its syntax, and the candidates that it finds.
set -eu

: "${srcdir:?}" "${MEMSTATE:?}"
if ! command -v zsh >/dev/null; then
	echo 'zsh is not installed' >&2
	exit 77
fi
zsh -n "$srcdir/contrib/zsh/_memstate"
# shellcheck disable=SC2016 # zsh expands what is between the quotes
exec zsh -f -c '
. $srcdir/contrib/zsh/_memstate
integer failures=0

# offers KIND "CANDIDATES" WORD...: check what is found for the last word, in any order and
# without descriptions.
offers()
{
	local memstate_kind
	local -a memstate_words found wanted

	_memstate_find $MEMSTATE "${(@)@[3,-1]}"
	found=(${(o)memstate_words%%:*}) wanted=(${(o)=2})
	[[ $memstate_kind == $1 && "$found" == "$wanted" ]] && return
	echo "memstate ${@[3,-1]}: $memstate_kind \"$found\", not $1 \"$wanted\"" >&2
	failures+=1
}

# Print the options of a command, short and long.
options()
{
	$MEMSTATE help -a "$@" | grep "^  .*--" | cut -c1-30 | grep -oE -e "-[A-Za-z], |--[a-z.-]+" |
		tr -d ", " | LC_ALL=C sort -u
}

columns()
{
	$MEMSTATE "$@" --list-columns | cut -d" " -f1
}

LC_ALL=C
verbs=(${(f)"$($MEMSTATE --help | sed -n "/^Commands:/,/^\$/s/^  \([a-z]*\)  .*/\1/p")"})
offers words "$verbs" ""
offers words "explain predict watch" oom ""
offers words "$(options)" --
offers words "$(options oom watch)" oom watch -
offers words "auto helper off walk" heap --heap ""
offers words "freeze high trace" oom watch --arm ""
offers list "$(columns)" -o ""
offers list "$(columns map)" map --sort ""
offers files "" --record ""
offers files "" diff ""
offers dirs "" --procfs ""
offers none "" -n ""
offers command "" -- x ""
exit $(( failures > 0 ))
'
