/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dwarf_frames - find the functions and source lines of addresses in an ELF file, from
 * its debug information or, without debug information, from its symbols. Only this module
 * uses libdw, and it loads the library when it opens the first file. libdw is not
 * hardened against malicious files. Use this module in a child process that may crash or
 * be killed, as symbolize does.
 */
#ifndef MS_TRACEE_SYMBOLS_DWARF_FRAMES_H
#define MS_TRACEE_SYMBOLS_DWARF_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

/* Maximum number of functions per address, which is the maximum depth of inlining. */
#define DWARF_FRAMES_MAX 64

/* A function at an address, and its source line. */
struct dwarf_frame {
	struct strbuf function; /* name as in the source code; empty if unknown */
	/* path of the source file, borrowed from libdw; NULL if unknown */
	const char *file;
	uint32_t line; /* line number in the source file; 0 if unknown */
};

struct dwarf_file;

/*
 * Open a file, and take ownership of fd, even on failure. The module finds debug files by
 * build ID and .gnu_debuglink, below /usr/lib/debug and on the servers in
 * DEBUGINFOD_URLS. Return NULL if the file cannot be opened, or without libdw.
 */
struct dwarf_file *dwarf_file_open(int fd, const char *path);
void dwarf_file_free(struct dwarf_file *file);

/*
 * Find the functions from which the code at vaddr was compiled; vaddr is an address
 * before relocation. The innermost function is first; each function is inlined into the
 * next. Return the number of functions. The next call overwrites *ret.
 */
size_t dwarf_file_find(struct dwarf_file *file, uint64_t vaddr,
		       const struct dwarf_frame **ret);

#endif
