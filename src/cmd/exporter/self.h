/* SPDX-License-Identifier: GPL-2.0-or-later */
/* self - the exporter's figures about its own processes. */
#ifndef MS_CMD_EXPORTER_SELF_H
#define MS_CMD_EXPORTER_SELF_H

#include <sys/types.h>

#include "classify/exporter/look.h"

/*
 * Set the CPU time and memory of memstate and of the serving process, and the number of
 * memstate's descriptors. web_pid is 0 if there is no serving process.
 */
void self_read(struct look_self *self, pid_t web_pid);

#endif
