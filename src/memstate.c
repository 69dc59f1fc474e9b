/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmd/commands.h"

/*
 * glibc maps blocks of this size or more on their own, so that realloc() can mremap()
 * them and the Rss of memstate stays small.
 */
#define MAPPED_BYTES_MIN 65536

/*
 * Occupy the descriptors from 0 to 2 that the caller has closed. Otherwise the next file
 * that memstate opens, such as a recording, becomes its standard error, and messages are
 * written into it. Each is opened the wrong way round, so that using it still fails with
 * EBADF, and a command that memstate starts finds it closed.
 */
static int occupy_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		int mode = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;

		if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF)
			continue;
		if (open("/dev/null", mode | O_CLOEXEC) != fd)
			return -1;
	}
	return 0;
}

static void ignore_signal(int number)
{
	(void)number;
}

/*
 * Make a write beyond the limit of file sizes (ulimit -f) fail with EFBIG, which is
 * reported and leaves no temporary file behind, where SIGXFSZ would end memstate. A
 * handler, other than SIG_IGN, is not inherited by the commands that memstate starts.
 */
static void survive_file_size_limit(void)
{
	struct sigaction before;

	if (sigaction(SIGXFSZ, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
		sigaction(SIGXFSZ,
			  &(struct sigaction){ .sa_handler = ignore_signal,
					       .sa_flags = SA_RESTART },
			  NULL);
}

int main(int argc, char **argv)
{
	/* Standard error may be the one that is missing: there is no message. */
	if (occupy_standard_descriptors() < 0)
		return EXIT_FAILURE;
	survive_file_size_limit();
#ifdef M_MMAP_THRESHOLD
	mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES_MIN);
#endif
	return cmd_main(argc, argv);
}
