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
 * glibc uses mmap() for blocks of this size or more, so that realloc() can move them with
 * mremap() and the Rss of memstate stays small.
 */
#define MAPPED_BYTES_MIN 65536

/*
 * Open each of the descriptors 0 to 2 that is closed. Otherwise, the next file that
 * memstate opens, such as a recording, might become standard error, and messages would be
 * written into that file. Descriptor 0 is opened only for writing, and 1 and 2 only for
 * reading, so that using them still fails with EBADF. All of them are closed on exec, so
 * that commands inherit the closed descriptors.
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
 * Make a write beyond the file size limit (ulimit -f) fail with EFBIG instead of ending
 * memstate with SIGXFSZ. memstate can then report the error and remove its temporary
 * file. The signal is handled instead of ignored, because commands that memstate starts
 * would inherit an ignored signal.
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
	/* Exit without a message, because standard error may be closed. */
	if (occupy_standard_descriptors() < 0)
		return EXIT_FAILURE;
	survive_file_size_limit();
#ifdef M_MMAP_THRESHOLD
	mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES_MIN);
#endif
	return cmd_main(argc, argv);
}
