#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# gallery.sh MEMSTATE PROGRAMS FOLDER: run memstate on the programs of the tutorials, and
# write pictures of its HTML pages into FOLDER. Requires Chromium, a C++ compiler and
# jemalloc. The pictures differ each time, because they show measured figures.
set -euo pipefail

memstate=$(realpath "$1")
programs=$(realpath "$2")
folder=$(realpath "$3")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$programs"/* "$work"
cd "$work"
make -s all

# photograph NAME: write the beginning of NAME.html as FOLDER/NAME.png.
photograph()
{
	local browser
	browser=$(command -v chromium chromium-browser google-chrome | head -n 1)
	timeout 60 "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars \
		--user-data-dir="$work/browser" --window-size=1100,900 \
		--screenshot="$folder/$1.png" "file://$work/$1.html" 2>/dev/null
}

"$memstate" --preload glibc,jemalloc --html compare.html -- ./churn >/dev/null
timeout 3 "$memstate" count --live --flame-graph flame-graph.html -- ./chat >/dev/null 2>&1 || true
"$memstate" --record churn.msr -i 20ms --csv -- ./churn >/dev/null
"$memstate" --replay churn.msr --html recording.html >/dev/null
for page in compare recording flame-graph; do
	photograph $page
done
