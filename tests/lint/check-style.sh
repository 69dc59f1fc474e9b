#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What can be said of the text of the sources without understanding it.
set -eu

: "${srcdir:?}"
cd "$srcdir"
sources=$(find src tests contrib \( -name '*.c' -o -name '*.h' \) -print)
# shellcheck disable=SC2086
found=$(awk '
	function complain(what) { print FILENAME ":" FNR ": " what }
	FNR == 1 {
		start = 0
		if ($0 != "/* SPDX-License-Identifier: GPL-2.0-or-later */")
			complain("no licence in the first line")
	}
	FNR == 501 { complain("a file of more than 500 lines") }
	/[ \t]$/ { complain("blanks at the end of the line") }
	/^ +[^ *]/ { complain("indented with blanks") }
	{
		line = $0
		gsub(/"([^"\\]|\\.)*"/, "", line)
		gsub(/[a-z]+:\/\//, "", line)
		if (line ~ /\/\//)
			complain("a // comment")
	}
	/^{/ { start = FNR }
	/^}/ {
		if (start && FNR - start + 1 > 60)
			complain("a function of " FNR - start + 1 " lines, 60 are allowed")
		start = 0
	}' $sources)
test -z "$found" || { echo "$found"; exit 1; }
