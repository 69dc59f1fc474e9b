/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * own_time - a library to be preloaded: measures a program's own CPU time from exec to
 * its end, independently of how it is started and of other processes. It appends a line
 * "own time NS" to the file BENCH_OWN_TIME if the program's name is BENCH_PROGRAM.
 *
 * The library comes after other preloaded libraries, so that it ends after them and
 * measures the work that they do at the end.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

__attribute__((destructor)) static void say(void)
{
	const char *path = getenv("BENCH_OWN_TIME"), *name = getenv("BENCH_PROGRAM");
	struct timespec ts;
	char line[48];
	int fd, length;

	if (!path || !name || strcmp(name, program_invocation_short_name) != 0 ||
	    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts) < 0)
		return;
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	length = snprintf(line, sizeof(line), "own time %lld\n",
			  (long long)ts.tv_sec * 1000000000 + ts.tv_nsec);
	if (fd < 0 || write(fd, line, (size_t)length) != length)
		_exit(99);
	close(fd);
}
