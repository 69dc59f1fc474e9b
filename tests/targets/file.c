/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A private mapping of a file: all of it is read, and a part is
 * written, which makes copies.
 */
#include "config.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <linux/magic.h>
#include <unistd.h>

#include "target.h"

static void fill(int fd, size_t size)
{
	char page[4096];

	memset(page, 0x5a, sizeof(page));
	for (size_t done = 0; done < size; done += sizeof(page))
		if (write(fd, page, sizeof(page)) != (ssize_t)sizeof(page))
			target_fail("write");
	/* a page counts as dirty until it has been written to disk */
	if (fsync(fd) < 0)
		target_fail("fsync");
}

void file_run(char **args)
{
	size_t size = target_number(args[1]);
	size_t written = target_number(args[2]);
	int fd = open(args[0], O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	struct statfs fs;
	char *p;

	if (fd < 0 || fstatfs(fd, &fs) < 0)
		target_fail(args[0]);
	fill(fd, size);
	if (!args[3])
		unlink(args[0]);
	if (fs.f_type == TMPFS_MAGIC)
		target_skip("the directory is on a tmpfs: no file of a disk to map");
	p = target_map(size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd);
	close(fd);
	target_read(p, size);
	target_write(p, written);
	target_say("rss_bytes", size);
	target_say("private_dirty_bytes", written);
	target_say("clean_bytes", size - written);
}
