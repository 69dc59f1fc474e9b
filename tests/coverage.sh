#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# coverage.sh BUILD [FILE_PATTERN] - print which share of the lines of each layer was run,
# from the counts that tests left in a build with --coverage: "make coverage" makes that
# build and runs the tests. With a pattern, print the matching files instead.
#
# Lines count once, where they were compiled for a layer's library. gcov(1) belongs to the
# compiler; GCOV names another one.
set -eu

build=${1:?usage: coverage.sh BUILD [FILE_PATTERN]}
pattern=${2:-}
cd "$build"

# gcov prints two lines for each source of an object, headers included:
#	File '../src/base/num.c'
#	Lines executed:96.15% of 26
find src -name '*.gcno' -exec "${GCOV:-gcov}" -n {} + 2>/dev/null | awk -v pattern="$pattern" '
	/^File / {
		file = substr($0, 7, length($0) - 7)
		sub(/^.*\/src\//, "src/", file)
	}
	/^Lines executed:/ && file ~ /^src\/[a-z]+\/.*\.c$/ {
		split(substr($0, 16), word, /% of /)
		run = word[1] * word[2] / 100
		# code that several libraries contain: the one whose tests run most of it
		if (!(file in lines) || run > ran[file])
			ran[file] = run
		lines[file] = word[2]
		file = "" # the sum of all files follows the last one
	}
	END {
		if (pattern != "") {
			for (file in lines)
				if (file ~ pattern)
					printf "%-46s %6d lines %6.1f %%\n", file, lines[file],
						100 * ran[file] / lines[file]
			exit
		}
		for (file in lines) {
			split(file, part, "/")
			layer_lines[part[2]] += lines[file]
			layer_ran[part[2]] += ran[file]
		}
		count = split("base model proc tracee walk agent probe classify store sample render ui cmd", order, " ")
		printf "%-10s %8s %8s\n", "layer", "lines", "run"
		for (i = 1; i <= count; i++) {
			layer = order[i]
			if (!(layer in layer_lines))
				continue
			printf "%-10s %8d %7.1f%%\n", layer, layer_lines[layer],
				100 * layer_ran[layer] / layer_lines[layer]
			sum += layer_lines[layer]
			ran_sum += layer_ran[layer]
		}
		if (!sum) {
			print "no counts: run the tests of a build with --coverage first" >"/dev/stderr"
			exit 1
		}
		printf "%-10s %8d %7.1f%%\n", "all", sum, 100 * ran_sum / sum
	}' | if [ "$pattern" ]; then sort -k4n; else cat; fi
