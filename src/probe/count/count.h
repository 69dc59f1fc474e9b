/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count - read the counts of all programs into which the counting library was preloaded.
 *
 * The library writes the counts to files. memstate only reads these files, which does not
 * disturb the programs. memstate does not trust the files, and ignores files with invalid
 * contents.
 */
#ifndef MS_PROBE_COUNT_COUNT_H
#define MS_PROBE_COUNT_COUNT_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>

#include "model/count.h"
#include "probe/count/names.h"

/* The environment variable that contains the path of the folder for counts files. */
extern const char count_folder_variable[];

/*
 * Maximum number of counts files that memstate keeps open. Keeping a file open saves
 * system calls when memstate reads it again.
 */
#define COUNT_FILES_KEPT 64

struct count_folder {
	char *path; /* path of the folder; NULL if there is no folder */
	int fd;
	DIR *dir;
	char *bytes; /* buffer for the contents of one counts file */
	size_t capacity;
	struct count_file {
		int pid, fd;
		unsigned int generation;
	} files[COUNT_FILES_KEPT];
	size_t file_count;
};

#define COUNT_FOLDER_INIT \
	{                 \
		.fd = -1  \
	}

/*
 * Create a folder that only this user may enter, on a file system in memory if possible.
 * Also remove folders left by memstate processes that no longer exist. Return 0; or
 * -errno, with *ret_where set to the parent folder that was tried last, a static string.
 * If there is no space for a counts file, the error is -ENOSPC.
 */
int count_folder_create(struct count_folder *folder, const char **ret_where);

/* Remove the folder for counts files and all files in it. */
void count_folder_release(struct count_folder *folder);

/* Return a static string that explains why a program may have no counts file. */
const char *count_folder_problem(const struct count_folder *folder);

/*
 * Empty *list, then read all counts files into it. Return 0, or -errno if the
 * folder cannot be read.
 */
int count_folder_read(struct count_folder *folder, struct count_list *list);

enum count_library {
	COUNT_LIBRARY_BLOCKS,
	/*
	 * the faster variant of the counting library, which counts only calls
	 * and requested bytes
	 */
	COUNT_LIBRARY_CALLS,
	/*
	 * The variant of the counting library that also records call stacks
	 * (agent/count/stack_abi.h).
	 */
	COUNT_LIBRARY_STACKS,
};

/*
 * Find the counting library. If with_new is true, find the variant that also counts C++
 * new and delete, for a preloaded allocator that defines these operators. Return the same
 * values as agent_library_find().
 */
int count_find_library(enum count_library library, bool with_new, char **ret);

/*
 * Find the library that counts the additional entry points of a family of allocators. It
 * must be preloaded after the counting library. Return the same values as
 * agent_library_find().
 */
int count_find_family_library(enum count_family family, char **ret);

#endif
