/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * xalloc - allocation that cannot fail: out of memory ends the program with status 1.
 *
 * The only exit below cmd/. A screen that must be restored first registers xalloc_on_exhausted.
 */
#ifndef MS_BASE_XALLOC_H
#define MS_BASE_XALLOC_H

#include <stddef.h>

/* Called once, before the message and the exit. NULL removes it. */
void xalloc_on_exhausted(void (*hook)(void));

/* For what allocates by itself, as tsearch(3) does. */
_Noreturn void xalloc_exhausted(void);

void *xmalloc(size_t size) __attribute__((malloc, returns_nonnull));
void *xcalloc(size_t count, size_t size) __attribute__((malloc, returns_nonnull));
void *xrealloc(void *old, size_t size) __attribute__((returns_nonnull));
char *xstrdup(const char *text) __attribute__((malloc, returns_nonnull));
char *xstrndup(const char *text, size_t length) __attribute__((malloc, returns_nonnull));

/*
 * Make room for at least `need` elements of `size` bytes in *array, doubling *capacity.
 * Returns the array, which may have moved.
 */
void *xgrow(void *array, size_t *capacity, size_t need, size_t size)
	__attribute__((returns_nonnull));

#endif
