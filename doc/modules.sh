#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Print the section "All modules" of INTERNALS.md: the first sentence of each header in src,
# which has the form "NAME - what it is for.". Run it in the top folder:
#
#	sh doc/modules.sh
#
# tests/lint/check-modules.sh compares the section with this output; `make bless` replaces it.
set -eu

echo '## All modules'
echo
echo 'Each line is the first sentence of a header; `sh doc/modules.sh` prints this section.'

# shellcheck disable=SC2046 # names have no blanks
awk '
	function print_module(	name, path) {
		path = file
		sub(/^src\//, "", path)
		name = path
		sub(/^.*\//, "", name)
		sub(/\/[^\/]*$/, "", path)
		if (path != folder)
			printf "\n**%s**\n\n", folder = path
		sub(/^[^-]* - /, "", text)
		if (match(text, /\.( |$)/))
			text = substr(text, 1, RSTART - 1)
		printf "- `%s`: %s\n", substr(name, 1, length(name) - 2), text
	}
	FNR == 1 {
		if (file)
			print_module()
		file = FILENAME
		text = ""
		comments = 0
	}
	/^\/\*/ { comments++ }
	# the comment after the licence; the sentence ends before an empty line
	comments == 2 {
		is_end = /\*\//
		gsub(/^[[:space:]]*(\/\*|\*\/|\*)?[[:space:]]*|[[:space:]]*\*\/[[:space:]]*$/, "")
		if (text != "" && ($0 == "" || is_end))
			comments = 3
		text = text (text == "" || $0 == "" ? "" : " ") $0
	}
	END { print_module() }' $(find src -name '*.h' | LC_ALL=C sort)
