/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dwarf_frames - find the functions and source lines of addresses in an ELF file, from
 * its debug information, or else from its symbols. Only this module uses libdw, which is
 * loaded with the first file.
 *
 * libdw is not hardened against malicious files: use this module in a child process,
 * which may crash or be killed; see symbolize.
 */
#ifndef MS_TRACEE_SYMBOLS_DWARF_FRAMES_H
#define MS_TRACEE_SYMBOLS_DWARF_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

/* The maximum depth of inlined functions that is followed. */
#define DWARF_FRAMES_MAX 64

/* The source location of code. */
struct dwarf_frame {
	struct strbuf function; /* as in the source; empty: unknown */
	const char *file;	/* NULL: unknown. Borrowed from libdw */
	uint32_t line;		/* 0: unknown */
};

struct dwarf_file;

/* Load libdw. Return true if it is available and memstate was built with it. */
bool dwarf_frames_can_be_found(void);

/*
 * Open a file, and take ownership of fd, even on failure. Debug files are
 * found by build-id and .gnu_debuglink below /usr/lib/debug, and on the
 * servers that DEBUGINFOD_URLS names. Return NULL if the file cannot be
 * opened, or if there is no libdw.
 */
struct dwarf_file *dwarf_file_open(int fd, const char *path);
void dwarf_file_free(struct dwarf_file *file);

/*
 * Find the functions that the code at vaddr, an address as in the file, comes from. The
 * innermost function is first; each is inlined into the next. Return their number. The
 * next call overwrites *ret.
 */
size_t dwarf_file_find(struct dwarf_file *file, uint64_t vaddr,
		       const struct dwarf_frame **ret);

#endif
