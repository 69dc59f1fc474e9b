/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * runtime_config - read the memory limit that a server program sets for itself in its
 * configuration files.
 */
#ifndef MS_SAMPLE_PROCESS_RUNTIME_CONFIG_H
#define MS_SAMPLE_PROCESS_RUNTIME_CONFIG_H

#include "base/strbuf.h"
#include "classify/oom/runtime_options.h"
#include "proc/system/foreign_file.h"

/*
 * Append the option that sets the memory limit as "FILE WORD" (runtime_options.h), and
 * nothing else from the files. root_fd is the root directory of the process, as in
 * foreign_file.h. Ignore files that `reader`, the user of the process, is not permitted
 * to read. Return true if there is such an option.
 */
bool runtime_config_read(int root_fd, const struct foreign_reader *reader,
			 const struct runtime_environment *environment,
			 struct strbuf *out);

#endif
