#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Textual rules for the C sources.
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
	FNR == 501 { complain("more than 500 lines") }
	/[ \t]$/ { complain("trailing blanks") }
	/^ +[^ *\\]/ { complain("indented with blanks instead of tabs") }
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
			complain("a function of " FNR - start + 1 " lines; the limit is 60")
		start = 0
	}' $sources)
test -z "$found" || { echo "$found"; exit 1; }
