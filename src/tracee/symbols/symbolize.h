/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbolize - find the functions and source lines of addresses in files. The programs
 * that had mapped the files may have ended.
 *
 * The files may be malicious, and only libdw can read their debug information. memstate
 * therefore runs libdw in a child process, and kills the child if it takes too much time
 * or memory. Addresses that the child does not resolve are looked up in the files' symbol
 * tables (elf_symbols), which have no source lines.
 */
#ifndef MS_TRACEE_SYMBOLS_SYMBOLIZE_H
#define MS_TRACEE_SYMBOLS_SYMBOLIZE_H

#include <stddef.h>
#include <stdint.h>

struct symbolize_file {
	const char *path;
	/*
	 * Build ID of the mapped file. If the file now has a different build ID, it is
	 * not used.
	 */
	const uint8_t *build_id;
	/* length of the build ID; 0 if the mapped file had none */
	size_t build_id_bytes;
	const uint64_t *vaddrs; /* addresses in the file, before relocation */
	size_t count;
};

struct code_frame {
	/* name as in the source code (mangled for Swift); NULL if unknown */
	const char *function;
	const char *file; /* path of the source file; NULL if unknown */
	uint32_t line;	  /* line number in the source file; 0 if unknown */
};

/*
 * Callback that receives the functions at an address. frames[0] is the innermost
 * function, and each function is inlined into the next. count is at least 1. The frames
 * are valid only during the call.
 */
typedef void symbolize_found(void *context, size_t file, size_t vaddr,
			     const struct code_frame *frames, size_t count);

/*
 * Resolve all addresses, and call found() once for each resolved address, in any order.
 * The function takes at most one minute.
 */
void symbolize(const struct symbolize_file *files, size_t count, symbolize_found *found,
	       void *context);

#endif
