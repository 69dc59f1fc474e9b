/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/library.h"

#include <dlfcn.h>
#include <string.h>

/*
 * The library to load. A thread-local variable passes the library to load(), because
 * pthread_once(3) cannot pass an argument.
 */
static _Thread_local struct library *loading;

static void load(void)
{
	struct library *library = loading;
	void *handle = dlopen(library->file, RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		return;
	for (size_t i = 0; i < library->count; i++) {
		void *function = dlsym(handle, library->names[i]);

		if (!function)
			return;
		memcpy((char *)library->functions + i * sizeof(function), &function,
		       sizeof(function));
	}
	library->is_loaded = true;
}

bool library_load(struct library *library)
{
	loading = library;
	pthread_once(&library->once, load);
	return library->is_loaded;
}
