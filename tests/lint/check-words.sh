#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Phrases that read as if translated: in comments and messages of the sources, in
# documents, and in scripts' comments. The file words.txt lists them, one extended regular
# expression per line, each followed by a tab and a better choice. words-allowed.txt lists
# exceptions: a path, a colon and a part of the line.
set -eu

: "${srcdir:?}"
cd "$srcdir"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
lint=tests/lint

# Print the comments of C sources as "path:line: text".
comments()
{
	find src tests contrib \( -name '*.[ch]' -o -name '*.cc' \) -print | sort |
		xargs awk '
		FNR == 1 { inside = 0 }
		{
			line = $0
			text = ""
			while (line != "") {
				if (inside) {
					end = index(line "*/", "*/")
					inside = end > length(line)
					text = text substr(line, 1, end - 1)
					line = substr(line, end + 2)
				} else if (match(line, /"([^"\\]|\\.)*"|\/\*/)) {
					inside = substr(line, RSTART, 2) == "/*"
					line = substr(line, RSTART + RLENGTH)
				} else {
					line = ""
				}
			}
			if (text != "")
				print FILENAME ":" FNR ": " text
		}'
}

# Print comments of scripts and makefiles, and the lines of documents, likewise.
others()
{
	find . \( -name build -o -name 'build-*' -o -name .git \) -prune -o \
		\( -name '*.sh' -o -name '*.py' -o -name '*.mk' -o -name '*.am' -o -name '*.ac' \) \
		-exec grep -HnE '^[ 	]*#|"""' {} +
	grep -Hn '' ./*.md doc/*.md doc/tutorials/*.md
}

# Print the string literals of C sources, which contain the messages, likewise.
messages()
{
	find src -name '*.[ch]' -print | sort | xargs awk '
		/^[[:blank:]]*(\*|\/\*|#[[:blank:]]*include)/ { next }
		{
			line = $0
			text = ""
			while (match(line, /"([^"\\]|\\.)*"/)) {
				text = text " " substr(line, RSTART + 1, RLENGTH - 2)
				line = substr(line, RSTART + RLENGTH)
			}
			if (text != "")
				print FILENAME ":" FNR ":" text
		}'
}

{ comments; messages; others; } | sed 's|^\./||' | grep -v "^$lint/words" >"$scratch/text"
test -s "$scratch/text" || { echo "no text found"; exit 1; }
cut -f 1 $lint/words.txt | grep -v '^#' >"$scratch/patterns"
grep -E -f "$scratch/patterns" "$scratch/text" >"$scratch/hits" || test $? = 1
while IFS=: read -r path part; do
	case $path in '' | '#'*) continue ;; esac
	awk -v path="$path:" -v part="$part" 'index($0, path) != 1 || !index($0, part)' \
		"$scratch/hits" >"$scratch/rest"
	mv "$scratch/rest" "$scratch/hits"
done <$lint/words-allowed.txt
test ! -s "$scratch/hits" || { cat "$scratch/hits"; echo "see $lint/words.txt"; exit 1; }
