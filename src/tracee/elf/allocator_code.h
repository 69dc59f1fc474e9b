/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * allocator_code - find out which allocators are linked into a process, from the ELF
 * files that it has mapped. The process is neither stopped nor read.
 *
 * An allocator is recognized by one of its messages, which remains in a stripped program.
 * The files are foreign: mapped_file_open() opens them, only mapped parts are searched,
 * and the amount is limited.
 */
#ifndef MS_TRACEE_ELF_ALLOCATOR_CODE_H
#define MS_TRACEE_ELF_ALLOCATOR_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/mapping.h"
#include "model/usage.h"

struct allocator_code {
	/*
	 * Everything was searched. False if a file cannot be opened or is too large, or
	 * if code is in anonymous memory, where packed programs unpack themselves.
	 */
	bool is_complete;
	bool is_found[ALLOCATOR_COUNT_]; /* glibc, jemalloc, tcmalloc and mimalloc only */
};

enum code_scope {
	CODE_ALL_FILES, /* all files with executable mappings */
	/*
	 * Only the program's own file, and only if it exports a malloc, which then
	 * replaces the C library's malloc. Otherwise is_complete is false.
	 */
	CODE_PROGRAM,
};

#define ALLOCATOR_CODES_KEPT 64

/* Cache of results for sets of files. Initialize it with zeros. */
struct allocator_codes {
	struct {
		uint64_t key; /* 0: unused */
		struct allocator_code code;
	} kept[ALLOCATOR_CODES_KEPT];
};

/*
 * Search the files, or return the cached result. process_fd is the process's directory
 * in /proc. Never fails.
 */
struct allocator_code allocator_code_find(struct allocator_codes *codes, int process_fd,
					  const struct mapping_list *mappings,
					  enum code_scope scope);

#endif
