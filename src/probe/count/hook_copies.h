/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hook_copies - find copies of the addresses of counted functions that a program made at
 * run time, such as "static void *(*allocate)(size_t); allocate = malloc;". The dynamic
 * linker's tables do not list such copies.
 *
 * memstate can redirect a copy in the writable data of the program and its libraries.
 * Other copies can only be counted, because a heap block may be freed, and its memory
 * reused for other data, at any time.
 */
#ifndef MS_PROBE_COUNT_HOOK_COPIES_H
#define MS_PROBE_COUNT_HOOK_COPIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/count/hooks.h"
#include "base/units.h"
#include "model/mapping.h"
#include "probe/borrow/loaded.h"
#include "tracee/memory/find_words.h"

struct hook_places_source;

/*
 * Time limits for searching the mapped files' data, and for searching other private
 * memory.
 */
#define DATA_WORDS_LIMIT_NS (2 * NS_PER_S)
#define HEAP_WORDS_LIMIT_NS (NS_PER_S / 2)
/*
 * Maximum number of copies of function addresses to find outside the mapped files' data.
 */
#define HEAP_WORDS_MAX 100000

/* The writable data of the mapped files, including zero-initialized data (.bss). */
struct data_words {
	struct data_part {
		struct address_range range;
		/* index of the file that contains the data, as chosen by the caller */
		size_t file;
	} * parts;
	size_t count, capacity;
};

/* Add the writable data of a file to *data. Leave out shared and read-only mappings. */
void data_words_add(struct data_words *data, const struct loaded *file, size_t index);

/*
 * Search the mapped files' data for the words that *f describes. The caller sets all
 * members of *f except reads_swapped and the time limit; see find_words().
 */
int data_words_find(const struct data_words *data, struct find_words *f);

/*
 * Return true if addr is within the writable data of one of the files, and store the
 * file's index in *ret_file.
 */
bool data_words_has(const struct data_words *data, uint64_t addr, size_t *ret_file);
void data_words_release(struct data_words *data);

/*
 * Copies of function addresses that memstate cannot redirect. Calls through these copies
 * are not counted.
 */
struct heap_words {
	/* number of copies in [heap], and number of copies in other anonymous memory */
	uint64_t heap_count, other_count;
	/* number of bytes of private memory that were not searched */
	uint64_t unread_bytes;
};

/*
 * Count the copies of function addresses in the process's private memory, except in the
 * files' data and in stacks, which contain stale words. The caller initializes *f as for
 * data_words_find(). Return 0 or -errno.
 */
int heap_words_find(const struct data_words *data, const struct mapping_list *mappings,
		    struct find_words *f, struct heap_words *ret);

struct hook_copy {
	uint64_t addr, found;
	/*
	 * The function whose address was copied. If several functions have the same
	 * address, this is the first of them.
	 */
	enum hook hook;
	size_t file; /* index of the file, as passed to data_words_add() */
};

struct hook_copies {
	/*
	 * Addresses of known copies, which are not reported again. The caller sets the
	 * addresses, and hook_copies_find() sorts them.
	 */
	uint64_t *known;
	size_t known_count;
	struct hook_copy *items;
	size_t count;
	uint64_t unread_bytes; /* number of bytes of data that could not be searched */
	struct heap_words heap;
};

/*
 * Find the copies of the original functions' addresses in the data of the files. If
 * source->finds_leading is set, find copies of the addresses of gates (jumps to hooks)
 * instead. Return 0; -E2BIG if there are too many copies to record; or -errno.
 */
int hook_copies_find(const struct hook_places_source *source,
		     const struct data_words *data, const uint64_t *originals,
		     struct hook_copies *ret);
void hook_copies_release(struct hook_copies *copies);

#endif
