/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "model/process_name.h"

#include <string.h>

#include "../support/unit.h"

/* A command line as in /proc/PID/cmdline, with its length. */
#define LINE(text) text, sizeof(text) - 1

static const struct {
	const char *comm, *arguments;
	size_t length;
	const char *program, *script;
} processes[] = {
	{ "kthreadd", LINE(""), "", "" },
	{ "sshd", LINE("/usr/sbin/sshd\0-D\0"), "sshd", "" },
	{ "sshd", LINE("/usr/sbin/sshd"), "sshd", "" },
	{ "bash", LINE("-bash\0"), "bash", "" },
	{ "nginx", LINE("nginx: worker process\0"), "nginx", "" },
	{ "x", LINE("/opt/My App/server: 1\0"), "server: 1", "" },
	{ "x", LINE("\0\0"), "", "" },
	{ "x", LINE("/\0"), "", "" },
	{ "systemd-network", LINE("/lib/systemd/systemd-networkd\0"), "systemd-networkd",
	  "" },
	{ "python3", LINE("python3\0/srv/server.py\0--port\0"), "python3", "server.py" },
	{ "python3.11", LINE("/usr/bin/python3.11\0-u\0-W\0ignore\0a.py"), "python3.11",
	  "a.py" },
	{ "python3", LINE("python3\0-m\0http.server\0"), "python3", "http.server" },
	{ "python3", LINE("python3\0-c\0import os\0x.py\0"), "python3", "" },
	{ "python3", LINE("python3\0"), "python3", "" },
	{ "python3", LINE("python3\0-m\0"), "python3", "" },
	{ "java", LINE("java\0-Xmx1g\0-cp\0a.jar\0-jar\0/opt/b.jar\0"), "java", "b.jar" },
	{ "node", LINE("node\0--inspect\0./app.js\0"), "node", "app.js" },
	{ "sh", LINE("sh\0-c\0./run.sh\0"), "sh", "" },
	{ "sed", LINE("sed\0s.sed\0"), "sed", "" },
	{ "bash", LINE("bash\0-lc\0exec /usr/bin/postgres\0"), "bash", "" },
	{ "sh", LINE("sh\0-ec\0./run.sh\0"), "sh", "" },
	{ "sh", LINE("sh\0-e\0/opt/run.sh\0"), "sh", "run.sh" },
	{ "bash", LINE("bash\0-euo\0pipefail\0run.sh\0"), "bash", "run.sh" },
	{ "bash", LINE("bash\0+o\0posix\0run.sh\0"), "bash", "run.sh" },
	{ "bash", LINE("bash\0-p\0run.sh\0"), "bash", "run.sh" },
	{ "python3", LINE("python3\0-uc\0x = 1/a.py\0"), "python3", "" },
	{ "python3", LINE("python3\0-Im\0http.server\0"), "python3", "http.server" },
	{ "python3", LINE("python3\0-E\0-I\0a.py\0"), "python3", "a.py" },
	{ "python3", LINE("python3\0-Wonce\0a.py\0"), "python3", "a.py" },
	{ "python3", LINE("python3\0-X\0dev\0a.py\0"), "python3", "a.py" },
	{ "perl", LINE("perl\0-ne\0print/x\0"), "perl", "" },
	{ "perl", LINE("perl\0-Ie\0a.pl\0"), "perl", "a.pl" },
	{ "java", LINE("java\0-p\0mods\0-m\0app/org.Main\0"), "java", "org.Main" },
	{ "node", LINE("node\0--import\0mod\0app.js\0"), "node", "app.js" },
	{ "perl", LINE("perl\0-Mfeature\0-d\0a.pl\0"), "perl", "a.pl" },
	{ "node", LINE("node\0-r\0mod\0app.js\0"), "node", "app.js" },
	{ "node", LINE("node\0-pe\0process/x\0"), "node", "" },
	{ "ruby", LINE("ruby\0-I\0lib\0a.rb\0"), "ruby", "a.rb" },
	{ "php", LINE("php\0-d\0a=b\0-f\0x.php\0"), "php", "x.php" },
	{ "bash", LINE("bash\0-o\0"), "bash", "" },
};

static bool is_name(const char *name, size_t length, const char *wanted)
{
	return length == strlen(wanted) &&
	       strncmp(length ? name : "", wanted, length) == 0;
}

static void names_are_those_of_the_program_and_its_script(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(processes); i++) {
		struct process_names names;

		process_names_find(processes[i].comm, processes[i].arguments,
				   processes[i].length, &names);
		assert_row(is_name(names.program, names.program_length,
				   processes[i].program),
			   processes[i].arguments);
		assert_row(
			is_name(names.script, names.script_length, processes[i].script),
			processes[i].arguments);
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
		{ "", false },	     { "mai[", false },	    { "mai\\n", false },
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
