#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Print the section "All modules" of INTERNALS.md: the first sentence of each header in src,
# which has the form "NAME - what it is for.". Run it in the top folder:
#
#	sh doc/modules.sh
#
# tests/lint/check-modules.sh compares; `make bless` replaces the section.
set -eu

echo '## All modules'
echo
echo 'Each line is the first sentence of a header; `sh doc/modules.sh` prints this section.'

find src -name '*.h' | LC_ALL=C sort | while read -r header; do
	awk -v header="$header" '
		# the comment after the licence; its first sentence ends in a period, or with its paragraph
		/^\/\*/ { comments++ }
		comments == 2 {
			line = $0
			gsub(/^[[:space:]]*(\/\*|\*\/|\*)?[[:space:]]*|[[:space:]]*\*\/[[:space:]]*$/, "", line)
			if (text != "" && line == "")
				exit
			text = text (text == "" || line == "" ? "" : " ") line
		}
		comments == 2 && /\*\// { exit }
		END {
			sub(/^[^-]* - /, "", text)
			if (match(text, /\.( |$)/))
				text = substr(text, 1, RSTART - 1)
			folder = header
			sub(/\/[^\/]*$/, "", folder)
			sub(/^src\//, "", folder)
			print folder "\t" header "\t" text
		}' "$header"
done | awk -F '\t' '
	$1 != folder {
		folder = $1
		printf "\n**%s**\n\n", folder
	}
	{
		sub(/^.*\//, "", $2)
		sub(/\.h$/, "", $2)
		printf "- `%s`: %s\n", $2, $3
	}'
