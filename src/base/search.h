/* SPDX-License-Identifier: GPL-2.0-or-later */
/* search - binary search in a sorted array. */
#ifndef MS_BASE_SEARCH_H
#define MS_BASE_SEARCH_H

#include <stddef.h>

/*
 * Return the lowest index i below count for which the condition, an expression in i, is
 * true, or count if no index satisfies the condition. If the condition is true for an
 * index, it must be true for all higher indexes. Example: SEARCH_FIRST(list->count, i,
 * list->items[i].end_addr > addr)
 */
#define SEARCH_FIRST(count, i, condition)                                          \
	__extension__({                                                            \
		size_t search_low_ = 0, search_high_ = (count);                    \
                                                                                   \
		while (search_low_ < search_high_) {                               \
			size_t i = search_low_ + (search_high_ - search_low_) / 2; \
                                                                                   \
			if (condition)                                             \
				search_high_ = i;                                  \
			else                                                       \
				search_low_ = i + 1;                               \
		}                                                                  \
		search_low_;                                                       \
	})

#endif
