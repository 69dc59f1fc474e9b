/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * allocator_code - determine from the ELF files that a process has mapped which
 * allocators are linked into it. memstate neither stops the process nor reads its memory.
 * It recognizes an allocator by a message or a table, which remains in a stripped
 * program.
 *
 * The files may be malicious: mapped_file_open() opens them, only mapped parts are
 * searched, and the number of searched bytes is limited.
 */
#ifndef MS_TRACEE_ELF_ALLOCATOR_CODE_H
#define MS_TRACEE_ELF_ALLOCATOR_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/mapping.h"
#include "model/usage.h"

struct allocator_code {
	/*
	 * True if all code was searched. False if a file cannot be opened or is too
	 * large, or if the process has code in anonymous memory, where a packed program
	 * stores its unpacked code.
	 */
	bool is_complete;
	/*
	 * true for each allocator that was found; the search covers glibc, jemalloc,
	 * tcmalloc, mimalloc and musl's mallocs
	 */
	bool is_found[ALLOCATOR_COUNT_];
	/* true if the tcmalloc that was found is gperftools' version */
	bool has_gperftools;
};

enum code_scope {
	CODE_ALL_FILES, /* search all files with executable mappings */
	/*
	 * Search only the program's own file, and only if it exports a malloc function,
	 * which then replaces the C library's malloc. Otherwise is_complete is false.
	 */
	CODE_PROGRAM,
};

#define ALLOCATOR_CODES_KEPT 64

/*
 * Cache of search results, with one entry for each set of mapped files. Initialise it
 * with zeros.
 */
struct allocator_codes {
	struct {
		uint64_t key; /* hash of the set of files; 0 if the entry is unused */
		struct allocator_code code;
	} kept[ALLOCATOR_CODES_KEPT];
};

/*
 * Search the mapped files for allocators, or return the cached result. process_fd is the
 * process's directory in /proc.
 */
struct allocator_code allocator_code_find(struct allocator_codes *codes, int process_fd,
					  const struct mapping_list *mappings,
					  enum code_scope scope);

#endif
