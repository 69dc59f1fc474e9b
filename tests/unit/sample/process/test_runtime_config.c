/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Configuration files of servers in a root folder made by the test. */
#include "config.h"

#include "sample/process/runtime_config.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/units.h"
#include "../../support/tree.h"
#include "../../support/unit.h"

static struct tree tree;
static struct foreign_reader reader;

static int begin(void **state)
{
	(void)state;
	tree_make(&tree);
	reader = (struct foreign_reader){ .has_ids = true,
					  .uid = geteuid(),
					  .gid = getegid() };
	return 0;
}

static int end(void **state)
{
	(void)state;
	tree_remove(&tree);
	return 0;
}

/* Check the option, and the limit that follows from it and the command line. */
static void check(const char *command, const char *wanted, uint64_t wanted_bytes)
{
	const struct runtime_environment environment = { .text = "", .command = command };
	struct strbuf out = STRBUF_INIT;
	int root_fd = open(tree.root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool is_found = runtime_config_read(root_fd, &reader, &environment, &out);
	char *option = out.text;
	struct runtime_limit limit;

	assert_true(root_fd >= 0);
	close(root_fd);
	assert_int_equal(is_found, wanted != NULL);
	assert_string_equal(strbuf_text(&out), wanted ? wanted : "");
	runtime_limit_find(command, &option, is_found, &limit);
	assert_int_equal(limit.option ? limit.bytes : BYTES_UNKNOWN, wanted_bytes);
	strbuf_release(&out);
}

static void the_automatic_file_of_postgres_comes_last(void **state)
{
	(void)state;
	check("postgres -D /data", NULL, BYTES_UNKNOWN);
	tree_write(&tree, "data/postgresql.conf", "shared_buffers = 600MB\n");
	check("postgres -D /data", "postgresql.conf shared_buffers=600MB", 600 * MIB);
	tree_write(&tree, "data/postgresql.auto.conf", "work_mem = '1GB'\n");
	check("postgres -D /data", "postgresql.conf shared_buffers=600MB", 600 * MIB);
	tree_write(&tree, "data/postgresql.auto.conf", "shared_buffers = '64MB'\n");
	check("postgres -D /data", "postgresql.auto.conf shared_buffers=64MB", 64 * MIB);
}

static void the_command_line_takes_precedence_over_files(void **state)
{
	(void)state;
	tree_write(&tree, "data/postgresql.conf", "shared_buffers = 600MB\n");
	tree_write(&tree, "etc/my.cnf", "[mysqld]\ninnodb_buffer_pool_size=600M\n");
	tree_write(&tree, "etc/redis.conf", "maxmemory 600mb\n");
	check("postgres -D /data -c shared_buffers=32MB",
	      "postgresql.conf shared_buffers=600MB", 32 * MIB);
	check("mysqld --defaults-file=/etc/my.cnf",
	      "my.cnf --innodb_buffer_pool_size=600M", 600 * MIB);
	check("mysqld --defaults-file=/etc/my.cnf --innodb-buffer-pool-size=1M",
	      "my.cnf --innodb_buffer_pool_size=600M", MIB);
	check("redis-server /etc/redis.conf", "redis.conf --maxmemory 600mb", 600 * MIB);
	check("redis-server /etc/redis.conf --maxmemory 1mb",
	      "redis.conf --maxmemory 600mb", MIB);
}

static void the_limit_says_which_file_has_it(void **state)
{
	char *option = (char *)"postgresql.conf shared_buffers=600MB";
	struct runtime_limit limit;

	(void)state;
	runtime_limit_find("postgres", &option, 1, &limit);
	assert_string_equal(limit.text, "shared_buffers=600MB in postgresql.conf");
	/* the option means nothing to another program */
	runtime_limit_find("sh", &option, 1, &limit);
	assert_null(limit.option);
}

static void special_large_and_outside_files_are_not_read(void **state)
{
	static char large[MIB + 2];
	char link[128], outside[] = "/tmp/memstate-outside-XXXXXX";
	int fd = mkstemp(outside);

	(void)state;
	assert_true(fd >= 0 && write(fd, "maxmemory 7mb\n", 14) == 14);
	close(fd);
	tree_mkfifo(&tree, "etc/fifo.conf");
	check("redis-server /etc/fifo.conf", NULL, BYTES_UNKNOWN);
	memset(large, '\n', sizeof(large) - 1);
	memcpy(large, "maxmemory 600mb", 15);
	tree_write(&tree, "etc/large.conf", large);
	check("redis-server /etc/large.conf", NULL, BYTES_UNKNOWN);
	snprintf(link, sizeof(link), "%s/etc/link.conf", tree.root);
	assert_int_equal(symlink(outside, link), 0);
	check("redis-server /etc/link.conf", NULL, BYTES_UNKNOWN);
	check("redis-server /etc/../../../../../..//etc/none.conf", NULL, BYTES_UNKNOWN);
	unlink(outside);
}

static void set_mode(const char *path, mode_t mode)
{
	char whole[256];

	snprintf(whole, sizeof(whole), "%s%s", tree.root, path);
	assert_int_equal(chmod(whole, mode), 0);
}

static void files_that_the_process_cannot_read_are_not_read(void **state)
{
	static const struct {
		mode_t dir, file;
		bool is_owner, is_member, is_read;
	} rows[] = {
		{ 0700, 0600, true, false, true },   { 0700, 0600, false, false, false },
		{ 0755, 0600, false, false, false }, { 0700, 0644, false, false, false },
		{ 0755, 0644, false, false, true },  { 0750, 0640, false, true, true },
		{ 0755, 0640, false, false, false }, { 0700, 0640, false, true, false },
		{ 0755, 0604, false, true, false },  { 0755, 0044, true, true, false },
	};

	(void)state;
	tree_write(&tree, "etc/redis.conf", "maxmemory 600mb\n");
	set_mode("", 0755);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint32_t group = getegid();

		reader.uid = geteuid() + !rows[i].is_owner;
		reader.gid = group + 1;
		reader.groups = &group;
		reader.group_count = rows[i].is_member;
		set_mode("/etc/redis.conf", rows[i].file);
		set_mode("/etc", rows[i].dir);
		if (rows[i].is_read)
			check("redis-server /etc/redis.conf",
			      "redis.conf --maxmemory 600mb", 600 * MIB);
		else
			check("redis-server /etc/redis.conf", NULL, BYTES_UNKNOWN);
	}
	set_mode("/etc", 0755);
	reader.has_ids = false;
	set_mode("/etc/redis.conf", 0660);
	check("redis-server /etc/redis.conf", NULL, BYTES_UNKNOWN);
	set_mode("/etc/redis.conf", 0604);
	check("redis-server /etc/redis.conf", "redis.conf --maxmemory 600mb", 600 * MIB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
		TEST(the_automatic_file_of_postgres_comes_last),
		TEST(the_command_line_takes_precedence_over_files),
		TEST(the_limit_says_which_file_has_it),
		TEST(files_that_the_process_cannot_read_are_not_read),
		TEST(special_large_and_outside_files_are_not_read),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
