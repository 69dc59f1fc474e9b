/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/commands.h"

#include <locale.h>
#include <string.h>
#include <unistd.h>

#include "cmd/compare/compare.h"
#include "cmd/core/message.h"
#include "cmd/core/options_count.h"
#include "cmd/help.h"
#include "render/compare/report.h"
#include "render/profile/report.h"

const struct cmd *const cmds[] = {
	&cmd_map,  &cmd_heap, &cmd_leaks,   &cmd_explain, &cmd_count,
	&cmd_diff, &cmd_oom,  &cmd_capture, &cmd_doctor,  NULL,
};

static const struct cmd *find_cmd(const char *name)
{
	for (size_t i = 0; cmds[i]; i++)
		if (strcmp(cmds[i]->name, name) == 0)
			return cmds[i];
	return NULL;
}

static int check_args(const struct cmd *cmd, const struct options *options)
{
	if (options->arg_count <= cmd->max_args)
		return 0;
	if (cmd->name)
		message_usage(cmd->name, "'%s' is one argument too many%s",
			      options->args[cmd->max_args],
			      cmd->scope & SCOPE_PROCESSES ? " (processes go after -p)"
							   : "");
	else
		message_usage(NULL,
			      "'%s' is no command of memstate (processes go after -p, "
			      "a program to run after --)",
			      options->args[0]);
	return -1;
}

/*
 * Set the locale, except for CSV and JSON. These are always UTF-8, and the tables of a
 * locale would add to memstate's own Rss.
 */
static void use_locale(const struct options *options)
{
	if (options->format != FORMAT_CSV && options->format != FORMAT_JSON)
		setlocale(LC_CTYPE, "");
}

static const struct column_set *columns_of(const struct cmd *cmd,
					   const struct options *options)
{
	if (compare_is_wanted(options))
		return &compare_columns;
	if (options_count_has_stacks(&options->count))
		return &profile_columns;
	return cmd->columns;
}

static int run_cmd(const struct cmd *cmd, int argc, char **argv)
{
	struct options options;
	int status;

	if (options_parse(cmd, argc, argv, &options) < 0)
		return EXIT_BAD_USAGE;
	use_locale(&options);
	if (options.help)
		status = help_show(cmd);
	else if (options.version)
		status = help_show_version();
	else if (check_args(cmd, &options) < 0)
		status = EXIT_BAD_USAGE;
	else if (options.list_columns)
		status = help_list_columns(columns_of(cmd, &options));
	else
		status = cmd->run(&options);
	options_release(&options);
	return status;
}

/* Whether memstate runs set-user-ID or set-group-ID, which it is not designed for. */
static bool has_foreign_ids(void)
{
	return getuid() != 0 && (geteuid() != getuid() || getegid() != getgid());
}

int cmd_main(int argc, char **argv)
{
	const struct cmd *cmd = argc > 1 ? find_cmd(argv[1]) : NULL;

	if (has_foreign_ids()) {
		message("must not be installed set-user-ID or set-group-ID; "
			"see SECURITY in memstate(1)");
		return EXIT_FAILED;
	}
	if (cmd)
		return run_cmd(cmd, argc - 1, argv + 1);
	return run_cmd(&cmd_watch, argc, argv);
}
