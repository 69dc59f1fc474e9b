/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dwarf_frames - functions and source lines of the addresses in an ELF file, by its debug
 * information, or else its symbols. The only user of libdw, which is loaded with the
 * first file.
 *
 * libdw is not made for files that want to harm: this is for a process of its own, which
 * may crash, or be ended; see symbolize.
 */
#ifndef MS_TRACEE_SYMBOLS_DWARF_FRAMES_H
#define MS_TRACEE_SYMBOLS_DWARF_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

/* As deep as functions compiled into one another are followed. */
#define DWARF_FRAMES_MAX 64

/* Where code is in the source. */
struct dwarf_frame {
	struct strbuf function; /* as in the source; empty: unknown */
	const char *file;	/* NULL: unknown. Borrowed from libdw */
	uint32_t line;		/* 0: unknown */
};

struct dwarf_file;

/* libdw is there, and this was built with it. Loads it. */
bool dwarf_frames_can_be_found(void);

/*
 * Open a file; fd is taken in any case. Debug files are found by build-id and by
 * .gnu_debuglink below /usr/lib/debug and, where DEBUGINFOD_URLS names servers, there.
 * NULL if it cannot be, or there is no libdw.
 */
struct dwarf_file *dwarf_file_open(int fd, const char *path);
void dwarf_file_free(struct dwarf_file *file);

/*
 * The functions that the code at vaddr, as the file has it, is from: the innermost first,
 * each compiled into the one after it. Returns how many; those are overwritten by the
 * next call.
 */
size_t dwarf_file_find(struct dwarf_file *file, uint64_t vaddr,
		       const struct dwarf_frame **ret);

#endif
