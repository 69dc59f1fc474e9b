/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hook_places - find the places where the program and the libraries of a process store
 * the addresses of malloc and related functions in order to call them.
 */
#ifndef MS_PROBE_HOOK_PLACES_H
#define MS_PROBE_HOOK_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/count_hooks.h"
#include "model/mapping.h"

struct hook_place {
	uint64_t addr;
	/*
	 * the current contents: the function, or the code that looks it
	 * up at the first call
	 */
	uint64_t found;
	enum hook hook;
	/* otherwise the program may also take the function's address */
	bool is_for_calls;
};

struct hook_places {
	struct hook_place *items;
	size_t count, capacity;
	/* addresses of the original functions; 0: there is none */
	uint64_t originals[HOOK_COUNT_];
	char allocator[256];		 /* the file that contains malloc */
	size_t file_count;		 /* number of files with these places */
	size_t other_count;		 /* places that lead elsewhere */
};

#define HOOK_PLACES_INIT { .items = NULL }

/* Existing hooks, to which some places may already lead; base_addr 0: none. */
struct hooks_there {
	uint64_t base_addr, gates_addr;
	/* the original functions, by enum hook; they do not change any more */
	const uint64_t *originals;
};

/*
 * Find the places that do not lead to the existing hooks, while the process runs.
 * process_fd is its directory in /proc, mem_fd its mem. Return 0; -ENOENT (no malloc),
 * -EOPNOTSUPP (the program has its own malloc), -ENODATA (it allocates through functions
 * without hooks), or an error of loaded_read_all(); with *ret_reason (static).
 */
struct hook_places_source {
	int process_fd, mem_fd;
	const struct mapping_list *mappings;
	struct hooks_there there;
	/*
	 * Find the places that do lead to the existing hooks instead. Their
	 * originals are those of `there` that a file of the process exports under
	 * that name; all others are 0.
	 */
	bool finds_leading;
};
int hook_places_read(const struct hook_places_source *source, struct hook_places *ret,
		     const char **ret_reason);
void hook_places_release(struct hook_places *places);

/* Return a checksum of the mapped code: if it changes, so have the libraries. */
uint64_t hook_places_sum_code(const struct mapping_list *mappings);

#endif
