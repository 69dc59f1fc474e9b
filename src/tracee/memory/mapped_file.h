/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mapped_file - open the file behind a mapping of another process. The path of the
 * mapping may by now lead to a different file, or belong to a different mount namespace,
 * so the identity of the opened file is checked.
 */
#ifndef MS_TRACEE_MEMORY_MAPPED_FILE_H
#define MS_TRACEE_MEMORY_MAPPED_FILE_H

#include "model/mapping.h"

/*
 * Open the mapping's file for reading. process_fd is the process's directory in
 * /proc. Return a descriptor that the caller closes; -ESTALE if only other files
 * are available; -EREMOTE if the file's file system may never answer
 * (MAPPING_REMOTE); or another -errno.
 */
int mapped_file_open(int process_fd, const struct mapping *m);

#endif
