/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * help - print the output of --help, --version and --list-columns. Each function returns
 * an exit status.
 */
#ifndef MS_CMD_HELP_H
#define MS_CMD_HELP_H

#include <stdbool.h>

struct cmd;
struct column_set;

int help_show(const struct cmd *cmd, bool shows_rare);
int help_show_version(void);
int help_list_columns(const struct column_set *set);

/*
 * Report that the word is not a command, but the topic of a manual page. Return false,
 * and report nothing, if there is no such topic.
 */
bool help_report_topic(const char *word);

#endif
