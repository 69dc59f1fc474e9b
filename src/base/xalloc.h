/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * xalloc - allocation functions that cannot fail: if memory runs out, memstate exits with
 * status 1. No other code below the cmd/ layer exits. Code that must restore the screen
 * before the exit registers a hook with xalloc_on_exhausted().
 */
#ifndef MS_BASE_XALLOC_H
#define MS_BASE_XALLOC_H

#include <stddef.h>

/*
 * Register a function to be called once before the error message and the
 * exit. NULL removes the function.
 */
void xalloc_on_exhausted(void (*hook)(void));

/*
 * Report that memory is exhausted, and exit with status 1. For callers of library
 * functions that allocate memory, such as tsearch(3).
 */
_Noreturn void xalloc_exhausted(void);

void *xmalloc(size_t size) __attribute__((malloc, returns_nonnull));
void *xcalloc(size_t count, size_t size) __attribute__((malloc, returns_nonnull));
void *xrealloc(void *old, size_t size) __attribute__((returns_nonnull));
char *xstrdup(const char *text) __attribute__((malloc, returns_nonnull));
char *xstrndup(const char *text, size_t length) __attribute__((malloc, returns_nonnull));

/*
 * Grow an array to at least `need` elements of `size` bytes, by doubling *capacity.
 * Return the array, which may have moved.
 */
void *xgrow(void *array, size_t *capacity, size_t need, size_t size)
	__attribute__((returns_nonnull));

#endif
