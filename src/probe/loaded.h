/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * loaded - the programs and libraries that a process has mapped, each as it lies in its
 * memory: read from the files themselves, whatever their paths lead to by now.
 */
#ifndef MS_PROBE_LOADED_H
#define MS_PROBE_LOADED_H

#include <stdbool.h>
#include <stdint.h>

#include "model/mapping.h"
#include "target/elf_exports.h"

struct loaded {
	const struct mapping *first;
	const struct mapping_list *mappings; /* the process's */
	int fd;
	uint64_t base_addr; /* added to the file's own addresses */
	struct elf_exports exports;
};

/* Returns 0, or -errno, which ends it, with *ret_reason, static. */
typedef int loaded_fn(void *context, const struct loaded *file, const char **ret_reason);

/*
 * Each file that has code mapped, once, by address. process_fd is the process's directory
 * in /proc. Returns what add did; or -errno with *ret_reason: -EPERM, or -EAGAIN where
 * what it has mapped has changed since.
 */
int loaded_read_all(int process_fd, const struct mapping_list *mappings, loaded_fn *add,
		    void *context, const char **ret_reason);

/* Of what it exports by that name; 0: it does not. */
uint64_t loaded_address(const struct loaded *file, const char *name);

bool loaded_is_linker(const struct loaded *file);

#endif
