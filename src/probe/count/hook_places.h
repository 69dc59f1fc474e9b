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
	 * contents of the slot: the address of the function, or of the code that resolves
	 * the function at the first call
	 */
	uint64_t found;
	enum hook hook;
	/*
	 * True if the program uses the slot only for calls. If false, the program may
	 * also read the function's address from the slot.
	 */
	bool is_for_calls;
	/*
	 * true for an initialized variable, to which the program may have assigned
	 * another function
	 */
	bool is_variable;
	/*
	 * True for a call or jump in the program's code. addr is then the address of the
	 * instruction's 4-byte displacement (call_sites.h), and `found` is the target.
	 */
	bool is_call_site;
};

/*
 * Return the target of a call or jump, given the address of the instruction's 4-byte
 * displacement.
 */
static inline uint64_t hook_place_target(uint64_t addr, int32_t distance)
{
	return addr + sizeof(distance) + (uint64_t)(int64_t)distance;
}

/*
 * Compute the 4-byte displacement of a call or jump to `target`. Return false if
 * `target` is too far away.
 */
static inline bool hook_place_distance(uint64_t addr, uint64_t target, int32_t *ret)
{
	int64_t distance = (int64_t)(target - (addr + sizeof(*ret)));

	*ret = (int32_t)distance;
	return distance == *ret;
}

/*
 * Return true if calls at all call sites from sites_addr to sites_end_addr can reach
 * gates (jumps to hooks) at addr.
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
	/*
	 * addresses of the functions that the hooks replace; 0 if a function was not
	 * found
	 */
	uint64_t originals[HOOK_COUNT_];
	char allocator[256]; /* path of the file that defines malloc */
	/* number of files that contain function addresses or calls to patch */
	size_t file_count;
	/*
	 * number of function addresses and calls that refer to a file other than
	 * the allocator's
	 */
	size_t other_count;
	/*
	 * number of patched function addresses that are copies made by the
	 * program at run time
	 */
	size_t copied_count;
	/*
	 * number of copied function addresses that are not patched, because the program
	 * contains its own allocator, which may use the copies itself
	 */
	size_t missed_count;
	/*
	 * number of bytes of data that could not be searched for copied
	 * function addresses
	 */
	uint64_t unread_bytes;
	/*
	 * copies of function addresses in [heap] and other anonymous memory, except in
	 * the files' data and in stacks; set only if searches_heap was true
	 */
	struct heap_words heap;
	/*
	 * addresses of the first and the last call site; both 0 if there are no call
	 * sites
	 */
	uint64_t sites_addr, sites_end_addr;
};

#define HOOK_PLACES_INIT      \
	{                     \
		.items = NULL \
	}

/*
 * Hooks that are already in the process and may already receive calls. base_addr is 0 if
 * there are no hooks.
 */
struct hooks_there {
	uint64_t base_addr, gates_addr;
	/*
	 * addresses of the functions that the hooks replace, indexed by enum hook;
	 * constant
	 */
	const uint64_t *originals;
};

struct hook_places_source {
	int process_fd, mem_fd;
	const struct mapping_list *mappings;
	struct hooks_there there;
	/*
	 * If true, find the function addresses and calls that already lead to the hooks
	 * in `there`, instead of those that do not. The addresses in there.originals are
	 * then not trusted: if no file of the process exports the function at its
	 * address, the result contains 0 instead of the address.
	 */
	bool finds_leading;
	/*
	 * If true, also count the copies of function addresses in [heap] and other
	 * anonymous memory, except in the files' data and in stacks.
	 */
	bool searches_heap;
};

/*
 * Find the function addresses and calls that do not lead to the existing hooks yet, while
 * the process runs. process_fd is a descriptor of /proc/PID, mem_fd of /proc/PID/mem.
 * Return 0; -ENOENT (no malloc), -EOPNOTSUPP (the program has its own malloc), -ENODATA
 * (the process allocates through functions without hooks), or an error from
 * loaded_read_all(). On failure, *ret_reason is a static string.
 */
int hook_places_read(const struct hook_places_source *source, struct hook_places *ret,
		     const char **ret_reason);
void hook_places_release(struct hook_places *places);

#endif
