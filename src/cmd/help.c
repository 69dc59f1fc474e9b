/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/help.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "cmd/commands.h"
#include "cmd/core/message.h"
#include "cmd/core/stream.h"
#include "render/table/column.h"

/* Manual pages that are not named after a command. */
static const struct {
	const char *topic, *page, *content;
} topics[] = {
	{ "columns", "memstate-columns(5)", "the columns" },
	{ "compare", "memstate-compare(1)", "comparisons of allocators, with --preload" },
	{ "memory", "memstate-memory(7)", "owners and states of memory" },
	{ "metrics", "memstate-metrics(7)", "the metrics of memstate exporter" },
	{ "output", "memstate-output(5)", "the CSV and JSON output" },
	{ "profile", "memstate-profile(7)", "profiles and flame graphs" },
	{ "record", "memstate-record(1)", "--record and --replay" },
	{ "recording", "memstate-recording(5)", "the file format of recordings" },
	{ "screen", "memstate-screen(7)", "the screen and its keys" },
};

static void add_usage(const struct cmd *cmd, struct strbuf *out)
{
	if (cmd->name) {
		strbuf_addf(out, "Usage: memstate %s %s\n\n%s\n", cmd->name, cmd->args,
			    cmd->summary);
		return;
	}
	strbuf_addf(out,
		    "Usage: memstate %s\n       memstate COMMAND [PID...] "
		    "[OPTIONS]\n\n%s\n\nCommands:\n",
		    cmd->args, cmd->summary);
	for (size_t i = 0; cmds[i]; i++)
		strbuf_addf(out, "  %-12s %s\n", cmds[i]->name, cmds[i]->summary);
}

int help_show(const struct cmd *cmd, bool shows_rare)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	bool is_complete;

	add_usage(cmd, &out);
	strbuf_add_char(&out, '\n');
	is_complete = options_add_help(cmd, shows_rare, &out);
	strbuf_add_char(&out, '\n');
	if (!is_complete)
		strbuf_addf(&out, "'memstate help -a%s%s' lists all options.%c",
			    cmd->name ? " " : "", cmd->name ? cmd->name : "",
			    cmd->name ? '\n' : ' ');
	strbuf_add_text(&out, "See memstate");
	/*
	 * the manual page of the first word describes a two-word command, such as
	 * "oom explain"
	 */
	if (cmd->name && cmd != &cmd_help)
		strbuf_addf(&out, "-%.*s", (int)strcspn(cmd->name, " "), cmd->name);
	strbuf_add_text(&out, "(1) for details.\n");
	return stream_finish(&out, EXIT_DONE);
}

int help_show_version(void)
{
	static const struct {
		const char *name;
		bool is_built_in;
	} features[] = {
		{ "ncurses", HAVE_NCURSES },	{ "libproc2", HAVE_LIBPROC2 },
		{ "sqlite", HAVE_SQLITE },	{ "elf", HAVE_LIBELF },
		{ "dw", HAVE_LIBDW },		{ "pprof", HAVE_PPROF },
		{ "demangle", HAVE_LIBIBERTY }, { "agent", HAVE_AGENT },
		{ "http", HAVE_MICROHTTPD },	{ "yaml", HAVE_YAML },
	};
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	strbuf_add_text(&out, "memstate " PACKAGE_VERSION "\nFeatures:");
	for (size_t i = 0; i < sizeof(features) / sizeof(features[0]); i++)
		strbuf_addf(&out, " %c%s", features[i].is_built_in ? '+' : '-',
			    features[i].name);
	strbuf_add_char(&out, '\n');
	return stream_finish(&out, EXIT_DONE);
}

int help_list_columns(const struct column_set *set)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	for (size_t i = 0; i < set->count; i++)
		strbuf_addf(&out, "%-34s %s\n", set->columns[i].name,
			    set->columns[i].help);
	return stream_finish(&out, EXIT_DONE);
}

struct help_options {
	struct options common;
	bool shows_all;
};

bool help_report_topic(const char *word)
{
	for (size_t i = 0; i < sizeof(topics) / sizeof(topics[0]); i++) {
		if (strcmp(topics[i].topic, word) != 0)
			continue;
		message("'%s' is not a command; see %s for %s", word, topics[i].page,
			topics[i].content);
		return true;
	}
	return false;
}

static int help_run(struct options *o)
{
	const struct cmd *cmd = &cmd_watch;

	if (o->arg_count > 0)
		cmd = cmd_find(o->args[0], o->arg_count > 1 ? o->args[1] : NULL);
	if (cmd)
		return help_show(cmd, ((struct help_options *)o)->shows_all);
	if (o->arg_count > 1 && cmd_find(o->args[0], NULL))
		cmd_report_unknown("help", o->args[0], o->args[1]);
	else if (!help_report_topic(o->args[0]))
		cmd_report_unknown("help", NULL, o->args[0]);
	return EXIT_BAD_USAGE;
}

static const struct option_row own_rows[] = {
	{ 'a', "all", NULL, "list all options, and not only the common ones",
	  .group = OPTIONS_OUTPUT, .flag = offsetof(struct help_options, shows_all) },
	{ 0 },
};

const struct cmd cmd_help = {
	.name = "help",
	.args = "[-a] [COMMAND]",
	.summary = "show the usage of memstate or of one of its commands",
	.shared = "",
	.own = own_rows,
	.options_size = sizeof(struct help_options),
	.max_args = 2,
	.run = help_run,
};
