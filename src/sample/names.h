/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * names - of the types and symbols in a process's memory, asked for after it was let go.
 *
 * Opened before the memory is copied: what is read later is of that address space, or is
 * not read.
 */
#ifndef MS_SAMPLE_NAMES_H
#define MS_SAMPLE_NAMES_H

#include "proc/procfs.h"
#include "target/memory.h"
#include "target/symbols.h"
#include "walk/types.h"

struct names {
	struct memory memory;
	struct symbols *symbols; /* NULL if they cannot be had */
	struct types *types;
};

#define NAMES_INIT                      \
	{                               \
		MEMORY_INIT, NULL, NULL \
	}

/* Forgets what was open. What cannot be opened has no names. */
void names_open(struct names *names, const struct procfs *fs, int pid);

/*
 * Now with its mappings, which are borrowed until the next call of any of these: symbols
 * and types are there.
 */
void names_begin(struct names *names, const struct mapping_list *mappings);

void names_release(struct names *names);

#endif
