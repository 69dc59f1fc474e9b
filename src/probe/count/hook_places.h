/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hook_places - find the places where the program and the libraries of a process store
 * the addresses of malloc and related functions in order to call them.
 */
#ifndef MS_PROBE_COUNT_HOOK_PLACES_H
#define MS_PROBE_COUNT_HOOK_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/count/hooks.h"
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
	/* an initialized variable; the program may have assigned something else */
	bool is_variable;
	/*
	 * A call or jump in the code of the program: at addr are the 4 bytes of its distance,
	 * see call_sites.h. found is where it leads.
	 */
	bool is_call_site;
};

/* Where a call or jump leads whose distance, these 4 bytes, is at addr; and the other way round. */
static inline uint64_t hook_place_leads_to(uint64_t addr, int32_t distance)
{
	return addr + sizeof(distance) + (uint64_t)(int64_t)distance;
}

/* False if it is too far away. */
static inline bool hook_place_distance(uint64_t addr, uint64_t target, int32_t *ret)
{
	int64_t distance = (int64_t)(target - (addr + sizeof(*ret)));

	*ret = (int32_t)distance;
	return distance == *ret;
}

/* Whether all call sites from sites_addr to sites_end_addr reach code at addr. */
static inline bool hook_places_are_near(uint64_t sites_addr, uint64_t sites_end_addr,
					uint64_t addr)
{
	int32_t unused;

	return sites_end_addr == 0 ||
	       (hook_place_distance(sites_addr, addr, &unused) &&
		hook_place_distance(sites_end_addr, addr, &unused) &&
		hook_place_distance(sites_addr, addr + GATES_BYTES, &unused) &&
		hook_place_distance(sites_end_addr, addr + GATES_BYTES, &unused));
}

struct hook_places {
	struct hook_place *items;
	size_t count, capacity;
	/* addresses of the original functions; 0: there is none */
	uint64_t originals[HOOK_COUNT_];
	char allocator[256]; /* the file that contains malloc */
	size_t file_count;   /* number of files with these places */
	size_t other_count;  /* places that lead elsewhere */
	uint64_t sites_addr,
		sites_end_addr; /* from the first call site to the last; 0, 0: none */
};

#define HOOK_PLACES_INIT      \
	{                     \
		.items = NULL \
	}

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

/*
 * Return an address below the program that is free and near these call sites, or 0. Above
 * the program the heap grows.
 */
uint64_t hook_places_find_room(const struct mapping_list *mappings, uint64_t sites_addr);

/* Return a checksum of the mapped code: if it changes, so have the libraries. */
uint64_t hook_places_sum_code(const struct mapping_list *mappings);

#endif
