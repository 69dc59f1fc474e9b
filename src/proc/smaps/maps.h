/* SPDX-License-Identifier: GPL-2.0-or-later */
/* maps - read the mappings of a process without the state of their pages. */
#ifndef MS_PROC_SMAPS_MAPS_H
#define MS_PROC_SMAPS_MAPS_H

#include "model/mapping.h"

/*
 * Append the mappings of a process, read from its maps file. process_fd is the process's
 * directory in /proc. Empty mappings are skipped, because they contain no address to look
 * up. Files on file systems that may never answer are marked MAPPING_REMOTE. Returns 0,
 * -EBADMSG or another -errno.
 */
int proc_maps_read(int process_fd, struct mapping_list *ret);

#endif
