/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hook_places - find the memory words and instructions through which a program and its
 * libraries call malloc and related functions.
 */
#ifndef MS_PROBE_COUNT_HOOK_PLACES_H
#define MS_PROBE_COUNT_HOOK_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/count/hooks.h"
#include "model/mapping.h"
#include "probe/count/hook_copies.h"

struct hook_place {
	uint64_t addr;
	/*
	 * current contents: the function's address, or the code that resolves it at the
	 * first call
	 */
	uint64_t found;
	enum hook hook;
	/*
	 * True if the slot is used only for calls. False if the program may also read the
	 * function's address from the slot.
	 */
	bool is_for_calls;
	/*
	 * an initialized variable, to which the program may have assigned
	 * another function
	 */
	bool is_variable;
	/*
	 * A call or jump in the program's code: addr is the address of its 4-byte
	 * distance (call_sites.h), and found is its target.
	 */
	bool is_call_site;
};

/*
 * Return the target of a call or jump with this distance; addr is the address of
 * the distance.
 */
static inline uint64_t hook_place_target(uint64_t addr, int32_t distance)
{
	return addr + sizeof(distance) + (uint64_t)(int64_t)distance;
}

/*
 * Compute the distance for a call or jump to target. Return false if target is too
 * far away.
 */
static inline bool hook_place_distance(uint64_t addr, uint64_t target, int32_t *ret)
{
	int64_t distance = (int64_t)(target - (addr + sizeof(*ret)));

	*ret = (int32_t)distance;
	return distance == *ret;
}

/*
 * Return true if all call sites from sites_addr to sites_end_addr are close enough to
 * addr to call gates (jumps to hooks) there.
 */
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
	/* addresses of the original functions, or 0 if not found */
	uint64_t originals[HOOK_COUNT_];
	char allocator[256]; /* path of the file that defines malloc */
	/* number of files that contain addresses or calls to patch */
	size_t file_count;
	/*
	 * number of addresses and calls that refer to functions other
	 * than the allocator's
	 */
	size_t other_count;
	/* number of patched addresses that are copies made by the program at run time */
	size_t copied_count;
	/*
	 * number of copies that are not patched, because the program contains its own
	 * allocator, which may use the copies itself
	 */
	size_t missed_count;
	/* number of bytes of data that could not be searched for copies */
	uint64_t unread_bytes;
	/* copies outside the files' data; counted only with searches_heap */
	struct heap_words heap;
	/*
	 * address range from the first call site to the last, or 0, 0 if
	 * there are no call sites
	 */
	uint64_t sites_addr, sites_end_addr;
};

#define HOOK_PLACES_INIT      \
	{                     \
		.items = NULL \
	}

/*
 * Hooks that are already in the process, to which some addresses may already refer.
 * base_addr is 0 if there are no hooks.
 */
struct hooks_there {
	uint64_t base_addr, gates_addr;
	/* the original functions, indexed by enum hook, which no longer change */
	const uint64_t *originals;
};

/*
 * While the process runs, find the addresses and calls that do not refer to the existing
 * hooks yet. process_fd is a descriptor of /proc/PID, mem_fd of /proc/PID/mem. Return 0;
 * -ENOENT (no malloc), -EOPNOTSUPP (the program has its own malloc), -ENODATA (the
 * process allocates through functions without hooks), or an error from loaded_read_all().
 * On each failure *ret_reason is a static string.
 */
struct hook_places_source {
	int process_fd, mem_fd;
	const struct mapping_list *mappings;
	struct hooks_there there;
	/*
	 * Find the addresses and calls that already lead to the hooks in `there`, rather
	 * than those that do not. An original in `there` is used only if a file of the
	 * process exports the function at that address; otherwise it is 0.
	 */
	bool finds_leading;
	/* Also count the copies of the functions' addresses outside the files' data. */
	bool searches_heap;
};
int hook_places_read(const struct hook_places_source *source, struct hook_places *ret,
		     const char **ret_reason);
void hook_places_release(struct hook_places *places);

#endif
