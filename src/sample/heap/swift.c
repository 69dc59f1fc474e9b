/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/heap/swift.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "base/xalloc.h"

#define LIMIT_NS (2 * NS_PER_S)
#define OUTPUT_MAX_BYTES (16 * MIB)

/*
 * Strings that precede the type name in the demangled symbol of a type's metadata table.
 */
static const char *const leads[] = { "full type metadata for ", "type metadata for " };

bool swift_name_is(const char *name)
{
	return name && (strncmp(name, "$s", 2) == 0 || strncmp(name, "_$s", 3) == 0) &&
	       !strchr(name, '\n');
}

/*
 * Start "swift demangle". Its input is a file rather than a pipe, so that the order of
 * its reads and writes does not matter. Return the pid or -errno.
 */
static int start(int input_fd, int output_fd, enum swift_names what)
{
	char *const args[] = {
		(char *)"swift",
		(char *)"demangle",
		(char *)"--compact",
		what == SWIFT_FUNCTIONS ? (char *)"--simplified" : NULL,
		NULL,
	};
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int r;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, input_fd, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, output_fd, STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY,
					 0);
	r = posix_spawnp(&pid, args[0], &actions, NULL, args, environ);
	posix_spawn_file_actions_destroy(&actions);
	return r ? -r : pid;
}

/*
 * Append everything that the program prints to *out. Return 0, -ETIMEDOUT,
 * -EFBIG, or another -errno.
 */
static int read_output(int fd, struct strbuf *out)
{
	uint64_t end_ns = clock_now_ns() + LIMIT_NS;

	while (out->length < OUTPUT_MAX_BYTES) {
		uint64_t now_ns = clock_now_ns();
		struct pollfd wait = { .fd = fd, .events = POLLIN };
		char bytes[4096];
		ssize_t got;

		if (now_ns >= end_ns)
			return -ETIMEDOUT;
		if (poll(&wait, 1, (int)((end_ns - now_ns) / NS_PER_MS) + 1) <= 0)
			continue;
		got = read(fd, bytes, sizeof(bytes));
		if (got == 0)
			return 0;
		if (got < 0 && errno != EINTR)
			return -errno;
		if (got > 0)
			strbuf_add(out, bytes, (size_t)got);
	}
	return -EFBIG;
}

static int run(int input_fd, struct strbuf *out, enum swift_names what)
{
	_cleanup_close_ int read_fd = -1;
	int pipe_fds[2], pid, r, status;

	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		return -errno;
	read_fd = pipe_fds[0];
	pid = start(input_fd, pipe_fds[1], what);
	close(pipe_fds[1]);
	if (pid < 0)
		return pid;
	r = read_output(read_fd, out);
	if (r < 0)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return r < 0 ? r : status ? -EIO : 0;
}

static char *copy_line(const char *line, size_t length)
{
	for (size_t i = 0; i < sizeof(leads) / sizeof(leads[0]); i++) {
		size_t lead = strlen(leads[i]);

		if (length > lead && strncmp(line, leads[i], lead) == 0)
			return xstrndup(line + lead, length - lead);
	}
	return xstrndup(line, length);
}

/*
 * Replace the Swift names with the lines of the output, which has one line per requested
 * name in the same order. Ignore the output if the number of lines differs.
 */
static void use_lines(const struct strbuf *out, char **names, size_t count, size_t asked)
{
	const char *line = strbuf_text(out);
	size_t lines = 0;

	for (size_t i = 0; i < out->length; i++)
		lines += line[i] == '\n';
	if (lines != asked)
		return;
	for (size_t i = 0; i < count; i++) {
		const char *end;

		if (!swift_name_is(names[i]))
			continue;
		end = strchr(line, '\n');
		if (!end)
			return; /* ignore output that contains a NUL byte */
		if (end > line) {
			free(names[i]);
			names[i] = copy_line(line, (size_t)(end - line));
		}
		line = end + 1;
	}
}

void swift_translate(char **names, size_t count, enum swift_names what)
{
	_cleanup_strbuf_ struct strbuf input = STRBUF_INIT, output = STRBUF_INIT;
	_cleanup_close_ int input_fd = -1;
	size_t asked = 0;

	for (size_t i = 0; i < count; i++)
		if (swift_name_is(names[i])) {
			strbuf_addf(&input, "%s\n", names[i]);
			asked++;
		}
	if (asked == 0)
		return;
	input_fd = memfd_create("names", MFD_CLOEXEC);
	if (input_fd < 0 || io_write_all(input_fd, input.text, input.length) < 0 ||
	    lseek(input_fd, 0, SEEK_SET) < 0)
		return;
	if (run(input_fd, &output, what) == 0)
		use_lines(&output, names, count, asked);
}
