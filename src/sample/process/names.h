/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * names - look up type and symbol names in a process's memory after the process
 * has resumed.
 *
 * The memory is opened before it is copied. Later reads therefore access the same address
 * space, or fail if the process has ended or executed another program.
 */
#ifndef MS_SAMPLE_PROCESS_NAMES_H
#define MS_SAMPLE_PROCESS_NAMES_H

#include "proc/system/procfs.h"
#include "tracee/memory/memory.h"
#include "tracee/symbols/symbols.h"
#include "walk/blocks/types.h"

struct names {
	struct memory memory;
	/* symbols of the process; NULL if memstate cannot read symbols */
	struct symbols *symbols;
	struct types *types;
};

#define NAMES_INIT                      \
	{                               \
		MEMORY_INIT, NULL, NULL \
	}

/*
 * Open the memory of the process, and close that of the previous process. If the memory
 * cannot be opened, no names will be found.
 */
void names_open(struct names *names, const struct procfs *fs, int pid);

/*
 * Set the mappings for reading the process's memory with names->memory, without loading
 * symbols and types. The mappings are borrowed until the next call of any function of
 * this module.
 */
void names_set_mappings(struct names *names, const struct mapping_list *mappings);

/*
 * Load symbols and types for these mappings, which are borrowed until the next call of
 * any function of this module.
 */
void names_begin(struct names *names, const struct mapping_list *mappings);

void names_release(struct names *names);

#endif
