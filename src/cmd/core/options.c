/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/core/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/similar.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "cmd/core/cmd.h"
#include "cmd/core/message.h"

/* getopt_long() value of an option without a letter: LONG_ONLY plus the option's index */
#define LONG_ONLY 0x100

static void add_row(struct option_list *list, const struct option_row *row)
{
	list->items = xgrow(list->items, &list->capacity, list->count + 1,
			    sizeof(*list->items));
	list->items[list->count++] = row;
}

static void add_shared(struct option_list *list, const char *names)
{
	while (*names) {
		size_t length = strcspn(names, " ");

		add_row(list, option_find_shared(names, length));
		names += length + strspn(names + length, " ");
	}
}

/*
 * List all options of the command: its own, and the shared options that it accepts. The
 * caller frees the items.
 */
static void list_options(const struct cmd *cmd, struct option_list *ret)
{
	*ret = (struct option_list){ 0 };
	add_shared(ret, cmd->shared);
	for (const struct option_row *row = cmd->own; row && row->name; row++)
		add_row(ret, row);
	add_shared(ret, "color no-pager help version");
}

bool option_is_accepted(const struct cmd *cmd, const char *name)
{
	size_t length = strlen(name);

	for (const char *found = cmd->shared; (found = strstr(found, name));
	     found += length)
		if ((found == cmd->shared || found[-1] == ' ') &&
		    (found[length] == ' ' || found[length] == '\0'))
			return true;
	return false;
}

static bool has_optional_arg(const struct option_row *row)
{
	return row->arg && strncmp(row->arg, "[=", 2) == 0;
}

static void add_row_help(const struct option_row *row, struct strbuf *out)
{
	const size_t indent = 30;
	size_t begin = out->length;

	if (row->letter)
		strbuf_addf(out, "  -%c, --%s", row->letter, row->name);
	else
		strbuf_addf(out, "      --%s", row->name);
	if (row->arg)
		strbuf_addf(out, "%s%s", has_optional_arg(row) ? "" : " ", row->arg);
	if (out->length - begin > indent - 2) {
		strbuf_add_char(out, '\n');
		strbuf_add_repeat(out, " ", indent);
	} else {
		strbuf_add_repeat(out, " ", indent - (out->length - begin));
	}
	text_add_wrapped(out, row->help, indent, 80);
}

bool options_add_help(const struct cmd *cmd, bool shows_rare, struct strbuf *out)
{
	static const char *const headings[OPTIONS_GROUP_COUNT_] = {
		[OPTIONS_PROCESSES] = "Processes",
		[OPTIONS_OUTPUT] = "Output",
		[OPTIONS_HEAP] = "Heap",
		[OPTIONS_RUNS] = "Runs",
		[OPTIONS_LIMITS] = "Limits",
		[OPTIONS_STACKS] = "Call stacks",
		[OPTIONS_RECORDINGS] = "Recordings",
		[OPTIONS_GENERAL] = "General",
	};
	struct option_list list;
	bool is_complete = true;

	list_options(cmd, &list);
	for (unsigned int g = 1; g <= OPTIONS_GROUP_COUNT_; g++) {
		unsigned int group = g % OPTIONS_GROUP_COUNT_;
		bool has_heading = false;

		for (size_t i = 0; i < list.count; i++) {
			const struct option_row *row = list.items[i];

			if (row->group != group)
				continue;
			if (row->is_rare && !shows_rare) {
				is_complete = false;
				continue;
			}
			if (!has_heading)
				strbuf_addf(out, "%s:\n", headings[group]);
			has_heading = true;
			add_row_help(row, out);
		}
	}
	free(list.items);
	return is_complete;
}

static struct option *make_longs(const struct option_list *list)
{
	struct option *longs = xcalloc(list->count + 1, sizeof(*longs));

	for (size_t i = 0; i < list->count; i++)
		longs[i] = (struct option){
			.name = list->items[i]->name,
			.has_arg = has_optional_arg(list->items[i]) ? optional_argument
				   : list->items[i]->arg	    ? required_argument
								    : no_argument,
			.val = LONG_ONLY + (int)i,
		};
	return longs;
}

static void add_letters(struct strbuf *out, const struct option_list *list)
{
	strbuf_add_char(out, ':');
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i]->letter)
			strbuf_addf(out, "%c%s", list->items[i]->letter,
				    list->items[i]->arg ? ":" : "");
}

/* Return the option that corresponds to a value from getopt_long(). */
static const struct option_row *find_row(const struct option_list *list, int value)
{
	size_t i = 0;

	if (value >= LONG_ONLY)
		return list->items[value - LONG_ONLY];
	while (list->items[i]->letter != value)
		i++;
	return list->items[i];
}

static int set_option(const struct option_row *row, char *arg, struct options *o)
{
	int r = row->set ? row->set(row, arg, o) : 0;

	if (r < 0) {
		if (r != -ECANCELED)
			message_usage(o->verb, "--%s: '%s' is not %s", row->name, arg,
				      row->want);
		return -EINVAL;
	}
	if (row->flag)
		*(bool *)((char *)o + row->flag) = true;
	add_row(&o->given, row);
	return 0;
}

/* Report a long option that the command does not have, or an ambiguous abbreviation. */
static void report_unknown_long(const struct cmd *cmd, const struct option_list *list,
				const char *word, const struct options *o)
{
	_cleanup_strbuf_ struct strbuf hint = STRBUF_INIT;
	_cleanup_free_ char *name = xstrndup(word + 2, strcspn(word + 2, "="));
	struct similar similar = { .word = name };
	bool is_ambiguous;

	for (size_t i = 0; i < list->count; i++)
		similar_add(&similar, list->items[i]->name);
	similar_add_hint(&similar, "--", &hint);
	if (cmd->requires_pid && strcmp(name, "replay") == 0)
		strbuf_add_text(&hint, CMD_LIVE_HINT);
	is_ambiguous = similar.count > 1 &&
		       strncmp(similar.names[0], name, strlen(name)) == 0;
	message_usage(o->verb, "%s option '--%s'%s",
		      is_ambiguous ? "ambiguous" : "unknown", name, strbuf_text(&hint));
}

