/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * find_words - search a running process's private memory for words with given values.
 *
 * Only pages that the process has written are read; all other pages contain zeros or file
 * contents. Thus the search reads nothing from file systems, and faults in no page of the
 * target except those requested by reads_swapped.
 */
#ifndef MS_TRACEE_MEMORY_FIND_WORDS_H
#define MS_TRACEE_MEMORY_FIND_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct found_word {
	uint64_t addr, word;
};

struct find_words {
	int process_fd;		/* descriptor of /proc/PID */
	int mem_fd;		/* descriptor of /proc/PID/mem */
	const uint64_t *wanted; /* the values to search for, in ascending order */
	size_t wanted_count;
	/* True to also read pages that are swapped out, which swaps them in. */
	bool reads_swapped;
	uint64_t deadline_ns; /* deadline of the search on the monotonic clock */
	size_t found_max;
	/*
	 * The results. The caller initializes these members with 0, and frees `found`.
	 * unread_bytes is the amount of memory that could not be searched.
	 */
	struct found_word *found;
	size_t count, capacity;
	uint64_t read_bytes, unread_bytes;
};

struct address_range {
	uint64_t start_addr, end_addr;
};

/*
 * Find the 8-byte aligned words of the ranges that are equal to a wanted value, and
 * append them to f->found. Return 0; -E2BIG if there are more than found_max; or -errno
 * if the memory cannot be searched at all.
 */
int find_words(struct find_words *f, const struct address_range *ranges, size_t count);

#endif
