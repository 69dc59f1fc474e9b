/* SPDX-License-Identifier: GPL-2.0-or-later */
/* page_bits - find and clear bits in a bit table with one bit per page. */
#ifndef MS_TRACEE_MEMORY_PAGE_BITS_H
#define MS_TRACEE_MEMORY_PAGE_BITS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Return the first page of [page, end) whose bit is `value`, or end if there
 * is no such page.
 */
static inline uint64_t page_bits_find(const uint64_t *bits, uint64_t page, uint64_t end,
				      bool value)
{
	while (page < end) {
		uint64_t word = value ? bits[page / 64] : ~bits[page / 64];

		word &= UINT64_MAX << (page % 64);
		if (word != 0) {
			page = page / 64 * 64 + (uint64_t)__builtin_ctzll(word);
			return page < end ? page : end;
		}
		page = (page / 64 + 1) * 64;
	}
	return end;
}

static inline void page_bits_clear(uint64_t *bits, uint64_t page, uint64_t end)
{
	for (; page < end; page++)
		bits[page / 64] &= ~(UINT64_C(1) << (page % 64));
}

#endif
