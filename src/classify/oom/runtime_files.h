/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * runtime_files - the configuration files in which a server sets its own memory limit:
 * which files a process reads, and which option they contain. Pure.
 *
 * Supported are PostgreSQL's postgresql.conf, followed by
 * postgresql.auto.conf, and the files that the command lines of MySQL and
 * Redis name. Files that these files include are ignored.
 */
#ifndef MS_CLASSIFY_OOM_RUNTIME_FILES_H
#define MS_CLASSIFY_OOM_RUNTIME_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "classify/oom/runtime_options.h"

#define RUNTIME_FILES_MAX 3
#define RUNTIME_FILE_PATH_SIZE 512

struct runtime_file {
	/* kind of file, such as RUNTIME_FILE_POSTGRES */
	const char *name;
	/* absolute path, as seen from the root directory of the process */
	char path[RUNTIME_FILE_PATH_SIZE];
};

struct runtime_files {
	/* files read later take precedence */
	struct runtime_file items[RUNTIME_FILES_MAX];
	size_t count;
};

/*
 * Find the files that a process reads. The environment's text may be NULL if its length
 * is 0. Relative paths are left out, because the process may have changed its directory.
 */
void runtime_files_find(const struct runtime_environment *environment,
			struct runtime_files *ret);

/*
 * Find the last option in the text of a configuration file that sets a memory limit.
 * Set *ret to the option in command-line form, such as "shared_buffers=1GB", and return
 * true. Return false if there is no such option.
 */
bool runtime_file_parse(const char *name, const char *text,
			char ret[RUNTIME_OPTION_SIZE]);

#endif
