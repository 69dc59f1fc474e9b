#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The manual documents exactly what the program has: commands, options, columns, rules of
# diagnosis, version. groff must not warn about it, and its references lead somewhere.
set -eu

: "${srcdir:?}" "${builddir:?}" "${MEMSTATE:?}"
man=$srcdir/doc
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
status=0

fail()
{
	echo "$*" >&2
	status=1
}

# same WHAT: check that the manual and the program list the same words.
same()
{
	sort -u "$scratch/page" >"$scratch/page.sorted"
	sort -u "$scratch/program" >"$scratch/program.sorted"
	if ! test -s "$scratch/program"; then
		fail "$1: the program lists none"
	elif ! diff "$scratch/page.sorted" "$scratch/program.sorted" >"$scratch/diff"; then
		fail "$1: the manual (<) and the program (>) differ:"
		grep '^[<>]' "$scratch/diff" >&2
	fi
}

# section PAGE HEADING: print the lines below a heading, with roff's hyphens unescaped.
section()
{
	awk -v heading="$2" '
	/^\.SH/ { sh = $0; sub(/^\.SH /, "", sh); ss = "" }
	/^\.SS/ { ss = $0; sub(/^\.SS /, "", ss) }
	sh == heading || ss == heading' "$man/$1" | sed 's/\\-/-/g'
}

# Print the tags of list paragraphs: the line after .TP or .TQ.
tags()
{
	awk 'after { print } { after = /^\.T[PQ]/ }'
}

options()
{
	grep -o -e '--[a-z][a-z-]*' || :
}

# option_tags FILE...: print the options that these pages describe.
option_tags()
{
	cat "$@" | sed 's/\\-/-/g' | tags | options
}

# page_of VERB: print the page of a command: memstate(1), or named after its first word.
page_of()
{
	case $1 in
	help) echo "$man/memstate.1" ;;
	*) echo "$man/memstate-${1%% *}.1" ;;
	esac
}

"$MEMSTATE" --help >"$scratch/help"
sed -n '/^Commands:/,/^$/s/^  \([a-z]*\( [a-z][a-z]*\)*\)  .*/\1/p' \
	"$scratch/help" >"$scratch/verbs"

while read -r verb; do
	page=$(page_of "$verb")
	if ! test -f "$page"; then
		fail "memstate $verb: there is no $page"
		continue
	fi
	case $verb in
	*' '*)
		grep -q "^\.SS memstate $verb\$" "$page" ||
			fail "$page has no section 'memstate $verb'"
		;;
	esac
	grep -q "^\.SH EXAMPLES" "$page" || fail "$page has no EXAMPLES"
done <"$scratch/verbs"

# Each command's page, or its section of the page, names every option of the command.
option_tags "$man"/*.1 >"$scratch/page"
"$MEMSTATE" help -a | sed '1,/^$/d; /^Commands:/,/^$/d' | grep '^  ' | cut -c1-30 |
	options >"$scratch/program"
while read -r verb; do
	# a verb may have two words
	# shellcheck disable=SC2086
	"$MEMSTATE" help -a $verb | grep '^  ' | cut -c1-30 | options >"$scratch/verb"
	cat "$scratch/verb" >>"$scratch/program"
	page=$(page_of "$verb")
	if grep -q "^\.SS memstate $verb\$" "$page"; then
		section "$(basename "$page")" "memstate $verb" >"$scratch/text"
	else
		sed 's/\\-/-/g' "$page" >"$scratch/text"
	fi
	while read -r option; do
		grep -q -e "$option\>" "$scratch/text" && continue
		fail "memstate $verb: the manual does not document $option"
	done <"$scratch/verb"
done <"$scratch/verbs"
same options

# OWNER_STATE_bytes in the manual stands for all cells of the matrix.
owners='live pool_pages pool_fragments heap_meta stack anon file shmem'
states='private_dirty lazyfree private_clean shared_dirty shared_clean'
section memstate-columns.5 Processes | tags | sed -n 's/^\.B //p' >"$scratch/page"
if section memstate-columns.5 Processes | tags |
	grep -q '^\.IB OWNER _ STATE _bytes$'; then
	for owner in $owners; do
		for state in $states; do
			echo "${owner}_${state}_bytes"
		done
	done >>"$scratch/page"
fi
"$MEMSTATE" --list-columns | cut -d' ' -f1 >"$scratch/program"
same 'columns of processes'
section memstate-columns.5 Mappings | tags | sed -n 's/^\.B //p' >"$scratch/page"
"$MEMSTATE" map --list-columns | cut -d' ' -f1 >"$scratch/program"
same 'columns of mappings'
section memstate-columns.5 Counts | tags | sed -n 's/^\.B //p' >"$scratch/page"
"$MEMSTATE" count --list-columns | cut -d' ' -f1 >"$scratch/program"
same 'columns of counts'

section memstate-columns.5 Comparisons | tags | sed -n 's/^\.B //p' >"$scratch/page"
"$MEMSTATE" --preload glibc,jemalloc --list-columns | cut -d' ' -f1 >"$scratch/program"
same 'columns of comparisons'
section memstate-columns.5 Groups | tags | sed -n 's/^\.B //p' >"$scratch/page"
"$MEMSTATE" oom --list-columns | cut -d' ' -f1 >"$scratch/program"
same 'columns of groups'
section memstate-columns.5 Functions | tags | sed -n 's/^\.B //p' >"$scratch/page"
"$MEMSTATE" count --replay x --list-columns | cut -d' ' -f1 >"$scratch/program"
same 'columns of functions'

# rules PAGE HEADING FILE: check that a section has the rules of the table in FILE,
# in the same order.
rules()
{
	section "$1" "$2" | tags | sed -n 's/^\.B //p' >"$scratch/page"
	sed -n 's/^	X("\([a-z-]*\)".*/\1/p' "$srcdir/$3" >"$scratch/program"
	same "rules of $2"
	if ! cmp -s "$scratch/page" "$scratch/program"; then
		fail "rules of $2: the order differs from that of the program"
	fi
}

