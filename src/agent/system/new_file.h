/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * new_file - create a file for the calling process, FOLDER/PID.N, and map it. N is the
 * smallest unused number, starting from 0.
 *
 * The functions use libc and make system calls that a seccomp filter may forbid. Call
 * them only when the program starts, or in a forked child process before any filter is
 * active. The caller must ensure that only one thread at a time uses a struct new_file.
 * The functions change errno.
 */
#ifndef MS_AGENT_SYSTEM_NEW_FILE_H
#define MS_AGENT_SYSTEM_NEW_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NEW_FILE_PATH_BYTES 4096

struct new_file {
	/*
	 * path of the last file created; until the first file is created, path of
	 * the folder
	 */
	char path[NEW_FILE_PATH_BYTES];
	size_t folder_length; /* length of the folder's path, including the final slash */
};

struct new_file_layout {
	uint64_t mapped_bytes; /* size of the mapping, and maximum size of the file */
	/* number of bytes at the start of the file for which to allocate disk space */
	uint64_t head_bytes;
	/*
	 * another range of the file for which to allocate disk space; ignored if it is
	 * within the first head_bytes
	 */
	uint64_t part_offset, part_bytes;
};

/*
 * hide the following functions, so that code accesses them directly instead of through
 * the GOT; see agent/count/inside.h
 */
#pragma GCC visibility push(hidden)

/*
 * Set the folder for files. Return false if `folder` is NULL, not an absolute
 * path, or too long.
 */
bool new_file_set_folder(struct new_file *file, const char *folder);

/*
 * Create a file and map it shared. If an address is given, the mapping replaces existing
 * mappings at the address. The file has its full size from the start, with holes, so that
 * no descriptor is needed to extend it.
 *
 * The size of the file, *ret_bytes, is mapped_bytes or RLIMIT_FSIZE, whichever is
 * smaller. The mapping is never unmapped. On failure return NULL, and leave a file of
 * size 0, which shows readers that the creation failed.
 */
void *new_file_map(struct new_file *file, const struct new_file_layout *layout, void *at,
		   uint64_t *ret_bytes);

#pragma GCC visibility pop

#endif
