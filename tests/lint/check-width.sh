#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Lines have at most 90 columns in C and shell files, and at most 100 in Python files. A
# tab ends at the next multiple of 8. A longer line is allowed if it would fit with its
# quoted strings empty: a message need not be divided. A backslash that continues a macro
# and a comment for pylint do not count, nor do here-documents, which end with END.
set -eu

: "${srcdir:?}"
cd "$srcdir"

# check LIMIT PATTERN...: print the lines of the matching files that are too long.
check()
{
	limit=$1
	shift
	for pattern; do
		find src tests contrib -type f -name "$pattern" -print
	done | sort | LC_ALL=C xargs awk -v limit="$limit" '
		function columns(text, count, parts, i, sum) {
			gsub(/[\200-\277]/, "", text) # UTF-8: one byte per character
			count = split(text, parts, "\t")
			for (sum = i = 0; ++i < count;)
				sum = int((sum + length(parts[i])) / 8 + 1) * 8
			return sum + length(parts[count])
		}
		FNR == 1 { end = "" }
		end != "" {
			if ($0 ~ /^\t*END$/)
				end = ""
			next
		}
		FILENAME ~ /\.sh$/ && /<<-? ?.?END/ { end = "END" }
		columns($0) > limit {
			text = $0
			sub(/[ \t]*\\$/, "", text)
			gsub(/"([^"\\]|\\.)*"/, "\"\"", text)
			if (FILENAME !~ /\.[ch]$/)
				gsub(/(^|[^A-Za-z0-9_])[bfr]?\047[^\047]*\047/, " \047\047", text)
			sub(/ +# pylint: .*/, "", text)
			if (columns(text) > limit)
				print FILENAME ":" FNR ": " columns($0) " columns; the limit is " limit
		}'
}

found=$(check 90 '*.[ch]' '*.sh' && check 100 '*.py')
test -z "$found" || { echo "$found"; exit 1; }
