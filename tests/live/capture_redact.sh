#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# --redact removes all paths and arguments, and keeps the figures.
. "$srcdir/tests/live/capture_lib.sh"

start_stopped_target
expect 0 "$MEMSTATE" capture -p "$target" "$dir/plain"
grep -q 'hunter2' "$dir/plain/$target/cmdline" || fail "the test proves nothing"
expect 0 "$MEMSTATE" capture --redact --procfs "$dir/plain" "$dir/redacted"

# all components of mapped paths, and all arguments; the program's own name is not secret
{
	tr '\0' '\n' < "$dir/plain/$target/cmdline"
	sed -n 's/^[0-9a-f]*-[0-9a-f]* [^/]*\(\/.*\)/\1/p' "$dir/plain/$target/smaps"
} | tr '/ ' '\n\n' | grep -E '.{5}' |
	grep -vE '^(memstate|memfd:secret|\(deleted\).*|zero|libc\.so\.6|stdin)$' |
	sort -u > "$dir/words"
echo "secret" >> "$dir/words"
[ "$(wc -l < "$dir/words")" -gt 5 ] || fail "too few words to look for"
grep -q hunter2 "$dir/words" || fail "the argument is not in the list"
if grep -rF -f "$dir/words" "$dir/redacted" --include=cmdline --include=smaps \
	--include=memstate-capture --include=smaps_rollup; then
	fail "a path or an argument remains"
fi
if cut -d ' ' -f 4,5 "$dir/redacted/$target/mountinfo" | tr ' ' '\n' |
	grep -vE '^(/|/?p[0-9]+)$'; then
	fail "the path of a mount remains"
fi
[ "$(wc -l < "$dir/plain/$target/mountinfo")" = \
	"$(wc -l < "$dir/redacted/$target/mountinfo")" ] || fail "mounts are missing"
for word in hunter2 private/key 'hidden folder' 'secret ring' "${dir##*/}"; do
	! grep -rqF -- "$word" "$dir/redacted" || fail "'$word' remains"
done
grep -q '/p[0-9]*/libc\.so\.6' "$dir/redacted/$target/smaps" || fail "libc cannot be recognized any more"
grep -q '/memfd:p[0-9]* (deleted)' "$dir/redacted/$target/smaps" || fail "the memfd is missing"
grep -q '^redacted: yes' "$dir/redacted/memstate-capture" || fail "the capture is not marked as redacted"

for tree in plain redacted; do
	"$MEMSTATE" --procfs "$dir/$tree" --csv -n 1 --output-all > "$dir/$tree.csv" ||
		fail "no report"
	"$MEMSTATE" map --procfs "$dir/$tree" -p "$target" -o \
		start_addr,size_bytes,rss_bytes,owner,private_dirty_bytes --csv \
		> "$dir/$tree.map" || fail "no mappings"
done
cmp "$dir/plain.map" "$dir/redacted.map" || fail "figures or owners differ"
# all columns except times and the command line
for tree in plain redacted; do
	sed '1d' "$dir/$tree.csv" | tr '\n' ' ' | sed 's/^[^,]*,[^,]*,//' |
		tr ',' '\n' | grep -E '^[0-9]+$' > "$dir/$tree.numbers"
done
cmp "$dir/plain.numbers" "$dir/redacted.numbers" || fail "figures differ"
exit 0
