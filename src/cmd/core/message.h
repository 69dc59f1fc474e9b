/* SPDX-License-Identifier: GPL-2.0-or-later */
/* message - print diagnostics on stderr, one line each: "memstate: …". */
#ifndef MS_CMD_CORE_MESSAGE_H
#define MS_CMD_CORE_MESSAGE_H

void message(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Print "memstate: SUBJECT: Permission denied", or the text of another error. err is a
 * -errno. For some errors, add a hint.
 */
void message_error(const char *subject, int err);

/* Print a message like message_error(), with a process as the subject. */
void message_process_error(int pid, int err);

/* Print "memstate: …", followed by "Try 'memstate [VERB] --help'." verb may be NULL. */
void message_usage(const char *verb, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
