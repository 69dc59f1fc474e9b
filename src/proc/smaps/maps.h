/* SPDX-License-Identifier: GPL-2.0-or-later */
/* maps - read the mappings of a process without the state of their pages. */
#ifndef MS_PROC_SMAPS_MAPS_H
#define MS_PROC_SMAPS_MAPS_H

#include "model/mapping.h"

/*
 * Append the mappings of a process, read from its maps file. process_fd is the process's
 * directory in /proc. Empty mappings are skipped, because they contain no address to look
 * up. Mappings of files on file systems that may never answer are marked MAPPING_REMOTE.
 * Return 0, -EBADMSG or another -errno.
 */
int proc_maps_read(int process_fd, struct mapping_list *ret);

/*
 * Return true if the mappings of the process still have the same addresses, permissions
 * and files as in the list, which was read from smaps. Ignore empty mappings. Also return
 * false if maps cannot be read.
 */
bool proc_maps_are(int process_fd, const struct mapping_list *list);

#endif
