/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "model/process_name.h"

#include <string.h>

#include "../support/unit.h"

/* A command line as in /proc/PID/cmdline, with its length. */
#define LINE(text) text, sizeof(text) - 1

static void names_are_those_of_the_program_and_its_script(void **state)
{
	static const struct {
		const char *comm, *arguments;
		size_t length;
		const char *program, *script;
	} rows[] = {
		{ "kthreadd", LINE(""), "", "" },
		{ "sshd", LINE("/usr/sbin/sshd\0-D\0"), "sshd", "" },
		{ "sshd", LINE("/usr/sbin/sshd"), "sshd", "" },
		{ "bash", LINE("-bash\0"), "bash", "" },
		{ "nginx", LINE("nginx: worker process\0"), "nginx", "" },
		{ "x", LINE("/opt/My App/server: 1\0"), "server: 1", "" },
		{ "x", LINE("\0\0"), "", "" },
		{ "x", LINE("/\0"), "", "" },
		{ "systemd-network", LINE("/lib/systemd/systemd-networkd\0"),
		  "systemd-networkd", "" },
		{ "python3", LINE("python3\0/srv/server.py\0--port\0"), "python3",
		  "server.py" },
		{ "python3.11", LINE("/usr/bin/python3.11\0-u\0-W\0ignore\0a.py"),
		  "python3.11", "a.py" },
		{ "python3", LINE("python3\0-m\0http.server\0"), "python3",
		  "http.server" },
		{ "python3", LINE("python3\0-c\0import os\0x.py\0"), "python3", "" },
		{ "python3", LINE("python3\0"), "python3", "" },
		{ "python3", LINE("python3\0-m\0"), "python3", "" },
		{ "java", LINE("java\0-Xmx1g\0-cp\0a.jar\0-jar\0/opt/b.jar\0"), "java",
		  "b.jar" },
		{ "node", LINE("node\0--inspect\0./app.js\0"), "node", "app.js" },
		{ "sh", LINE("sh\0-c\0./run.sh\0"), "sh", "" },
		{ "sed", LINE("sed\0s.sed\0"), "sed", "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct process_names names;

		process_names_find(rows[i].comm, rows[i].arguments, rows[i].length,
				   &names);
		assert_row(names.program_length == strlen(rows[i].program) &&
				   strncmp(names.program_length ? names.program : "",
					   rows[i].program, names.program_length) == 0,
			   rows[i].arguments);
		assert_row(names.script_length == strlen(rows[i].script) &&
				   strncmp(names.script_length ? names.script : "",
					   rows[i].script, names.script_length) == 0,
			   rows[i].arguments);
	}
}

static void a_pattern_is_a_name_or_has_wildcards(void **state)
{
	static const struct {
		const char *pattern;
		bool is_match;
	} rows[] = {
		{ "python3", true }, { "server.py", true }, { "main", true },
		{ "python", false }, { "server", false },   { "Server.py", false },
		{ "py*", true },     { "*.py", true },	    { "s?rver.py", true },
		{ "[ms]*", true },   { "x*", false },	    { "*/server.py", false },
		{ "", false },	     { "mai[", false },
	};
	struct process_names names;

	(void)state;
	process_names_find("main", LINE("/usr/bin/python3\0/srv/server.py\0"), &names);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_row(process_names_match(&names, rows[i].pattern) ==
				   rows[i].is_match,
			   rows[i].pattern);
		assert_row(process_names_match_line("main",
						    "/usr/bin/python3 /srv/server.py",
						    rows[i].pattern) == rows[i].is_match,
			   rows[i].pattern);
	}
	assert_true(process_names_match_line("main", NULL, "main"));
	assert_false(process_names_match_line("main", NULL, "python3"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_those_of_the_program_and_its_script),
		cmocka_unit_test(a_pattern_is_a_name_or_has_wildcards),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
