/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blob_memory - memset and memcpy for a blob. Compilers generate calls to them, but a
 * blob has no libc that defines them. Exactly one file of each blob includes this header.
 */
#ifndef MS_AGENT_SYSTEM_BLOB_MEMORY_H
#define MS_AGENT_SYSTEM_BLOB_MEMORY_H

#include <stddef.h>

#define BLOB_MEMORY __attribute__((used, visibility("hidden")))

BLOB_MEMORY void *memset(void *to, int byte, size_t length);
BLOB_MEMORY void *memcpy(void *to, const void *from, size_t length);

/* volatile: otherwise the compiler replaces the loop by a call of the function itself */
void *memset(void *to, int byte, size_t length)
{
	for (volatile char *p = to; length > 0; length--)
		*p++ = (char)byte;
	return to;
}

void *memcpy(void *to, const void *from, size_t length)
{
	volatile char *p = to;

	for (const char *q = from; length > 0; length--)
		*p++ = *q++;
	return to;
}

#endif
