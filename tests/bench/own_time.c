/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * own_time - a library to be preloaded: how much CPU time the program itself takes, from exec to the end, however it is started
 * and whoever runs beside it. Adds a line "own time NS" to the file BENCH_OWN_TIME if the program's name is BENCH_PROGRAM.
 *
 * It comes behind other libraries that are preloaded, so that it ends after them and has what they do at the end.
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
