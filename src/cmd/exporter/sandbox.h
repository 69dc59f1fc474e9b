/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sandbox - take all privileges from the process that talks to the network, so that code
 * that parses bytes from the network cannot read other processes.
 */
#ifndef MS_CMD_EXPORTER_SANDBOX_H
#define MS_CMD_EXPORTER_SANDBOX_H

/*
 * Become the user nobody if memstate runs as root; give up all capabilities; forbid new
 * privileges, children and files; and allow only the system calls that serving needs.
 * Return 0 or -errno.
 */
int sandbox_enter(void);

#endif
