#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# draw.sh FOLDER: draw the pictures of the documents from tests/tui/screens into FOLDER.
set -eu

top=$(cd "$(dirname "$0")/../.." && pwd)

# draw NAME TITLE: draw picture-NAME.screen in both themes.
draw()
{
	for theme in dark light; do
		python3 "$top/contrib/pictures/screen_svg.py" \
			"$top/tests/tui/screens/picture-$1.screen" "100x30-$theme" "$theme" "$2" \
			>"$folder/$1-$theme.svg"
	done
}

folder=$1
draw group "The screen of memstate: a cgroup that grows towards its limit"
draw heap "The screen of memstate: the heap of a process"
draw process "The screen of memstate: the memory of one process by owner and state"
for theme in dark light; do
	python3 "$top/contrib/pictures/unknown_svg.py" "$top/doc/EXACTNESS.md" "$theme" \
		>"$folder/unknown-$theme.svg"
done
