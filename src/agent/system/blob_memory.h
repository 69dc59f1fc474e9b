/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blob_memory - memset and memcpy for injected code. Compilers generate calls to these
 * functions, but injected code has no libc that defines them. In each piece of injected
 * code, exactly one source file includes this header.
 */
#ifndef MS_AGENT_SYSTEM_BLOB_MEMORY_H
#define MS_AGENT_SYSTEM_BLOB_MEMORY_H

#include <stddef.h>

#define BLOB_MEMORY __attribute__((used, visibility("hidden")))

BLOB_MEMORY void *memset(void *to, int byte, size_t length);
BLOB_MEMORY void *memcpy(void *to, const void *from, size_t length);

/* volatile prevents the compiler from replacing the loop with a call to this function */
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
