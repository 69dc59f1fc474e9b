/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * xalloc - allocation that cannot fail: if memory runs out, the program exits
 * with status 1.
 *
 * No other code below the cmd/ layer ends the program. A screen that must be restored
 * first registers a hook with xalloc_on_exhausted().
 */
#ifndef MS_BASE_XALLOC_H
#define MS_BASE_XALLOC_H

#include <stddef.h>

/* Set a function to call once, before the message and the exit. NULL removes it. */
void xalloc_on_exhausted(void (*hook)(void));

/*
 * Report that memory has run out and exit. For callers of functions that allocate on
 * their own, such as tsearch(3).
 */
_Noreturn void xalloc_exhausted(void);

void *xmalloc(size_t size) __attribute__((malloc, returns_nonnull));
void *xcalloc(size_t count, size_t size) __attribute__((malloc, returns_nonnull));
void *xrealloc(void *old, size_t size) __attribute__((returns_nonnull));
char *xstrdup(const char *text) __attribute__((malloc, returns_nonnull));
char *xstrndup(const char *text, size_t length) __attribute__((malloc, returns_nonnull));

/*
 * Grow an array to hold at least `need` elements of `size` bytes, doubling *capacity as
 * needed. Returns the array, which may have moved.
 */
void *xgrow(void *array, size_t *capacity, size_t need, size_t size)
	__attribute__((returns_nonnull));

#endif
