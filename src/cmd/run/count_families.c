/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/run/count_families.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/xalloc.h"
#include "cmd/run/child.h"
#include "cmd/run/program.h"
#include "probe/count/count.h"
#include "probe/count/entries.h"
#include "tracee/elf/exports.h"

/*
 * Maximum size in bytes of the loader's list of libraries. The list of any real program
 * is far shorter.
 */
#define LIST_BYTES_MAX (1 << 20)

/* Run the loader, and append its output to out. Return 0 or -errno. */
static int read_list(char **argv, struct strbuf *out)
{
	_cleanup_close_ int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	_cleanup_close_ int read_fd = -1;
	struct child child = { 0 };
	struct child_setup setup = { .input_fd = null_fd, .error_fd = null_fd };
	int fds[2], r;

	if (null_fd < 0 || pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	read_fd = fds[0];
	setup.output_fd = fds[1];
	r = child_start(&child, argv, &setup);
	close(fds[1]);
	if (r == 0) {
		r = io_read_all(read_fd, LIST_BYTES_MAX, out);
		child_wait(&child);
	}
	return r;
}

static void add_file(const char *path, struct count_entries *entries)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct elf_exports exports = ELF_EXPORTS_INIT;

	if (fd < 0)
		return;
	(void)elf_exports_read(fd, &exports);
	count_entries_add(fd, &exports, entries);
	elf_exports_release(&exports);
}

/*
 * Parse a line of the loader's list: "libm.so.6 => /lib/libm.so.6 (0x00007f1b...)", or
 * only a path and an address.
 */
static void add_line(char *line, struct count_entries *entries)
{
	char *arrow = strstr(line, " => "),
	     *path = arrow ? arrow + 4 : line + strspn(line, "\t ");
	char *end = strstr(path, " (0x");

	if (!end || path[0] != '/')
		return;
	*end = '\0';
	add_file(path, entries);
}

/*
 * Add the imports and exports of the program and its libraries. With "--list", the
 * program's own loader prints all libraries, including those of LD_PRELOAD, without
 * running the program.
 */
static void add_libraries(const char *command, struct count_entries *entries)
{
	_cleanup_free_ char *path = NULL, *loader = NULL;
	_cleanup_strbuf_ struct strbuf list = STRBUF_INIT;
	static char option[] = "--list";
	char *line, *rest;

	if (!program_find_loader(command, &path, &loader))
		return;
	add_file(path, entries);
	if (read_list((char *[]){ loader, option, path, NULL }, &list) < 0 ||
	    list.length == 0)
		return;
	rest = list.text;
	while ((line = strsep(&rest, "\n")))
		add_line(line, entries);
}

static bool is_called(const struct count_entries *entries, size_t name)
{
	return entries->is_imported[name] || entries->is_weak[name];
}

const char *count_families_find(const char *command, const char *allocator,
				struct strbuf *out)
{
	struct count_entries entries = { .is_imported = { false } };
	const char *lacking[COUNT_FAMILY_COUNT_] = { NULL }, *ret = NULL;
	bool is_wanted[COUNT_FAMILY_COUNT_] = { false };

	add_libraries(command, &entries);
	if (allocator)
		add_file(allocator, &entries);
	for (size_t i = COUNTED_STANDARD_COUNT; i < COUNTED_NAME_COUNT; i++) {
		enum count_family family = counted_names[i].family;

		if (is_called(&entries, i) && entries.is_exported[i])
			is_wanted[family] = true;
		else if (is_called(&entries, i))
			lacking[family] = counted_names[i].name;
	}
	for (int i = 0; i < COUNT_FAMILY_COUNT_; i++) {
		_cleanup_free_ char *library = NULL;

		if (is_wanted[i] && lacking[i])
			ret = lacking[i];
		else if (is_wanted[i] &&
			 count_find_family_library((enum count_family)i, &library) == 0)
			strbuf_addf(out, ":%s", library);
	}
	return ret;
}
