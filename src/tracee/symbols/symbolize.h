/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbolize - functions and source lines of addresses in files, after the programs that
 * had them mapped may have ended.
 *
 * Files are foreign, and so large that only libdw reads them: it does that in a process of
 * its own, which is ended when it takes too long or too much memory. What that one does
 * not say before it ends, the files' symbols do (elf_symbols), without lines.
 */
#ifndef MS_TRACEE_SYMBOLS_SYMBOLIZE_H
#define MS_TRACEE_SYMBOLS_SYMBOLIZE_H

#include <stddef.h>
#include <stdint.h>

struct symbolize_file {
	const char *path;
	/* Of the file that was mapped. One that has another by now has no names. */
	const uint8_t *build_id;
	size_t build_id_bytes;	/* 0: it has none */
	const uint64_t *vaddrs; /* as the file has them, before it is moved */
	size_t count;
};

struct code_frame {
	const char *function; /* as in the source, but Swift's. NULL: unknown */
	const char *file;     /* NULL: unknown */
	uint32_t line;	      /* 0: unknown */
};

/*
 * The code at an address: frames[0] is what it is from, and each was compiled into the
 * one after it. At least one; borrowed for the call.
 */
typedef void symbolize_found(void *context, size_t file, size_t vaddr,
			     const struct code_frame *frames, size_t count);

/*
 * Call found() once for each address that something is known of, in any order. Takes at
 * most a minute.
 */
void symbolize(const struct symbolize_file *files, size_t count, symbolize_found *found,
	       void *context);

#endif
