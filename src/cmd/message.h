/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * message - what memstate says on stderr, one line each: "memstate: …".
 */
#ifndef MS_CMD_MESSAGE_H
#define MS_CMD_MESSAGE_H

void message(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "memstate: SUBJECT: Permission denied", with a hint line where one helps. err is -errno. */
void message_error(const char *subject, int err);

/* The same for a process. */
void message_process_error(int pid, int err);

/* "memstate: …", then "Try 'memstate [VERB] --help'." verb may be NULL. */
void message_usage(const char *verb, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
