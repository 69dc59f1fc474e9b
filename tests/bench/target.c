/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * target MAPPINGS MIB - a process with about this many mappings and this much Rss. Prints
 * "ready" and waits until its parent ends.
 */
#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "bench.h"

int main(int argc, char **argv)
{
	size_t size;

	if (argc != 3) {
		fputs("usage: target MAPPINGS MIB\n", stderr);
		return 2;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	bench_make_mappings(bench_number(argv[1]), bench_number(argv[2]) << 20, &size);
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}
