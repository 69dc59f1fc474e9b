/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kmsg_stamp - what log formats put before a line of the kernel's: dmesg, dmesg -T and
 * --time-format iso, /dev/kmsg, journalctl, syslog (RFC 3164 and 5424), the CRI format,
 * kubectl's events, the console of a VMware guest, and line numbers or file names of grep.
 */
#ifndef MS_PROC_KMSG_STAMP_H
#define MS_PROC_KMSG_STAMP_H

#include "base/strbuf.h"
#include "model/oom_kill.h"

/*
 * Return the kernel's text in the line, after all prefixes, and when it was logged. *ret is
 * filled as far as the prefixes tell; all of it is unknown without one.
 */
char *kmsg_stamp_skip(char *line, struct oom_time *ret);

/*
 * Return whether the line is a JSON object of a log format (journalctl -o json, docker's
 * json-file, kubectl get events -o json). The text of its message, which may have several
 * lines, replaces *out.
 */
bool kmsg_stamp_read_json(const char *line, size_t length, struct strbuf *out,
			  struct oom_time *ret);

/*
 * A line of kubectl get events -o json, which prints a member to a line and sorts them by name:
 * times come before the message. Return whether the line is a message, whose text replaces
 * *out. A time is stored in *time.
 */
bool kmsg_stamp_read_member(const char *line, size_t length, struct strbuf *out,
			    struct oom_time *time);

#endif
