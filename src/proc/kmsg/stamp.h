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
 * Return the kernel's message in the line, after all prefixes. The function stores the
 * time of the message in *ret; members that the prefixes do not show are 0, "" or
 * COUNT_UNKNOWN.
 */
char *kmsg_stamp_skip(char *line, struct oom_time *ret);

/*
 * Parse a JSON object of a log format (journalctl -o json, docker's json-file, kubectl
 * get events -o json). Return true if the line is such an object: *out then contains the
 * text of the message, which may have several lines, and *ret contains its time.
 */
bool kmsg_stamp_read_json(const char *line, size_t length, struct strbuf *out,
			  struct oom_time *ret);

/*
 * Parse one line of the output of kubectl get events -o json. Each line is one member of
 * an object. kubectl sorts members by name, so times precede the message. If the line is
 * a time, store it in *time. If the line is the message, store its text in *out and
 * return true. Otherwise return false, with *out undefined.
 */
bool kmsg_stamp_read_member(const char *line, size_t length, struct strbuf *out,
			    struct oom_time *time);

#endif
