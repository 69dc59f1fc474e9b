#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The fish completion: its syntax, and the candidates that it finds.
set -eu

: "${srcdir:?}" "${MEMSTATE:?}"
if ! command -v fish >/dev/null; then
	echo 'fish is not installed' >&2
	exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
HOME=$scratch XDG_CONFIG_HOME=$scratch XDG_DATA_HOME=$scratch PATH=$(dirname "$MEMSTATE"):$PATH
export HOME XDG_CONFIG_HOME XDG_DATA_HOME PATH srcdir
fish -n "$srcdir/contrib/fish/memstate.fish"
cat >"$scratch/check.fish" <<'END'
source $srcdir/contrib/fish/memstate.fish
set failures 0

# offers LINE CANDIDATE...: check the candidates for the end of a command line, sorted and
# without descriptions.
function offers
    set -l found (complete -C $argv[1] | string replace -r '\t.*' '' | env LC_ALL=C sort -u)
    set -l wanted (string join \n -- $argv[2..-1] | env LC_ALL=C sort -u)
    test "$found" = "$wanted"; and return
    echo "$argv[1]: \"$found\", not \"$wanted\"" >&2
    set failures 1
end

function long_options
    memstate help -a $argv | grep '^  .*--' | cut -c1-30 | grep -oE -e '--[a-z.-]+'
end

offers 'memstate ' (memstate --help | string replace -rf '^  ([a-z]+)  .*' '$1')
offers 'memstate oom ' explain predict watch
offers 'memstate oom wa' watch
offers 'memstate --' (long_options)
offers 'memstate oom watch --' (long_options oom watch)
offers 'memstate heap --heap ' auto helper off walk
offers 'memstate oom watch --arm ' freeze high trace
offers 'memstate -o pid,ksm' pid,ksm_bytes
offers 'memstate map --sort own' owner
offers "memstate --record $srcdir/contrib/fish/memst" $srcdir/contrib/fish/memstate.fish
offers 'memstate -n '
exit $failures
END
fish --no-config "$scratch/check.fish"
