#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# memstate(1) documents exactly what the program has: commands, options, columns, rules of
# diagnosis, version. groff must not warn about it.
set -eu

: "${srcdir:?}" "${builddir:?}" "${MEMSTATE:?}"
page=$srcdir/doc/memstate.1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
status=0

# same WHAT: check that the man page and the program list the same words.
same()
{
	sort -u "$scratch/page" >"$scratch/page.sorted"
	sort -u "$scratch/program" >"$scratch/program.sorted"
	if ! test -s "$scratch/program"; then
		echo "$1: the program lists none" >&2
		status=1
	elif ! diff "$scratch/page.sorted" "$scratch/program.sorted" >"$scratch/diff"; then
		echo "$1: the man page (<) and the program (>) differ:" >&2
		grep '^[<>]' "$scratch/diff" >&2
		status=1
	fi
}

# section HEADING: print its lines, with roff's escaped hyphens replaced.
section()
{
	awk -v heading="$1" '
	/^\.SH/ { sh = $0; sub(/^\.SH /, "", sh); ss = "" }
	/^\.SS/ { ss = $0; sub(/^\.SS /, "", ss) }
	sh == heading || ss == heading' "$page" | sed 's/\\-/-/g'
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

"$MEMSTATE" --help >"$scratch/help"
sed -n '/^Commands:/,/^$/s/^  \([a-z]*\( [a-z][a-z]*\)*\)  .*/\1/p' "$scratch/help" >"$scratch/verbs"

sed -n 's/^\.SS memstate //p' "$page" >"$scratch/page"
cp "$scratch/verbs" "$scratch/program"
same commands

section OPTIONS | tags | options >"$scratch/page"
"$MEMSTATE" help -a | sed '1,/^$/d; /^Commands:/,/^$/d' | grep '^  ' | cut -c1-30 | options >"$scratch/program"
while read -r verb; do
	# a verb may have two words
	# shellcheck disable=SC2086
	"$MEMSTATE" help -a $verb | grep '^  ' | cut -c1-30 | options >"$scratch/verb"
	cat "$scratch/verb" >>"$scratch/program"
	section "memstate $verb" >"$scratch/text"
	while read -r option; do
		grep -q -e "$option\\>" "$scratch/text" && continue
		echo "memstate $verb: the man page does not document $option" >&2
		status=1
	done <"$scratch/verb"
done <"$scratch/verbs"
same options

# OWNER_STATE_bytes in the man page stands for all cells of the matrix.
owners='live pool_pages pool_fragments heap_meta stack anon file shmem'
states='private_dirty lazyfree private_clean shared_dirty shared_clean'
section 'Of processes' | tags | sed -n 's/^\.B //p' >"$scratch/page"
if section 'Of processes' | tags | grep -q '^\.IB OWNER _ STATE _bytes$'; then
	for owner in $owners; do
		for state in $states; do
			echo "${owner}_${state}_bytes"
		done
	done >>"$scratch/page"
fi
"$MEMSTATE" --list-columns | cut -d' ' -f1 >"$scratch/program"
same 'columns of processes'
section 'Of mappings' | tags | sed -n 's/^\.B //p' >"$scratch/page"
"$MEMSTATE" map --list-columns | cut -d' ' -f1 >"$scratch/program"
same 'columns of mappings'
section 'Of counts' | tags | sed -n 's/^\.B //p' >"$scratch/page"
"$MEMSTATE" count --list-columns | cut -d' ' -f1 >"$scratch/program"
same 'columns of counts'

section 'Of comparisons' | tags | sed -n 's/^\.B //p' >"$scratch/page"
"$MEMSTATE" --preload glibc,jemalloc --list-columns | cut -d' ' -f1 >"$scratch/program"
same 'columns of comparisons'

# rules HEADING FILE: check that a section has the rules of the table in FILE, in
# the same order.
rules()
{
	section "$1" | tags | sed -n 's/^\.B //p' >"$scratch/page"
	sed -n 's/^	X("\([a-z-]*\)".*/\1/p' "$srcdir/$2" >"$scratch/program"
	same "rules of $1"
	if ! cmp -s "$scratch/page" "$scratch/program"; then
		echo "rules of $1: the order differs from that of the program" >&2
		status=1
	fi
}

rules DIAGNOSIS src/classify/process/diagnose.c
rules VERDICT src/classify/compare/verdict.c

# Print view, key and effect: the two lines after .TP. Without the screen there
# are no keys.
if test -x "$builddir/tests/lint/list_keys"; then
	section KEYS | sed 's/\\e/\\/g; s/\\(ha/^/g' | awk '
	/^\.SS / { where = $0; sub(/^\.SS /, "", where) }
	left == 2 { sub(/^\.B /, ""); key = $0 }
	left == 1 { print where "\t" key "\t" $0 }
	{ left = /^\.TP/ ? 2 : left - 1 }' >"$scratch/page"
	"$builddir/tests/lint/list_keys" >"$scratch/program"
	same keys
	if ! cmp -s "$scratch/page" "$scratch/program"; then
		echo 'keys: the order differs from that of the program' >&2
		status=1
	fi
fi

sed -n 's/^\.TH .*"\(memstate [0-9.]*\)".*/\1/p' "$page" >"$scratch/page"
"$MEMSTATE" --version | head -n 1 >"$scratch/program"
same version

if command -v groff >/dev/null; then
	groff -ww -man -Tutf8 "$page" 2>"$scratch/groff" >"$scratch/formatted"
	if test -s "$scratch/groff"; then
		cat "$scratch/groff" >&2
		status=1
	fi
else
	echo 'groff is not installed: the formatting is not checked' >&2
fi
exit $status
