/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * runtime_files - the configuration files in which a server sets its own memory limit:
 * which ones a process reads, and the option in their text. Pure.
 *
 * Supported are postgresql.conf and then postgresql.auto.conf of PostgreSQL, and files
 * of MySQL and Redis that the command line names. Files included by these are ignored.
 */
#ifndef MS_CLASSIFY_OOM_RUNTIME_FILES_H
#define MS_CLASSIFY_OOM_RUNTIME_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "classify/oom/runtime_options.h"

#define RUNTIME_FILES_MAX 3
#define RUNTIME_FILE_PATH_SIZE 512

struct runtime_file {
	const char *name;		   /* RUNTIME_FILE_POSTGRES or another */
	char path[RUNTIME_FILE_PATH_SIZE]; /* absolute, in the root of the process */
};

struct runtime_files {
	struct runtime_file items[RUNTIME_FILES_MAX]; /* a later one takes precedence */
	size_t count;
};

/*
 * Find the files that a process reads. The environment's text and length may be 0.
 * Relative paths are left out: the process may have changed its directory.
 */
void runtime_files_find(const struct runtime_environment *environment,
			struct runtime_files *ret);

/*
 * Find the last option of the table in the text of a file. Set *ret to it as a command
 * line would have it, such as "shared_buffers=1GB", and return true; false if there is
 * no option.
 */
bool runtime_file_parse(const char *name, const char *text,
			char ret[RUNTIME_OPTION_SIZE]);

#endif
