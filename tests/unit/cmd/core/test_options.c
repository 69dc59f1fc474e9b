/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/core/options.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "cmd/commands.h"
#include "cmd/compare/compare.h"
#include "cmd/core/cmd.h"
#include "../../support/unit.h"

#define ARGS_MAX 20

static struct options *options;

static int mute_stderr(void)
{
	int before = dup(STDERR_FILENO), null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	dup2(null, STDERR_FILENO);
	close(null);
	return before;
}

static void restore_stderr(int before)
{
	dup2(before, STDERR_FILENO);
	close(before);
}

/* Parse a line, split at blanks. Messages on stderr are discarded. */
static int parse(const struct cmd *cmd, const char *line)
{
	static char words[256];
	static char name[] = "memstate";
	static char *argv[ARGS_MAX + 2]; /* options->command points into it */
	char *rest = words, *word;
	int argc = 1, stderr_before, r;

	assert_true(strlen(line) < sizeof(words));
	memset(argv, 0, sizeof(argv));
	argv[0] = name;
	strcpy(words, line);
	while ((word = strsep(&rest, " ")) && argc <= ARGS_MAX)
		if (*word)
			argv[argc++] = word;
	stderr_before = mute_stderr();
	r = options_parse(cmd, argc, argv, &options);
	restore_stderr(stderr_before);
	return r;
}

/* Check the parsed options. Messages on stderr are discarded. */
static int check(void)
{
	int stderr_before = mute_stderr();
	int r = options_check(options);

	restore_stderr(stderr_before);
	return r;
}

static void without_options_the_defaults_apply(void **state)
{
	(void)state;
	assert_int_equal(parse(&cmd_watch, ""), 0);
	assert_true(targets_are_all(&options->targets));
	assert_int_equal(options->format, FORMAT_AUTO);
	assert_true(options->interval_ns == NS_PER_S && options->sample_count == 0);
	assert_int_equal(options->max_share_per_mille, 20);
	assert_string_equal(options->procfs_root, "/proc");
	assert_null(options->command);
	assert_null(options->output);
	assert_null(options->sort);
	options_free(options);
}

static void pids_and_names_may_be_mixed_and_repeated(void **state)
{
	(void)state;
	assert_int_equal(parse(&cmd_watch, "-p 1,sshd --pid=22 -pbash,3x -t"), 0);
	assert_int_equal(options->targets.pid_count, 2);
	assert_int_equal(options->targets.pids[0].pid, 1);
	assert_int_equal(options->targets.pids[1].pid, 22);
	assert_int_equal(options->targets.name_count, 3);
	assert_string_equal(options->targets.names[0], "sshd");
	assert_string_equal(options->targets.names[2], "3x");
	assert_true(options->targets.with_children);
	options_free(options);
}

static void arguments_after_a_double_dash_are_a_command(void **state)
{
	(void)state;
	assert_int_equal(parse(&cmd_watch, "--csv -n 3 -- prog -p 7 -- --csv"), 0);
	assert_int_equal(options->format, FORMAT_CSV);
	assert_true(options->sample_count == 3);
	assert_string_equal(options->command[0], "prog");
	assert_string_equal(options->command[1], "-p");
	assert_string_equal(options->command[3], "--");
	assert_int_equal(options->arg_count, 0);
	assert_true(targets_are_all(&options->targets));
	options_free(options);
}

static void options_may_follow_arguments(void **state)
{
	(void)state;
	assert_int_equal(parse(&cmd_map, "first -p 7 second --csv"), 0);
	assert_int_equal(options->arg_count, 2);
	assert_string_equal(options->args[0], "first");
	assert_string_equal(options->args[1], "second");
	assert_int_equal(options->targets.pids[0].pid, 7);
	options_free(options);
}