rules memstate-memory.7 DIAGNOSIS src/classify/process/diagnose.c
rules memstate-compare.1 VERDICT src/classify/compare/verdict.c

# Print view, key and effect: the two lines after .TP. Without the screen there
# are no keys.
if test -x "$builddir/tests/lint/list_keys"; then
	section memstate-screen.7 KEYS | sed 's/\\e/\\/g; s/\\(ha/^/g' | awk '
	/^\.SS / { where = $0; sub(/^\.SS /, "", where) }
	left == 2 { sub(/^\.B /, ""); key = $0 }
	left == 1 { print where "\t" key "\t" $0 }
	{ left = /^\.TP/ ? 2 : left - 1 }' >"$scratch/page"
	"$builddir/tests/lint/list_keys" >"$scratch/program"
	same keys
	if ! cmp -s "$scratch/page" "$scratch/program"; then
		fail 'keys: the order differs from that of the program'
	fi
fi

"$MEMSTATE" --version | head -n 1 >"$scratch/program"
for page in "$man"/*.[157]; do
	sed -n 's/^\.TH .*"\(memstate [0-9.]*\)".*/\1/p' "$page" >"$scratch/page"
	same "version of $page"
done

# References to pages of ours lead to a page; memstate(1) refers to all others.
cat "$man"/*.[157] | sed 's/\\-/-/g' |
	sed -n 's/.*\(memstate[a-z-]*\)"\{0,1\} (\([1-9]\)).*/\1.\2/p' |
	sort -u >"$scratch/references"
while read -r reference; do
	test -f "$man/$reference" || fail "the manual refers to $reference, which does not exist"
done <"$scratch/references"
section memstate.1 'SEE ALSO' |
	sed -n 's/.*\(memstate-[a-z-]*\)"\{0,1\} (\([1-9]\)).*/\1.\2/p' >"$scratch/page"
(cd "$man" && ls memstate-*.[157]) >"$scratch/program"
same 'pages in SEE ALSO of memstate(1)'

# `memstate help NAME` knows each page: NAME is a command or a topic.
(cd "$man" && ls memstate-*.[157]) | sed 's/^memstate-\(.*\)\.\(.\)$/\1 \2/' |
	while read -r name volume; do
		"$MEMSTATE" help "$name" 2>&1 | grep -q -F "memstate-$name($volume)" ||
			echo "$name"
	done >"$scratch/unknown"
if test -s "$scratch/unknown"; then
	fail "memstate help does not name the pages of: $(cat "$scratch/unknown")"
fi

if command -v groff >/dev/null; then
	for page in "$man"/*.[157]; do
		groff -ww -man -Tutf8 "$page" 2>"$scratch/groff" >"$scratch/formatted"
		if test -s "$scratch/groff"; then
			cat "$scratch/groff" >&2
			status=1
		fi
	done
else
	echo 'groff is not installed: the formatting is not checked' >&2
fi
exit $status
