#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Usage errors: one line that names the mistake, a hint, status 2, and nothing
# on standard output.
. "${srcdir:?}/tests/cli/golden.sh"

on plain
run -o no_such --csv
run -o '' --csv
run -o + --csv
run -o pid,,rss_bytes --csv
run -o pid,Rss_bytes
run -o rss
run -s SCLEAN
run -s no_such
run -s ''
run -i 0 --csv
run -i 0.5ms --csv
run -i fast --csv
run -i -1 --csv
run -n 0 --csv
run -n many --csv
run -n 3
run -i 2
run --csv --json
run --text --csv
run -J --text
run -p 0
run -p 99999999999999999999
run -p ''
run -p 100,,101
run -p
run --pid
run --no-such
run -X
run --csv=yes
run --max-share 0
run --max-share 101
run --heap sometimes
run --heap helper
run -p 100 --allow-stall
run heap -p 100 --malloc-info
run heap -p 100 --heap off
run heap -p 100 --heap helper
run extra
run 100
run -p 100 -- true
run --
run --procfs /dev/null
run --procfs /nonexistent
run --procfs plain/100
run --procfs plain/100 --csv
run -p 100,100 -o pid
run -p 9
run -p 9 --csv
run -p 9 -J
run -p 9,100 --csv -o pid
run -p nobody --csv
run --version --csv --json

finish
