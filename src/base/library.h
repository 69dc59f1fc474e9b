/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * library - load a shared library when memstate first needs one of its functions.
 *
 * Most runs need none of these libraries, and loading them costs memory: libelf and libz
 * together take a sixth of a MiB. memstate therefore includes only a library's header,
 * and finds its functions with dlopen(3) and dlsym(3). The dynamic linker searches for
 * the file as usual, so LD_LIBRARY_PATH applies.
 */
#ifndef MS_BASE_LIBRARY_H
#define MS_BASE_LIBRARY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct library {
	const char *file;	  /* soname, such as "libz.so.1" */
	const char *const *names; /* names of the functions that memstate calls */
	size_t count;
	/* a struct of `count` function pointers, in the order of `names` */
	void *functions;
	pthread_once_t once;
	bool is_loaded;
};

#define LIBRARY_INIT(file, names, functions)                                       \
	{                                                                          \
		(file), (names), sizeof(names) / sizeof((names)[0]), &(functions), \
			PTHREAD_ONCE_INIT, false                                   \
	}

#define LIBRARY_POINTER(name) __typeof__(name) *name;
#define LIBRARY_NAME(name) #name,

/*
 * Define the struct `variable`, which contains one function pointer for each
 * X(function) in the X-macro LIST, and `variable_library`, the argument for
 * library_load().
 */
#define LIBRARY_DEFINE(variable, file, LIST)                                  \
	static struct {                                                       \
		LIST(LIBRARY_POINTER)                                         \
	} variable;                                                           \
	static const char *const variable##_names[] = { LIST(LIBRARY_NAME) }; \
	static struct library variable##_library =                            \
		LIBRARY_INIT(file, variable##_names, variable)

/*
 * Load the library and find all its functions, unless an earlier call has done so.
 * Return false if the library is not installed or lacks one of the functions. A library
 * is never unloaded. May be called from any thread.
 */
bool library_load(struct library *library);

#endif
