/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/help.h"

#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "cmd/commands.h"
#include "cmd/core/message.h"
#include "render/table/column.h"

static int print(const struct strbuf *text)
{
	int r = io_write_all(STDOUT_FILENO, text->text, text->length);

	if (r == 0)
		return EXIT_DONE;
	message_error("standard output", r);
	return EXIT_FAILED;
}

static void add_usage(const struct cmd *cmd, struct strbuf *out)
{
	if (cmd->name) {
		strbuf_addf(out, "Usage: memstate %s %s\n\n%s\n", cmd->name, cmd->args,
			    cmd->summary);
		return;
	}
	strbuf_addf(
		out,
		"Usage: memstate %s\n       memstate COMMAND [PID...] "
		"[OPTIONS]\n\n%s\n\nWithout -p, memstate shows every process that it "
		"can read. On a terminal\nit opens the screen; otherwise it writes one "
		"report. With --csv or --json it\nwrites a series, until the processes "
		"have exited, ^C, or -n.\n\nCommands:\n",
		cmd->args, cmd->summary);
	for (size_t i = 0; cmds[i]; i++)
		strbuf_addf(out, "  %-12s %s\n", cmds[i]->name, cmds[i]->summary);
}

int help_show(const struct cmd *cmd)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	add_usage(cmd, &out);
	strbuf_add_text(&out, "\nOptions:\n");
	options_add_help(cmd, &out);
	if (!cmd->name)
		strbuf_add_text(
			&out,
			"\nExit status: 0 success, 1 failure, 2 wrong usage, 3 some "
			"targets gone or\nunreadable, 4 above a limit that was "
			"set.\nManual: man memstate\n");
	return print(&out);
}

int help_show_version(void)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	strbuf_add_text(&out, "memstate " PACKAGE_VERSION "\n");
	return print(&out);
}

int help_list_columns(const struct column_set *set)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	for (size_t i = 0; i < set->count; i++)
		strbuf_addf(&out, "%-34s %s\n", set->columns[i].name,
			    set->columns[i].help);
	return print(&out);
}

static int help_run(struct options *o)
{
	const struct cmd *cmd = &cmd_watch;

	if (o->arg_count > 0)
		cmd = cmd_find(o->args[0], o->arg_count > 1 ? o->args[1] : NULL);
	if (cmd)
		return help_show(cmd);
	if (o->arg_count > 1 && cmd_find(o->args[0], NULL))
		cmd_report_unknown("help", o->args[0], o->args[1]);
	else
		cmd_report_unknown("help", NULL, o->args[0]);
	return EXIT_BAD_USAGE;
}

const struct cmd cmd_help = {
	.name = "help",
	.args = "[COMMAND]",
	.summary = "show the usage of memstate or of one of its commands",
	.shared = "",
	.max_args = 2,
	.run = help_run,
};
