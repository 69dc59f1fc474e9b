/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * loaded - list the programs and libraries that a process has mapped, with their
 * addresses. memstate reads the mapped files themselves, even if their paths now refer
 * to other files.
 */
#ifndef MS_PROBE_BORROW_LOADED_H
#define MS_PROBE_BORROW_LOADED_H

#include <stdbool.h>
#include <stdint.h>

#include "model/mapping.h"
#include "tracee/elf/exports.h"

struct loaded {
	const struct mapping *first;
	const struct mapping_list *mappings; /* all mappings of the process */
	int fd;
	/* load bias: the address in the process minus the address in the file */
	uint64_t base_addr;
	struct elf_exports exports;
};

/*
 * Callback for each mapped file. Return 0 to continue, or -errno with *ret_reason, a
 * static string, to stop.
 */
typedef int loaded_fn(void *context, const struct loaded *file, const char **ret_reason);

/*
 * Call `add` once for each file with mapped code, in order of address. process_fd is a
 * descriptor of /proc/PID. Return the last result of `add`, or -errno with *ret_reason:
 * -EPERM, or -EAGAIN if the mappings changed during the read.
 */
int loaded_read_all(int process_fd, const struct mapping_list *mappings, loaded_fn *add,
		    void *context, const char **ret_reason);

/*
 * Return the address in the process of an exported symbol, or 0 if the file does not
 * export the symbol.
 */
uint64_t loaded_address(const struct loaded *file, const char *name);

bool loaded_is_linker(const struct loaded *file);

/* Return true if the file is the main program of the process. */
bool loaded_is_program(const struct loaded *file, int process_fd);

/*
 * Find the address range from the start of the file's first mapping to the end
 * of its last one.
 */
void loaded_find_extent(const struct loaded *file, uint64_t *ret_start_addr,
			uint64_t *ret_end_addr);

#endif
