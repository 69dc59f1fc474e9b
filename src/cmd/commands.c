/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/commands.h"

#include <errno.h>
#include <locale.h>
#include <string.h>
#include <unistd.h>

#include "base/similar.h"
#include "cmd/core/message.h"
#include "cmd/core/terminal.h"
#include "cmd/help.h"

const struct cmd *const cmds[] = {
	&cmd_map,      &cmd_heap,    &cmd_leaks,       &cmd_explain,	 &cmd_count,
	&cmd_diff,     &cmd_oom,     &cmd_oom_explain, &cmd_oom_predict, &cmd_oom_watch,
	&cmd_exporter, &cmd_capture, &cmd_doctor,      &cmd_help,	 NULL,
};

const struct cmd *cmd_find(const char *first, const char *second)
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
 * Append a hint that lists the commands whose names are similar to `word`. If parent is
 * set, for example to "oom", consider only the two-word commands that begin with it, and
 * list all of them if no name is similar.
 */
static void add_command_hint(struct strbuf *out, const char *parent, const char *word)
{
	_cleanup_strbuf_ struct strbuf prefix = STRBUF_INIT;
	struct similar similar = { .word = word };
	size_t length = parent ? strlen(parent) + 1 : 0, count = 0;

	for (size_t i = 0; cmds[i]; i++)
		if (!parent || (strncmp(cmds[i]->name, parent, length - 1) == 0 &&
				cmds[i]->name[length - 1] == ' '))
			similar_add(&similar, cmds[i]->name + length);
	if (parent)
		strbuf_addf(&prefix, "%s ", parent);
	similar_add_hint(&similar, strbuf_text(&prefix), out);
	if (similar.count > 0 || !parent)
		return;
	for (size_t i = 0; cmds[i]; i++)
		if (strncmp(cmds[i]->name, parent, length - 1) == 0 &&
		    cmds[i]->name[length - 1] == ' ')
			strbuf_addf(out, "%s'%s'",
				    count++ > 0 ? ", " : "; available: ", cmds[i]->name);
}

void cmd_report_unknown(const char *verb, const char *parent, const char *word)
{
	_cleanup_strbuf_ struct strbuf hint = STRBUF_INIT;

	add_command_hint(&hint, parent, word);
	message_usage(
		verb, "unknown command '%s%s%s'%s", parent ? parent : "",
		parent ? " " : "", word,
		hint.length > 0
			? hint.text
			: "; use -p NAME for a process, -- COMMAND to run a program");
}

static bool has_subcommands(const struct cmd *cmd)
{
	size_t length = strlen(cmd->name);

	for (size_t i = 0; cmds[i]; i++)
		if (strncmp(cmds[i]->name, cmd->name, length) == 0 &&
		    cmds[i]->name[length] == ' ')
			return true;
	return false;
}

static bool looks_like_recording(const char *arg)
{
	size_t length = strlen(arg);

	return length > 4 && strcmp(arg + length - 4, ".msr") == 0;
}

/*
 * Return a hint about the command's option for an argument such as `arg`, for example
 * "--replay FILE" if `arg` is a recording. Return "" if the command has no such option.
 */
static const char *find_option_hint(const struct cmd *cmd, const char *arg)
{
	if (looks_like_recording(arg)) {
		if (cmd->requires_pid)
			return CMD_LIVE_HINT;
		if (cmd == &cmd_oom_watch)
			return "; use --record FILE";
		if (cmd == &cmd_oom_explain || option_is_accepted(cmd, "replay"))
			return "; use --replay FILE for a recording";
	}
	if (cmd->takes_command && strchr(arg, '/'))
		return "; use -- COMMAND to run a program";
	if (option_is_accepted(cmd, "pid"))
		return "; use -p NAME for a process";
	return "";
}

static void report_needless_arg(const struct cmd *cmd, const char *arg)
{
	const char *name = cmd->name ? cmd->name : "memstate";

	if (!cmd->name && help_report_topic(arg))
		return;
	if (cmd->name ? cmd_find(cmd->name, arg) : cmd_find(arg, NULL))
		message_usage(cmd->name, "the command '%s' must directly follow '%s'",
			      arg, name);
	else if ((!cmd->name || has_subcommands(cmd)) && !looks_like_recording(arg))
		cmd_report_unknown(cmd->name, cmd->name, arg);
	else
		message_usage(cmd->name, "unexpected argument '%s'%s", arg,
			      find_option_hint(cmd, arg));
}

static int check_arguments(const struct cmd *cmd, const struct options *options)
{
	if (options->arg_count <= cmd->max_args)
		return 0;
	report_needless_arg(cmd, options->args[cmd->max_args]);
	return -EINVAL;
}

static int check_usage(const struct cmd *cmd, const struct options *options)
{
	if (cmd->requires_pid && !options->list_columns &&
	    targets_are_all(&options->targets)) {
		message_usage(cmd->name, "no process given; use -p PID|NAME");
		return -EINVAL;
	}
	return options_check(options);
}

/*
 * Set the locale, whose tables increase memstate's own Rss. CSV and JSON output is always
 * UTF-8, and does not need the locale.
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
	terminal_begin(options);
	if (check_arguments(cmd, options) < 0)
		status = EXIT_BAD_USAGE;
	else if (options->help)
		status = help_show(cmd, false);
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
	const struct cmd *cmd = argc > 2 ? cmd_find(argv[1], argv[2]) : NULL;

	if (has_foreign_ids()) {
		message("must not be installed set-user-ID or set-group-ID; "
			"see SECURITY in memstate(1)");
		return EXIT_FAILED;
	}
	if (cmd)
		return run_cmd(cmd, argc - 2, argv + 2);
	cmd = argc > 1 ? cmd_find(argv[1], NULL) : NULL;
	if (cmd)
		return run_cmd(cmd, argc - 1, argv + 1);
	return run_cmd(&cmd_watch, argc, argv);
}
