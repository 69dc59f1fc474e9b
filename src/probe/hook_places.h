/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hook_places - where the program and the libraries of a process keep the addresses of
 * malloc and its like, through which they call them.
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
	uint64_t found; /* what is there: the function, or what looks it up at the first call */
	enum hook hook;
	bool is_for_calls; /* else its address may be taken, too */
};

struct hook_places {
	struct hook_place *items;
	size_t count, capacity;
	uint64_t originals[HOOK_COUNT_]; /* the functions; 0: there is none */
	char allocator[256];		 /* the file of malloc */
	size_t file_count;		 /* whose places these are */
	size_t other_count;		 /* places that lead to something else */
};

#define HOOK_PLACES_INIT { .items = NULL }

/* What some of the places lead to already; base_addr 0: there is none. */
struct hooks_there {
	uint64_t base_addr, gates_addr;
	const uint64_t *originals; /* the functions behind, by enum hook: they stay what they are */
};

/*
 * Read those that do not lead there, while the process runs. process_fd is its directory
 * in /proc, mem_fd its mem. Returns 0; -ENOENT (there is no malloc), -EOPNOTSUPP (the program has its own),
 * -ENODATA (it allocates through functions that have no hooks), or as loaded_read_all(); with *ret_reason, static.
 */
struct hook_places_source {
	int process_fd, mem_fd;
	const struct mapping_list *mappings;
	struct hooks_there there;
	/*
	 * Find the places that do lead there instead. originals are those of `there` that a
	 * file of the process exports under that name, and 0 for others.
	 */
	bool finds_leading;
};
int hook_places_read(const struct hook_places_source *source, struct hook_places *ret,
		     const char **ret_reason);
void hook_places_release(struct hook_places *places);

/* Which code is mapped: another sum, other libraries. */
uint64_t hook_places_sum_code(const struct mapping_list *mappings);

#endif
