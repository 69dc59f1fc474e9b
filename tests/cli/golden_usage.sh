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
run -o pid,Rss_bytes -p 100
run -o rss,PSS,uss_kib
run -o rrs
run -s SCLEAN -p 100 -o pid,name,sclean
run -s shared_claen
run map -p 100 -s onwer
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
run --txet
run --re x
run --txet=3
run heap --max-puase 1s
run -X
run --csv=yes
run --max-share 0
run --max-share 101
run --max-share 101%
run explain 4242
run --heap sometimes
run --heap helper
run -p 100 --allow-stall
run heap -p 100 --malloc-info
run heap -p 100 --heap off
run heap -p 100 --heap helper
run extra
run heep
run heep --help
run_here compare ./a ./b
run_here record day.msr
run_here day.msr
run_here oom day.msr
run_here leaks day.msr
run_here leaks --replay day.msr
run_here oom explain day.msr
run_here count ./program
run_here count -p 100 --sample 100
run_here help record
run hlep
run --csv heap
run -p 100 heap
run oom explan --help
run oom frobnicate
run oom --json explain
run doctor extra
run 100 -o pid
run 100 101 -o pid
run map 100 -o owner
run 9
run 100x
run 100 extra
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
