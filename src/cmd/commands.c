/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/commands.h"

#include <errno.h>
#include <locale.h>
#include <string.h>
#include <unistd.h>

#include "cmd/core/message.h"
#include "cmd/help.h"

const struct cmd *const cmds[] = {
	&cmd_map,	&cmd_heap,	  &cmd_leaks,
	&cmd_explain,	&cmd_count,	  &cmd_diff,
	&cmd_oom,	&cmd_oom_explain, &cmd_oom_predict,
	&cmd_oom_watch, &cmd_capture,	  &cmd_doctor,
	NULL,
};

/* Find the command with this one-word or two-word name. second may be NULL. */
static const struct cmd *find_cmd(const char *first, const char *second)
{
	size_t length = strlen(first);

	for (size_t i = 0; cmds[i]; i++) {
		const char *name = cmds[i]->name;

		if (strncmp(name, first, length) != 0)
			continue;
		if (second ? name[length] == ' ' && strcmp(name + length + 1, second) == 0
			   : name[length] == '\0')
			return cmds[i];
	}
	return NULL;
}

/*
 * Append the names of all two-word commands whose first word is name. Return
 * their number.
 */
static size_t add_cmds_below(struct strbuf *out, const char *name)
{
	size_t length = strlen(name), count = 0;

	for (size_t i = 0; cmds[i]; i++)
		if (strncmp(cmds[i]->name, name, length) == 0 &&
		    cmds[i]->name[length] == ' ')
			strbuf_addf(out, "%s'%s'", count++ > 0 ? ", " : "",
				    cmds[i]->name);
	return count;
}

static void report_needless_arg(const struct cmd *cmd, const char *arg)
{
	_cleanup_strbuf_ struct strbuf below = STRBUF_INIT;

	if (!cmd->name)
		message_usage(NULL,
			      "unknown command '%s' (use -p PID|NAME for processes, -- "
			      "COMMAND to run a program)",
			      arg);
	else if (find_cmd(cmd->name, arg))
		message_usage(cmd->name, "'%s' must directly follow '%s'", arg,
			      cmd->name);
	else if (add_cmds_below(&below, cmd->name) > 0)
		message_usage(cmd->name,
			      "unknown command '%s %s'; the commands are %s (use -p "
			      "PID|NAME for processes)",
			      cmd->name, arg, strbuf_text(&below));
	else
		message_usage(cmd->name,
			      "unexpected argument '%s' (use -p PID|NAME for processes)",
			      arg);
}

static int check_usage(const struct cmd *cmd, const struct options *options)
{
	if (options->arg_count > cmd->max_args) {
		report_needless_arg(cmd, options->args[cmd->max_args]);
		return -EINVAL;
	}
	if (cmd->requires_pid && !options->list_columns &&
	    targets_are_all(&options->targets)) {
		message_usage(cmd->name, "no process given; use -p PID|NAME");
		return -EINVAL;
	}
	return options_check(options);
}

/*
 * Set the locale, except for CSV and JSON output, which is always UTF-8: loading the
 * locale's tables would increase memstate's own Rss.
 */
static void use_locale(const struct options *options)
{
	if (options->format != FORMAT_CSV && options->format != FORMAT_JSON)
		setlocale(LC_CTYPE, "");
}

static int run_cmd(const struct cmd *cmd, int argc, char **argv)
{
	struct options *options;
	int status;

	if (options_parse(cmd, argc, argv, &options) < 0)
		return EXIT_BAD_USAGE;
	use_locale(options);
	if (options->help)
		status = help_show(cmd);
	else if (options->version)
		status = help_show_version();
	else if (check_usage(cmd, options) < 0)
		status = EXIT_BAD_USAGE;
	else if (options->list_columns)
		status = help_list_columns(cmd->find_columns ? cmd->find_columns(options)
							     : cmd->columns);
	else
		status = cmd->run(options);
	options_free(options);
	return status;
}

/*
 * Return true if memstate runs set-user-ID or set-group-ID, for which it is not designed.
 */
static bool has_foreign_ids(void)
{
	return getuid() != 0 && (geteuid() != getuid() || getegid() != getgid());
}

int cmd_main(int argc, char **argv)
{
	const struct cmd *cmd = argc > 2 ? find_cmd(argv[1], argv[2]) : NULL;

	if (has_foreign_ids()) {
		message("must not be installed set-user-ID or set-group-ID; "
			"see SECURITY in memstate(1)");
		return EXIT_FAILED;
	}
	if (cmd)
		return run_cmd(cmd, argc - 2, argv + 2);
	cmd = argc > 1 ? find_cmd(argv[1], NULL) : NULL;
	if (cmd)
		return run_cmd(cmd, argc - 1, argv + 1);
	return run_cmd(&cmd_watch, argc, argv);
}
