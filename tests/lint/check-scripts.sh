#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Scripts and styles of the pages must not access the network, create elements or code
# from text, or end their own element.
set -eu

: "${srcdir:?}"
cd "$srcdir/src/render"
status=0

# no WHAT PATTERN FILE...: no line of the files may match
no()
{
	what=$1 pattern=$2
	shift 2
	found=$(grep -nE -e "$pattern" "$@" | grep -v "http://www.w3.org/2000/svg") || return 0
	echo "$found" | sed "s|\$|   ($what)|"
	status=1
}

no 'network access' 'https?:|//[a-z]|\<(fetch|XMLHttpRequest|WebSocket|EventSource|importScripts|sendBeacon)\>' \
	./*/*.js ./*/*.css ./*/*.html
no 'other files' '\<import\>|@import|\<url\(|\<src=|\<href=' ./*/*.js ./*/*.css ./*/*.html
no 'elements or code from text' \
	'innerHTML|outerHTML|insertAdjacentHTML|document\.write|\<eval\>|\<Function\(|setAttribute\(.style' ./*/*.js
no 'inline code or style, which the policy of the page forbids' '\<on[a-z]+=|\<style=' ./*/*.html
no 'end of the element' '</(script|style)|]]>|<!--' ./*/*.js ./*/*.css ./*/*.html
no 'a // comment' '(^|[^:"'\''])//' ./*/*.js
no 'trailing blanks' '[ 	]$' ./*/*.js ./*/*.css ./*/*.html
no 'more than 120 columns' '.{121}' ./*/*.js

for file in ./*/*.js; do
	test "$(wc -l <"$file")" -le 500 || { echo "$file: more than 500 lines"; status=1; }
done

# Check the scripts in the order of page_files.c.
parts=$(sed -n '/BEGIN(flame_script)/,/END/p' html/page_files.c | grep -o '"[a-z_/]*\.js"' | tr -d '"')
test -n "$parts" || { echo 'page_files.c: no scripts found'; status=1; }
if command -v node >/dev/null; then
	scratch=$(mktemp -d)
	trap 'rm -rf "$scratch"' EXIT
	for part in $parts; do
		cat "$part"
	done >"$scratch/flame_page.js"
	cp html/page.js flame/svg.js "$scratch"
	for file in "$scratch"/*.js; do
		node --check "$file" || status=1
	done
else
	echo 'node is not installed: the syntax of scripts is not checked' >&2
fi
exit $status