static void explain_accepts_a_pid_before_the_addresses(void **state)
{
	(void)state;
	assert_int_equal(parse(&cmd_explain, "4242 7f00 1234"), 0);
	assert_int_equal(options->targets.pid_count, 1);
	assert_int_equal(options->targets.pids[0].pid, 4242);
	assert_int_equal(options->arg_count, 2);
	assert_string_equal(options->args[0], "7f00");
	options_free(options);
	/* digits are an address if the process is selected otherwise, or on their own */
	assert_int_equal(parse(&cmd_explain, "-p 7 4242 1234"), 0);
	assert_int_equal(options->targets.pid_count, 1);
	assert_int_equal(options->arg_count, 2);
	options_free(options);
	assert_int_equal(parse(&cmd_explain, "4242"), 0);
	assert_true(targets_are_all(&options->targets));
	assert_int_equal(options->arg_count, 1);
	options_free(options);
}

static void intervals_are_at_least_a_millisecond(void **state)
{
	static const struct {
		const char *line;
		uint64_t ns; /* 0: the option is refused */
	} rows[] = {
		{ "-i 2", 2 * NS_PER_S },
		{ "-i 500ms", 500 * NS_PER_MS },
		{ "-i 1m", 60 * NS_PER_S },
		{ "--interval=0.25", 250 * NS_PER_MS },
		{ "-i 1ms", NS_PER_MS },
		{ "-i 999us", 0 },
		{ "-i 0", 0 },
		{ "-i -1", 0 },
		{ "-i 1x", 0 },
		{ "-i 99999999999999999h", 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_row(parse(&cmd_watch, rows[i].line) == (rows[i].ns ? 0 : -EINVAL),
			   rows[i].line);
		if (rows[i].ns) {
			assert_row(options->interval_ns == rows[i].ns, rows[i].line);
			options_free(options);
		}
	}
}

static void the_share_is_a_percentage(void **state)
{
	static const struct {
		const char *line;
		unsigned int per_mille; /* 0: the option is refused */
	} rows[] = {
		{ "--max-share 2", 20 },      { "--max-share 0.1", 1 },
		{ "--max-share 100", 1000 },  { "--max-share 12.5", 125 },
		{ "--max-share 0", 0 },	      { "--max-share 0.05", 0 },
		{ "--max-share 100.1", 0 },   { "--max-share 2%", 20 },
		{ "--max-share 12.5%", 125 }, { "--max-share %", 0 },
		{ "--max-share 2%%", 0 },     { "--max-share x", 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_row(parse(&cmd_watch, rows[i].line) ==
				   (rows[i].per_mille ? 0 : -EINVAL),
			   rows[i].line);
		if (rows[i].per_mille) {
			assert_row(options->max_share_per_mille == rows[i].per_mille,
				   rows[i].line);
			options_free(options);
		}
	}
}

static void percentages_may_have_a_percent_sign(void **state)
{
	(void)state;
	assert_int_equal(parse(&cmd_count, "--min 12.5%"), 0);
	options_free(options);
	assert_int_equal(parse(&cmd_count, "--min 101%"), -EINVAL);
	assert_int_equal(parse(&cmd_count, "--max-exponent 1.2%"), -EINVAL);
}

static void wrong_usage_is_refused(void **state)
{
	static const struct {
		const struct cmd *cmd;
		const char *line;
	} rows[] = {
		{ &cmd_watch, "--csv --json" },
		{ &cmd_watch, "--json --text" },
		{ &cmd_watch, "--text --csv" },
		{ &cmd_watch, "-n 0" },
		{ &cmd_watch, "-n 1.5" },
		{ &cmd_watch, "-n" },
		{ &cmd_watch, "-p 0" },
		{ &cmd_watch, "-p 4194305" },
		{ &cmd_watch, "-p 1,,2" },
		{ &cmd_watch, "-p ," },
		{ &cmd_watch, "-p" },
		{ &cmd_watch, "--no-such" },
		{ &cmd_watch, "-Z" },
		{ &cmd_watch, "--csv=1" },
		{ &cmd_watch, "--redact" }, /* an option of capture */
		{ &cmd_watch, "--" },
		{ &cmd_map, "-i 1" },	  /* an option of watch */
		{ &cmd_oom, "--kmsg f" }, /* an option of oom explain */
		{ &cmd_oom_explain, "--csv" },
		{ &cmd_oom_predict, "--record f" },
		{ &cmd_oom_watch, "--replay f" },
		{ &cmd_oom_watch, "--arm slow" },
		{ &cmd_diff, "--depth x" },
		{ &cmd_count, "--probe x" },
		{ &cmd_count, "--min 101" },
		{ &cmd_map, "-p 1 -- prog" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_row(parse(rows[i].cmd, rows[i].line) == -EINVAL, rows[i].line);
}

static void the_same_format_may_be_given_twice(void **state)
{
	(void)state;
	assert_int_equal(parse(&cmd_watch, "--csv --csv"), 0);
	options_free(options);
}

static const struct {
	const char *line;
	int number;
} signals[] = {
	{ "TERM", SIGTERM },
	{ "SIGINT", SIGINT },
	{ "9", SIGKILL },
	{ "USR1", SIGUSR1 },
};

static void comparison_options_are_parsed(void **state)
{
	const struct compare_options *c;

	(void)state;
	assert_int_equal(parse(&cmd_watch, "--preload a,b -- prog"), 0);
	c = compare_options(options);
	assert_string_equal(options->preload, "a,b");
	assert_true(options->run_count == 3 && options->warm_up_count == 0);
	assert_true(!c->workload && !c->output_dir && !c->has_ready);
	assert_true(c->settle_ns == 5 * NS_PER_S && c->stop_signal == SIGTERM);
	assert_false(bytes_known(c->above_bytes));
	assert_null(options_find_given(options, "runs ready html"));
	options_free(options);

	assert_int_equal(parse(&cmd_watch,
			       "--runs 5 --warm-up 1 --ready 2 --settle 0 --above 1M "
			       "--workload w --output-dir d -- prog"),
			 0);
	c = compare_options(options);
	assert_true(options->run_count == 5 && options->warm_up_count == 1);
	assert_true(c->has_ready && c->ready_ns == 2 * NS_PER_S && c->settle_ns == 0);
	assert_true(c->above_bytes == MIB);
	assert_string_equal(c->workload, "w");
	assert_string_equal(c->output_dir, "d");
	options_free(options);

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		char line[64];

		snprintf(line, sizeof(line), "--stop-signal %s -- prog", signals[i].line);
		assert_row(parse(&cmd_watch, line) == 0, line);
		assert_row(compare_options(options)->stop_signal == signals[i].number,
			   line);
		options_free(options);
	}
}

static void invalid_comparison_options_are_refused(void **state)
{
	static const char *const lines[] = {
		"--runs 0",	   "--runs 1001",
		"--runs x",	   "--warm-up -1",
		"--ready x",	   "--settle -1",
		"--stop-signal",   "--stop-signal NOSUCH",
		"--stop-signal 0", "--stop-signal 65",
		"--above 5",	   "--above x",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		assert_row(parse(&cmd_watch, lines[i]) == -EINVAL, lines[i]);
}

static void the_first_given_option_of_several_is_found(void **state)
{
	(void)state;
	assert_int_equal(parse(&cmd_watch, "--no-stop --output-all -n 3"), 0);
	assert_string_equal(options_find_given(options, "samples output-all"),
			    "output-all");
	assert_string_equal(options_find_given(options, "samples"), "samples");
	/* parts of a name are not the name */
	assert_null(options_find_given(options, "output no stop all"));
	assert_null(options_find_given(options, "no-stops xno-stop"));
	assert_null(options_find_given(options, ""));
	options_free(options);
}

static void an_option_without_the_one_it_needs_is_refused(void **state)
{
	static const struct {
		const struct cmd *cmd;
		const char *lacking, *complete;
	} rows[] = {
		{ &cmd_watch, "--at +1s", "--at +1s --replay f" },
		{ &cmd_watch, "--keep 1h", "--record f --keep 1h" },
		{ &cmd_watch, "--settle 1s", "--settle 1s --workload w" },
		{ &cmd_count, "--test x", "--test x --check f" },
		{ &cmd_count, "--sizes 1,2", "--sizes 1,2 --scale c" },
		{ &cmd_oom_watch, "--yes", "--arm high --yes" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_row(parse(rows[i].cmd, rows[i].lacking) == 0, rows[i].lacking);
		assert_row(check() == -EINVAL, rows[i].lacking);
		options_free(options);
		assert_row(parse(rows[i].cmd, rows[i].complete) == 0, rows[i].complete);
		assert_row(check() == 0, rows[i].complete);
		options_free(options);
	}
}

static bool takes(const struct cmd *cmd, const char *name)
{
	const char *found = strstr(cmd->shared, name);
	size_t length = strlen(name);

	for (const struct option_row *row = cmd->own; row && row->name; row++)
		if (strcmp(row->name, name) == 0)
			return true;
	for (; found; found = strstr(found + length, name))
		if ((found == cmd->shared || found[-1] == ' ') &&
		    (found[length] == ' ' || found[length] == '\0'))
			return true;
	return false;
}

/* Return true if the option refuses some arguments, and the message needs `want`. */
static bool parses_a_number(const struct option_row *row)
{
	return row->set == option_set_number || row->set == option_set_duration ||
	       row->set == option_set_bytes || row->set == option_set_thousandths ||
	       row->set == option_set_percent;
}

static void each_number_is_described_for_messages(void **state)
{
	(void)state;
	for (size_t i = 0; i == 0 || cmds[i - 1]; i++) {
		const struct cmd *cmd = i == 0 ? &cmd_watch : cmds[i - 1];
		const char *name = cmd->shared;

		while (*name) {
			size_t length = strcspn(name, " ");
			const struct option_row *row = option_find_shared(name, length);

			assert_row(!parses_a_number(row) || row->want, name);
			name += length + strspn(name + length, " ");
		}
		for (const struct option_row *row = cmd->own; row && row->name; row++)
			assert_row(!parses_a_number(row) || row->want, row->name);
	}
}

/* A name in a table that is misspelled would never match an option. */
static void every_name_in_the_tables_is_an_option(void **state)
{
	(void)state;
	for (size_t i = 0; i == 0 || cmds[i - 1]; i++) {
		const struct cmd *cmd = i == 0 ? &cmd_watch : cmds[i - 1];
		const char *name = cmd->shared;

		while (*name) {
			size_t length = strcspn(name, " ");
			const struct option_row *row = option_find_shared(name, length);

			assert_row(row, name);
			assert_row(!row->needs || takes(cmd, row->needs), name);
			name += length + strspn(name + length, " ");
		}
		for (const struct option_row *row = cmd->own; row && row->name; row++)
			assert_row(!row->needs || takes(cmd, row->needs), row->name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_options_the_defaults_apply),
		cmocka_unit_test(pids_and_names_may_be_mixed_and_repeated),
		cmocka_unit_test(arguments_after_a_double_dash_are_a_command),
		cmocka_unit_test(options_may_follow_arguments),
		cmocka_unit_test(explain_accepts_a_pid_before_the_addresses),
		cmocka_unit_test(intervals_are_at_least_a_millisecond),
		cmocka_unit_test(the_share_is_a_percentage),
		cmocka_unit_test(percentages_may_have_a_percent_sign),
		cmocka_unit_test(wrong_usage_is_refused),
		cmocka_unit_test(the_same_format_may_be_given_twice),
		cmocka_unit_test(comparison_options_are_parsed),
		cmocka_unit_test(invalid_comparison_options_are_refused),
		cmocka_unit_test(the_first_given_option_of_several_is_found),
		cmocka_unit_test(an_option_without_the_one_it_needs_is_refused),
		cmocka_unit_test(each_number_is_described_for_messages),
		cmocka_unit_test(every_name_in_the_tables_is_an_option),
	};

	return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
