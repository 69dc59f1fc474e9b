/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/xalloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void (*exhausted_hook)(void);

void xalloc_on_exhausted(void (*hook)(void))
{
	exhausted_hook = hook;
}

void xalloc_exhausted(void)
{
	static const char message[] = "memstate: out of memory\n";

	if (exhausted_hook)
		exhausted_hook();
	if (write(STDERR_FILENO, message, sizeof(message) - 1) < 0)
		_exit(1);
	_exit(1);
}

void *xmalloc(size_t size)
{
	void *p = malloc(size ? size : 1);

	if (!p)
		xalloc_exhausted();
	return p;
}

void *xcalloc(size_t count, size_t size)
{
	void *p = calloc(count ? count : 1, size ? size : 1);

	if (!p)
		xalloc_exhausted();
	return p;
}

void *xrealloc(void *old, size_t size)
{
	void *p = realloc(old, size ? size : 1);

	if (!p)
		xalloc_exhausted();
	return p;
}

char *xstrdup(const char *text)
{
	return xstrndup(text, strlen(text));
}

char *xstrndup(const char *text, size_t length)
{
	char *copy = xmalloc(length + 1);

	memcpy(copy, text, length);
	copy[length] = '\0';
	return copy;
}

void *xgrow(void *array, size_t *capacity, size_t need, size_t size)
{
	size_t grown = *capacity ? *capacity : 16;

	if (array && need <= *capacity)
		return array;
	while (grown < need) {
		if (grown > SIZE_MAX / 2)
			xalloc_exhausted();
		grown *= 2;
	}
	if (grown > SIZE_MAX / size)
		xalloc_exhausted();
	*capacity = grown;
	return xrealloc(array, grown * size);
}
