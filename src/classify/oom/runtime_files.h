/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * runtime_files - find the configuration files of a server process, and the option in
 * these files that limits the server's memory. The functions are pure.
 *
 * memstate supports PostgreSQL's postgresql.conf and postgresql.auto.conf, and the
 * files named on the command lines of MySQL and Redis. It ignores files that these
 * files include.
 */
#ifndef MS_CLASSIFY_OOM_RUNTIME_FILES_H
#define MS_CLASSIFY_OOM_RUNTIME_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "classify/oom/runtime_options.h"

#define RUNTIME_FILES_MAX 3
#define RUNTIME_FILE_PATH_SIZE 512

struct runtime_file {
	/* kind of configuration file, such as RUNTIME_FILE_POSTGRES */
	const char *name;
	/* absolute path, as seen from the root directory of the process */
	char path[RUNTIME_FILE_PATH_SIZE];
};

struct runtime_files {
	/*
	 * files in the order in which the server reads them; later files have precedence
	 */
	struct runtime_file items[RUNTIME_FILES_MAX];
	size_t count;
};

/*
 * Find the configuration files that a process reads. If the length of the environment is
 * 0, its text may be NULL. Files with relative paths are omitted, because the process may
 * have changed its working directory.
 */
void runtime_files_find(const struct runtime_environment *environment,
			struct runtime_files *ret);

/*
 * Find the last option in a configuration file that sets a memory limit. Set *ret to the
 * option in command-line form, such as "shared_buffers=1GB", and return true. Return
 * false if the file does not set a limit.
 */
bool runtime_file_parse(const char *name, const char *text,
			char ret[RUNTIME_OPTION_SIZE]);

#endif
