/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cleanup - attributes that release a local variable when it goes out of scope. Nothing
 * is released if the value is NULL or, for a descriptor, -1.
 */
#ifndef MS_BASE_CLEANUP_H
#define MS_BASE_CLEANUP_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void cleanup_free(void *p)
{
	free(*(void **)p);
}

static inline void cleanup_fclose(FILE **f)
{
	if (*f)
		fclose(*f);
}

static inline void cleanup_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void cleanup_closedir(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

#define _cleanup_free_ __attribute__((cleanup(cleanup_free)))
#define _cleanup_fclose_ __attribute__((cleanup(cleanup_fclose)))
#define _cleanup_close_ __attribute__((cleanup(cleanup_close)))
#define _cleanup_closedir_ __attribute__((cleanup(cleanup_closedir)))

#endif
