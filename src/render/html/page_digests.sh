#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# page_digests.sh DIRECTORY - write a header with the SHA-256 digest, in base64, of each
# text that page_files.c embeds. DIRECTORY is src/render.
set -eu

cd "$1"
echo '/* Written by page_digests.sh */'
awk '
	/^#/ { next }
	{
		while (match($0, /BEGIN\([a-z_]*\)|PART\("[^"]*"\)|END/)) {
			word = substr($0, RSTART, RLENGTH)
			$0 = substr($0, RSTART + RLENGTH)
			if (word ~ /^BEGIN/)
				line = substr(word, 7, length(word) - 7)
			else if (word ~ /^PART/)
				line = line " " substr(word, 7, length(word) - 8)
			else
				print line
		}
	}' html/page_files.c | while read -r name parts; do
	# shellcheck disable=SC2086 # the names of files have no blanks
	cat $parts | sha256sum | awk -v name="$name" '
		# 3 hexadecimal digits are 12 bits, and so 2 letters of base64. The last
		# digit remains, for 1 letter.
		function add(bits) { text = text substr(letters, bits + 1, 1) }
		function digit(i) { return index("0123456789abcdef", substr($1, i, 1)) - 1 }
		length($1) == 64 {
			letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
			for (i = 1; i < 64; i += 3) {
				bits = 256 * digit(i) + 16 * digit(i + 1) + digit(i + 2)
				add(int(bits / 64))
				add(bits % 64)
			}
			add(4 * digit(64))
			printf "#define PAGE_DIGEST_%s \"%s=\"\n", name, text
		}'
done
