/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A library that is loaded at run time and allocates. */
#include <stdlib.h>

int plugin_call(int count);

int plugin_call(int count)
{
	for (int i = 0; i < count; i++) {
		void *volatile p = malloc(100);

		free(p);
	}
	return count;
}
