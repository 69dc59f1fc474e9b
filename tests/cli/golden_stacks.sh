#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Allocations by call stack, read from a file: reports, transformation
# rules, output formats.
. "${srcdir:?}/tests/cli/golden.sh"

XDG_CONFIG_HOME=$golden_dir/config
export XDG_CONFIG_HOME
mkdir -p "$XDG_CONFIG_HOME/memstate"
index=profiles/index.folded

# with_rules ARGUMENT...: run count with the rules of profiles/transforms
with_rules()
{
	run_here count --replay $index --transforms profiles/transforms "$@"
}

run_here count --replay $index
run_here count --replay $index --min 10 --top 2
with_rules --transform A --top 3 --metric bytes
with_rules --transform words --transform A -b --metric bytes
run_here count --replay $index --transform 'from ^add_' --transform 'to ^(split|stem)' --folded -
with_rules --transform words --transform A --csv
with_rules --csv -o function,self_allocations --top 3
with_rules --transform words --min 60 --json
with_rules --transform words --speedscope -
run_here count --replay $index --transform 'remove .'
run_here count --list-columns --replay x

# user-defined rule sets extend the built-in ones
printf '[A]\nreplace ^(xmalloc|A)$ => A\n[mine]\nremove ^add_\n' >"$XDG_CONFIG_HOME/memstate/transforms"
run_here count --replay $index --transform A --transform mine --folded -

# errors
run_here count --replay $index --metric lively
run_here count --replay $index --min 101
run_here count --replay $index --transform 'filter ('
run_here count --replay $index --transform none
run_here count --replay $index --transforms profiles/none
run_here count --replay $index --folded - --speedscope -
run_here count --replay $index --folded - --json
run_here count --replay $index --json -o no_such
run_here count --replay $index --top 1 --folded /dev/full
run_here count --replay $index --top 1 --folded /no/such/folder
run_here count --transform A -- true
cp profiles/transforms "$golden_dir/bad"
echo 'filter a+?' >>"$golden_dir/bad"
(cd "$golden_dir" && cp bad "$golden_dir/config/memstate/transforms")
run_here count --replay $index --transform A
run_here count --stacks --transform A -- true

finish