static int refuse_unknown(const struct cmd *cmd, const struct option_list *list,
			  const char *word, const struct options *o)
{
	if (optopt > 0 && optopt < LONG_ONLY)
		message_usage(o->verb, "unknown option '-%c'", optopt);
	else if (optopt >= LONG_ONLY)
		message_usage(o->verb, "option '--%s' takes no argument",
			      find_row(list, optopt)->name);
	else
		report_unknown_long(cmd, list, word, o);
	return -EINVAL;
}

static int parse_options(const struct cmd *cmd, int argc, char **argv, struct options *o)
{
	_cleanup_strbuf_ struct strbuf letters = STRBUF_INIT;
	struct option_list list;
	struct option *longs;
	int value, r = 0;

	list_options(cmd, &list);
	longs = make_longs(&list);
	add_letters(&letters, &list);
	opterr = 0;
	/*
	 * reset the state of getopt, which may be left over from an earlier command line
	 */
	optind = 0;
	while (r == 0 &&
	       (value = getopt_long(argc, argv, letters.text, longs, NULL)) != -1) {
		if (value == ':') {
			message_usage(o->verb, "option '%s' requires an argument",
				      argv[optind - 1]);
			r = -EINVAL;
		} else if (value == '?') {
			r = refuse_unknown(cmd, &list, argv[optind - 1], o);
		} else {
			r = set_option(find_row(&list, value), optarg, o);
		}
	}
	free(longs);
	free(list.items);
	return r;
}

/*
 * Return the index of "--", which precedes the command to run, or argc if there is
 * no "--".
 */
static int find_command(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--") == 0)
			return i;
	return argc;
}

static int set_command(const struct cmd *cmd, char **command, struct options *o)
{
	if (!cmd->takes_command) {
		message_usage(cmd->name, "'--': this command does not run programs");
		return -EINVAL;
	}
	if (!command[0]) {
		message_usage(cmd->name, "'--' requires a command after it");
		return -EINVAL;
	}
	o->command = command;
	return 0;
}

static struct options *make_defaults(const struct cmd *cmd)
{
	struct options *o =
		xcalloc(1, cmd->options_size ? cmd->options_size : sizeof(*o));

	if (cmd->defaults)
		memcpy(o, cmd->defaults, cmd->options_size);
	*o = (struct options){
		.verb = cmd->name,
		.reads_heap = cmd->reads_heap,
		.interval_ns = NS_PER_S,
		.max_share_per_mille = 20,
		.max_pause_ns = NS_PER_S,
		.pre_copy = PRE_COPY_AUTO,
		.run_count = 3,
		.procfs_root = "/proc",
	};
	return o;
}

/*
 * Return the number of leading arguments that may be pids. If the command takes no other
 * arguments, all may be pids. If it requires other arguments, at most the first argument
 * may be a pid.
 */
static int count_possible_pids(const struct cmd *cmd, const struct options *o)
{
	if (!option_is_accepted(cmd, "pid"))
		return 0;
	if (cmd->max_args == 0)
		return o->arg_count;
	return cmd->accepts_pid_first && o->arg_count > 1 && targets_are_all(&o->targets);
}

/*
 * If the command selects processes, interpret arguments that consist of digits as pids.
 */
static int take_pids(const struct cmd *cmd, struct options *o)
{
	int count = count_possible_pids(cmd, o);

	while (count-- > 0 && o->args[0][strspn(o->args[0], "0123456789")] == '\0') {
		if (option_add_target(o, o->args[0]) < 0)
			return -EINVAL;
		o->args++;
		o->arg_count--;
	}
	return 0;
}

int options_parse(const struct cmd *cmd, int argc, char **argv, struct options **ret)
{
	struct options *o = make_defaults(cmd);
	int own_argc = find_command(argc, argv);
	int r;

	r = parse_options(cmd, own_argc, argv, o);
	if (r == 0 && own_argc < argc)
		r = set_command(cmd, argv + own_argc + 1, o);
	if (r < 0) {
		options_free(o);
		return r;
	}
	o->args = argv + optind;
	o->arg_count = own_argc - optind;
	r = take_pids(cmd, o);
	if (r < 0) {
		options_free(o);
		return r;
	}
	*ret = o;
	return 0;
}

void options_free(struct options *o)
{
	free(o->stacks.rules);
	free(o->targets.pids);
	free(o->targets.names);
	free(o->targets.names_found);
	name_cache_free(o->targets.name_cache);
	free(o->given.items);
	free(o);
}

const char *options_find_given(const struct options *o, const char *names)
{
	for (size_t i = 0; i < o->given.count; i++) {
		const char *name = o->given.items[i]->name, *found = names;
		size_t length = strlen(name);

		while ((found = strstr(found, name))) {
			if ((found == names || found[-1] == ' ') &&
			    (found[length] == ' ' || found[length] == '\0'))
				return name;
			found += length;
		}
	}
	return NULL;
}

int options_check(const struct options *o)
{
	for (size_t i = 0; i < o->given.count; i++) {
		const struct option_row *row = o->given.items[i];

		if (!row->needs || options_find_given(o, row->needs))
			continue;
		message_usage(o->verb, "--%s requires --%s", row->name, row->needs);
		return -EINVAL;
	}
	return 0;
}
