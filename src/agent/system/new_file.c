/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "agent/system/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define GENERATIONS_MAX 100000
#define NUMBERS_BYTES 64 /* space in a path for the file name "PID.N" */

/* Write the number in decimal, followed by a NUL. Return the address of the NUL. */
static char *add_number(char *to, unsigned int number)
{
	char digits[16];
	size_t count = 0;

	do
		digits[count++] = (char)('0' + number % 10);
	while (number /= 10);
	while (count > 0)
		*to++ = digits[--count];
	*to = '\0';
	return to;
}

bool new_file_set_folder(struct new_file *file, const char *folder)
{
	if (!folder || folder[0] != '/' ||
	    strlen(folder) > NEW_FILE_PATH_BYTES - NUMBERS_BYTES)
		return false;
	file->folder_length =
		(size_t)(stpcpy(stpcpy(file->path, folder), "/") - file->path);
	return true;
}

/*
 * Allocate disk space for a range of the file. Without disk space, a write to the mapped
 * file would kill the program with SIGBUS when the disk is full.
 */
static bool reserve(int fd, uint64_t offset, uint64_t bytes)
{
	return fallocate(fd, 0, (off_t)offset, (off_t)bytes) == 0;
}

/*
 * Return the maximum file size, RLIMIT_FSIZE. If a file exceeded this size, the kernel
 * would kill the program with SIGXFSZ.
 */
static uint64_t find_limit(uint64_t max_bytes)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) < 0)
		return 0;
	return limit.rlim_cur < max_bytes ? limit.rlim_cur : max_bytes;
}

static int create(struct new_file *file)
{
	char *end = add_number(file->path + file->folder_length, (unsigned int)getpid());

	*end++ = '.';
	for (unsigned int n = 0; n < GENERATIONS_MAX; n++) {
		int fd;

		add_number(end, n);
		fd = open(file->path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			  0600);
		if (fd >= 0 || errno != EEXIST)
			return fd;
	}
	return -1;
}

void *new_file_map(struct new_file *file, const struct new_file_layout *layout, void *at,
		   uint64_t *ret_bytes)
{
	uint64_t part_end = layout->part_offset + layout->part_bytes;
	uint64_t limit = find_limit(layout->mapped_bytes);
	int fd = create(file);
	void *p = MAP_FAILED;

	if (fd < 0)
		return NULL;
	if (part_end <= limit && reserve(fd, 0, layout->head_bytes) &&
	    (part_end <= layout->head_bytes ||
	     reserve(fd, layout->part_offset, layout->part_bytes)) &&
	    ftruncate(fd, (off_t)limit) == 0)
		p = mmap(at, layout->mapped_bytes, PROT_READ | PROT_WRITE,
			 MAP_SHARED | (at ? MAP_FIXED : 0), fd, 0);
	if (p == MAP_FAILED && ftruncate(fd, 0) < 0)
		unlink(file->path);
	close(fd);
	if (p == MAP_FAILED)
		return NULL;
	*ret_bytes = limit;
	return p;
}
