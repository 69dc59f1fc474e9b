#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Scripts and styles of pages: nothing in them reaches for the network, makes elements or code out of
# text, or ends the element that they stand in.
set -eu

: "${srcdir:?}"
cd "$srcdir/src/render"
status=0

# no WHAT PATTERN FILE...
no()
{
	what=$1 pattern=$2
	shift 2
	found=$(grep -nE -e "$pattern" "$@" | grep -v "http://www.w3.org/2000/svg") || return 0
	echo "$found" | sed "s|\$|   ($what)|"
	status=1
}

no 'the network' 'https?:|//[a-z]|\<(fetch|XMLHttpRequest|WebSocket|EventSource|importScripts|sendBeacon)\>' \
	./*.js ./*.css ./*.html
no 'other files' '\<import\>|@import|\<url\(|\<src=|\<href=' ./*.js ./*.css ./*.html
no 'elements or code out of text' \
	'innerHTML|outerHTML|insertAdjacentHTML|document\.write|\<eval\>|\<Function\(|setAttribute\(.style' ./*.js
no 'code or style in an element: the policy of the page forbids it' '\<on[a-z]+=|\<style=' ./*.html
no 'the end of an element' '</(script|style)|]]>|<!--' ./*.js ./*.css ./*.html
no 'a // comment' '(^|[^:"'\''])//' ./*.js
no 'blanks at the end of the line' '[ 	]$' ./*.js ./*.css ./*.html
no 'a line of more than 120 columns' '.{121}' ./*.js

for file in ./*.js; do
	test "$(wc -l <"$file")" -le 500 || { echo "$file: more than 500 lines"; status=1; }
done

# The order is that of page_files.c.
parts=$(sed -n '/BEGIN(flame_script)/,/END/p' page_files.c | grep -o '"[a-z_]*\.js"' | tr -d '"')
test -n "$parts" || { echo 'page_files.c: names no scripts'; status=1; }
if command -v node >/dev/null; then
	scratch=$(mktemp -d)
	trap 'rm -rf "$scratch"' EXIT
	for part in $parts; do
		cat "$part"
	done >"$scratch/flame_page.js"
	cp page.js flame_svg.js "$scratch"
	for file in "$scratch"/*.js; do
		node --check "$file" || status=1
	done
else
	echo 'node is not here: the syntax of scripts is not checked' >&2
fi
exit $status
