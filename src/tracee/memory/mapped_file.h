/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mapped_file - open the file that another process has mapped. The path of the mapping
 * may by now belong to a different file, or to a different mount namespace, so the
 * identity of the opened file is checked.
 */
#ifndef MS_TRACEE_MEMORY_MAPPED_FILE_H
#define MS_TRACEE_MEMORY_MAPPED_FILE_H

#include "model/mapping.h"

/*
 * Open the mapping's file for reading. process_fd is the process's directory in /proc.
 * Return a descriptor that the caller closes; -ESTALE if the path now belongs to another
 * file; -EREMOTE if the file's file system may never answer (MAPPING_REMOTE); or
 * another -errno.
 */
int mapped_file_open(int process_fd, const struct mapping *m);

#endif
