/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mapped_file - the file behind a mapping of another process, and no other: its path may lead to
 * something else by now, or in another mount namespace.
 */
#ifndef MS_TRACEE_MEMORY_MAPPED_FILE_H
#define MS_TRACEE_MEMORY_MAPPED_FILE_H

#include "model/mapping.h"

/*
 * Open it for reading. process_fd is the process's directory in /proc. Returns a
 * descriptor that the caller closes; -ESTALE if only other files are available; -EREMOTE
 * if its file system may never answer (MAPPING_REMOTE); -errno.
 */
int mapped_file_open(int process_fd, const struct mapping *m);

#endif
