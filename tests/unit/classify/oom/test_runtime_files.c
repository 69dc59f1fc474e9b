/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The configuration files of servers, and the memory limits in their texts. */
#include "config.h"

#include "classify/oom/runtime_files.h"

#include <stdio.h>
#include <string.h>

#include "../../support/unit.h"

/* Check the paths of the files, joined by blanks. */
static void check_files(const char *command, const char *environ, size_t length,
			const char *wanted)
{
	const struct runtime_environment environment = { .text = environ,
							 .length = length,
							 .command = command };
	char found[RUNTIME_FILES_MAX * (RUNTIME_FILE_PATH_SIZE + 1) + 1] = "";
	struct runtime_files files;
	size_t at = 0;

	runtime_files_find(&environment, &files);
	for (size_t i = 0; i < files.count; i++)
		at += (size_t)snprintf(found + at, sizeof(found) - at, "%s%s",
				       i > 0 ? " " : "", files.items[i].path);
	if (strcmp(found, wanted) != 0)
		fail_msg("%s: %s, wanted %s", command, found, wanted);
}

static void check_command(const char *command, const char *wanted)
{
	check_files(command, "", 0, wanted);
}

static void postgres_has_its_files_in_the_data_directory(void **state)
{
	static const char environ[] = "HOME=/root\0PGDATA=/env\0OTHER=PGDATA=/no";

	(void)state;
	check_command("postgres -D /data",
		      "/data/postgresql.conf /data/postgresql.auto.conf");
	check_command("/usr/lib/postgresql/15/bin/postgres -D/data",
		      "/data/postgresql.conf /data/postgresql.auto.conf");
	check_command("postgres -D /data -c config_file=/etc/pg/postgresql.conf",
		      "/etc/pg/postgresql.conf /data/postgresql.auto.conf");
	check_command("postgres -D /data --config-file=/etc/pg/main.conf",
		      "/etc/pg/main.conf /data/postgresql.auto.conf");
	check_files("postgres", environ, sizeof(environ),
		    "/env/postgresql.conf /env/postgresql.auto.conf");
	check_files("postgres -D /data", environ, sizeof(environ),
		    "/data/postgresql.conf /data/postgresql.auto.conf");
	check_files("sh", environ, sizeof(environ), "");
	check_command("postgres: checkpointer -D /data", "");
	check_command("postgres", "");
}

static void mysql_and_redis_have_the_files_that_the_command_line_names(void **state)
{
	(void)state;
	check_command("mysqld --defaults-file=/etc/my.cnf --user=mysql", "/etc/my.cnf");
	check_command("mariadbd --defaults-extra-file=/etc/extra.cnf", "/etc/extra.cnf");
	check_command("mysqld --user=mysql", "");
	check_command("redis-server /etc/redis.conf --port 7", "/etc/redis.conf");
	check_command("valkey-server /etc/valkey.conf", "/etc/valkey.conf");
	check_command("redis-server --port 7 /etc/redis.conf", "");
	/* as Redis shows itself in the process list */
	check_command("/usr/bin/redis-server 127.0.0.1:6379", "");
	check_command(NULL, "");
}

static void relative_and_overlong_paths_are_left_out(void **state)
{
	char command[RUNTIME_FILE_PATH_SIZE + 100];

	(void)state;
	check_command("postgres -D data", "");
	check_command("mysqld --defaults-file=my.cnf", "");
	check_command("redis-server redis.conf", "");
	snprintf(command, sizeof(command), "mysqld --defaults-file=/%0*d",
		 RUNTIME_FILE_PATH_SIZE, 0);
	check_command(command, "");
}

static void check(const char *name, const char *text, const char *wanted)
{
	char found[RUNTIME_OPTION_SIZE] = "none";

	if (runtime_file_parse(name, text, found) != (strcmp(wanted, "none") != 0) ||
	    strcmp(found, wanted) != 0)
		fail_msg("%s: %s, wanted %s", text, found, wanted);
}

static void postgres_lines_have_a_name_and_a_quoted_or_plain_value(void **state)
{
	static const char name[] = RUNTIME_FILE_POSTGRES;

	(void)state;
	check(name, "shared_buffers = 600MB\t\t# min 128kB\n", "shared_buffers=600MB");
	check(name, "port = 5432\n  Shared_Buffers='600 MB'", "shared_buffers=600MB");
	check(name, "shared_buffers 1GB\nshared_buffers=2GB#x\n", "shared_buffers=2GB");
	check(name, "#shared_buffers = 600MB\n", "none");
	check(name, "shared_buffers_x = 600MB\nx.shared_buffers = 1GB\n", "none");
	check(name, "shared_buffers =\nx = 'shared_buffers = 1GB'\n", "none");
	check(name, "", "none");
}

static void mysql_options_count_in_groups_of_the_server(void **state)
{
	static const char name[] = RUNTIME_FILE_MYSQL;

	(void)state;
	check(name, "[mysqld]\ninnodb-buffer-pool-size = 600M # x\n",
	      "--innodb_buffer_pool_size=600M");
	check(name, "[client]\nport=1\n[server]\n\tinnodb_buffer_pool_size=\"1G\"\n",
	      "--innodb_buffer_pool_size=1G");
	check(name,
	      "[mysqld]\ninnodb_buffer_pool_size=1G\nloose-innodb_buffer_pool_size=2G",
	      "--innodb_buffer_pool_size=2G");
	check(name, "innodb_buffer_pool_size=1G\n[mysql]\ninnodb_buffer_pool_size=2G\n",
	      "none");
	check(name,
	      "[mysqld]\n#innodb_buffer_pool_size=1G\n;innodb_buffer_pool_size=2G\n"
	      "innodb_buffer_pool_size_x=3G\n!include /etc/other.cnf\n",
	      "none");
}

static void redis_directives_ignore_case(void **state)
{
	static const char name[] = RUNTIME_FILE_REDIS;

	(void)state;
	check(name, "maxmemory-policy noeviction\nMaxMemory 600mb\n",
	      "--maxmemory 600mb");
	check(name, "maxmemory 1gb\r\nmaxmemory \"2gb\"\r\n", "--maxmemory 2gb");
	check(name, "# maxmemory 1gb\ninclude maxmemory 2gb\n", "none");
}

static void only_amounts_are_returned(void **state)
{
	char line[5000];

	(void)state;
	check(RUNTIME_FILE_REDIS, "maxmemory hunter2\n", "none");
	check(RUNTIME_FILE_REDIS, "maxmemory 1;secret\n", "none");
	memset(line, ' ', sizeof(line));
	memcpy(line, "maxmemory", 9);
	memcpy(line + sizeof(line) - 5, "1gb\n", 5);
	check(RUNTIME_FILE_REDIS, line, "none");
	memset(line, '1', sizeof(line));
	memcpy(line, "maxmemory ", 10);
	line[sizeof(line) - 1] = '\0';
	check(RUNTIME_FILE_REDIS, line, "none");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(postgres_has_its_files_in_the_data_directory),
		cmocka_unit_test(
			mysql_and_redis_have_the_files_that_the_command_line_names),
		cmocka_unit_test(relative_and_overlong_paths_are_left_out),
		cmocka_unit_test(postgres_lines_have_a_name_and_a_quoted_or_plain_value),
		cmocka_unit_test(mysql_options_count_in_groups_of_the_server),
		cmocka_unit_test(redis_directives_ignore_case),
		cmocka_unit_test(only_amounts_are_returned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
