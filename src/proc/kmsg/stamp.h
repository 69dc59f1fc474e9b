/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stamp - parse the prefixes that log formats add to a kernel message: dmesg, dmesg -T
 * and --time-format iso, /dev/kmsg, journalctl, syslog (RFC 3164 and 5424), the CRI
 * format, kubectl's events, the console of a VMware guest, and line numbers or file names
 * added by grep.
 */
#ifndef MS_PROC_KMSG_STAMP_H
#define MS_PROC_KMSG_STAMP_H

#include "base/strbuf.h"
#include "model/oom_kill.h"

/*
 * Return the kernel's message in line, after all prefixes. *ret receives the time of the
 * message; members that the prefixes do not show are 0, "" or COUNT_UNKNOWN.
 */
char *kmsg_stamp_skip(char *line, struct oom_time *ret);

/*
 * Return true if the line is a JSON object of a log format (journalctl -o json, docker's
 * json-file, kubectl get events -o json). *out is then replaced with the text of the
 * message, which may have several lines, and *ret receives the time.
 */
bool kmsg_stamp_read_json(const char *line, size_t length, struct strbuf *out,
			  struct oom_time *ret);

/*
 * Parse one line of the output of kubectl get events -o json. Each line is one member of
 * an object, and members are sorted by name, so times precede the message. Store a time
 * in *time. Return true and store the text in *out if the line is the message. *out may
 * be overwritten even if the function returns false.
 */
bool kmsg_stamp_read_member(const char *line, size_t length, struct strbuf *out,
			    struct oom_time *time);

#endif
