/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count - read what the library that counts allocations has written, in all programs that
 * it was preloaded into.
 *
 * They are read like any file: the programs do nothing for it, and are not disturbed.
 * Nothing in the files is believed; one that makes no sense is as if it were not there.
 */
#ifndef MS_PROBE_COUNT_H
#define MS_PROBE_COUNT_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>

#include "model/count.h"

/*
 * The folder that the files are in; of its name a program is told by this variable of the
 * environment.
 */
extern const char count_folder_variable[];

/* Some of the files stay open: what is read again and again is read by few system calls. */
#define COUNT_FILES_KEPT 64

struct count_folder {
	char *path; /* NULL: there is none */
	int fd;
	DIR *dir;
	char *bytes; /* of one file, for reading */
	size_t capacity;
	struct count_file {
		int pid, fd;
		unsigned int generation;
	} files[COUNT_FILES_KEPT];
	size_t file_count;
};

#define COUNT_FOLDER_INIT { .fd = -1 }

/*
 * Make one that only this user may enter, in memory where that can be had; others that
 * processes that are no more left there are removed. Returns 0, or -errno, with
 * *ret_where naming where it was tried last (static): -ENOSPC also if there is no room
 * for a file.
 */
int count_folder_create(struct count_folder *folder, const char **ret_where);

/* Remove it with all that is in it. */
void count_folder_release(struct count_folder *folder);

/* Why a program may have no file in the folder, as far as can be determined now. Static. */
const char *count_folder_problem(const struct count_folder *folder);

/* Read all: *list is emptied first. Returns 0 or -errno of the folder. */
int count_folder_read(struct count_folder *folder, struct count_list *list);

enum count_library {
	COUNT_LIBRARY_BLOCKS,
	COUNT_LIBRARY_CALLS, /* counts nothing but calls, and is faster */
	COUNT_LIBRARY_STACKS, /* records stacks too: agent/stack_abi.h */
};

/*
 * The library that counts; with_new one that counts C++'s new and delete too, for an
 * allocator that is preloaded behind it and has them. As agent_library_find().
 */
int count_find_library(enum count_library library, bool with_new, char **ret);

#endif
