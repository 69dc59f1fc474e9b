/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbolize - find the functions and source lines of addresses in files. The programs
 * that had mapped the files may have ended. The files may be malicious, and only libdw
 * can read their debug information. A child process therefore runs libdw, and is killed
 * when it takes too much time or memory. For addresses that the child does not resolve,
 * the fallback is the symbols of the files (elf_symbols), which have no source lines.
 */
#ifndef MS_TRACEE_SYMBOLS_SYMBOLIZE_H
#define MS_TRACEE_SYMBOLS_SYMBOLIZE_H

#include <stddef.h>
#include <stdint.h>

struct symbolize_file {
	const char *path;
	/*
	 * Build ID of the file that was mapped. If the file has a different build ID now,
	 * it is not used.
	 */
	const uint8_t *build_id;
	size_t build_id_bytes;	/* 0 if the mapped file had no build ID */
	const uint64_t *vaddrs; /* addresses in the file, before relocation */
	size_t count;
};

struct code_frame {
	/* name as in the source (mangled for Swift), or NULL if unknown */
	const char *function;
	const char *file; /* name of the source file, or NULL if unknown */
	uint32_t line;	  /* number of the source line, or 0 if unknown */
};

/*
 * Called with the functions at an address. frames[0] is the innermost function, and
 * each function was inlined into the next. count is at least 1. The frames are valid
 * only during the call.
 */
typedef void symbolize_found(void *context, size_t file, size_t vaddr,
			     const struct code_frame *frames, size_t count);

/*
 * Resolve all addresses, and call found() once for each address that can be resolved, in
 * any order. Takes at most one minute.
 */
void symbolize(const struct symbolize_file *files, size_t count, symbolize_found *found,
	       void *context);

#endif
