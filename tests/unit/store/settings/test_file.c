/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "store/settings/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "../../support/tree.h"
#include "../../support/unit.h"

#define NOBODY 65534

static const bool none[SETTING_COUNT_];
static const struct settings tree_on = { { [SETTING_TREE] = (char *)"yes" } };

static struct tree home;
static struct strbuf path;

static int begin(void **state)
{
	(void)state;
	tree_make(&home);
	strbuf_clear(&path);
	assert_true(settings_file_find(NULL, home.root, &path));
	return 0;
}

static int end(void **state)
{
	(void)state;
	tree_remove(&home);
	strbuf_release(&path);
	return 0;
}

static void write_file(const char *text)
{
	tree_write(&home, ".config/memstate/memstaterc", text);
}

static void assert_text(const char *file, const char *want)
{
	_cleanup_strbuf_ struct strbuf got = STRBUF_INIT;

	assert_int_equal(io_read_file_at(AT_FDCWD, file, 100000, &got), 0);
	assert_string_equal(strbuf_text(&got), want);
}

static mode_t mode_of(const char *file)
{
	struct stat st;

	assert_int_equal(lstat(file, &st), 0);
	return st.st_mode;
}

/* Check that no temporary file is left in the folder. */
static void assert_entries(const char *dir, size_t want)
{
	_cleanup_closedir_ DIR *d = opendir(dir);
	size_t count = 0;

	assert_non_null(d);
	while (readdir(d))
		count++;
	assert_int_equal(count - 2, want);
}

static void path_below(const char *name, struct strbuf *ret)
{
	strbuf_clear(ret);
	strbuf_addf(ret, "%s/%s", home.root, name);
}

static void relative_folders_are_ignored(void **state)
{
	static const struct {
		const char *config_home, *home, *want;
	} rows[] = {
		{ "/c", "/h", "/c/memstate/memstaterc" },
		{ "c", "/h", "/h/.config/memstate/memstaterc" },
		{ "", "/h", "/h/.config/memstate/memstaterc" },
		{ NULL, "/h", "/h/.config/memstate/memstaterc" },
		{ "./c", "h", NULL },
		{ NULL, NULL, NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_strbuf_ struct strbuf got = STRBUF_INIT;

		assert_int_equal(
			settings_file_find(rows[i].config_home, rows[i].home, &got),
			rows[i].want != NULL);
		assert_string_equal(strbuf_text(&got), rows[i].want ? rows[i].want : "");
	}
}

static void a_missing_file_has_no_settings(void **state)
{
	struct settings s = { { (char *)"x" } };
	size_t bad_line = 1;

	(void)state;
	assert_int_equal(settings_file_read(path.text, &s, &bad_line), 0);
	assert_null(s.texts[0]);
	assert_int_equal(bad_line, 0);
	assert_int_equal(settings_file_read("/dev/null/memstaterc", &s, &bad_line), 0);
}

static void folders_and_file_are_private(void **state)
{
	_cleanup_strbuf_ struct strbuf dir = STRBUF_INIT;
	mode_t before = umask(0);

	(void)state;
	assert_int_equal(settings_file_change(path.text, &tree_on, none), 0);
	umask(before);
	assert_int_equal(mode_of(path.text), S_IFREG | 0600);
	path_below(".config", &dir);
	assert_int_equal(mode_of(dir.text), S_IFDIR | 0700);
	path_below(".config/memstate", &dir);
	assert_int_equal(mode_of(dir.text), S_IFDIR | 0700);
	assert_entries(dir.text, 1);
}

static void the_permissions_of_a_file_are_kept(void **state)
{
	mode_t before = umask(022);

	(void)state;
	write_file("version=1\n");
	assert_int_equal(chmod(path.text, 0644), 0);
	assert_int_equal(settings_file_change(path.text, &tree_on, none), 0);
	umask(before);
	assert_int_equal(mode_of(path.text), S_IFREG | 0644);
	assert_text(path.text, "version=1\ntree=yes\n");
}

static void symlinks_stay_symlinks(void **state)
{
	_cleanup_strbuf_ struct strbuf dir = STRBUF_INIT;

	(void)state;
	tree_write(&home, "dotfiles/rc", "version=1\n");
	write_file("");
	assert_int_equal(unlink(path.text), 0);
	assert_int_equal(symlink("../../dotfiles/rc", path.text), 0);
	assert_int_equal(settings_file_change(path.text, &tree_on, none), 0);
	assert_true(S_ISLNK(mode_of(path.text)));
	assert_text(path.text, "version=1\ntree=yes\n");
	path_below("dotfiles", &dir);
	assert_entries(dir.text, 1);
}

static void link_to(const char *target)
{
	write_file("");
	assert_int_equal(unlink(path.text), 0);
	assert_int_equal(symlink(target, path.text), 0);
}

static void the_target_of_a_dangling_symlink_is_created(void **state)
{
	_cleanup_strbuf_ struct strbuf file = STRBUF_INIT, link = STRBUF_INIT;
	struct settings got;
	size_t bad_line;

	(void)state;
	tree_write(&home, "dotfiles/other", "");
	path_below("dotfiles/link", &link);
	path_below("dotfiles/rc", &file);
	assert_int_equal(symlink("rc", link.text), 0);
	for (int is_absolute = 0; is_absolute < 2; is_absolute++) {
		link_to(is_absolute ? link.text : "../../dotfiles/link");
		assert_int_equal(settings_file_change(path.text, &tree_on, none), 0);
		assert_true(S_ISLNK(mode_of(path.text)) && S_ISLNK(mode_of(link.text)));
		assert_true(S_ISREG(mode_of(file.text)));
		assert_int_equal(settings_file_read(path.text, &got, &bad_line), 0);
		assert_string_equal(got.texts[SETTING_TREE], "yes");
		settings_release(&got);
		assert_int_equal(unlink(file.text), 0);
		assert_int_equal(unlink(path.text), 0);
	}
}

static void a_dangling_symlink_without_a_usable_target_is_left_alone(void **state)
{
	static const struct {
		const char *target;
		int result;
	} rows[] = {
		{ "nowhere/rc", -ENOENT },
		{ "nowhere/", -ENOENT },
		{ "memstaterc", -ELOOP },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		link_to(rows[i].target);
		assert_int_equal(settings_file_change(path.text, &tree_on, none),
				 rows[i].result);
		assert_true(S_ISLNK(mode_of(path.text)));
		assert_int_equal(unlink(path.text), 0);
	}
}

static void a_dangling_symlink_of_another_user_is_not_followed(void **state)
{
	_cleanup_strbuf_ struct strbuf file = STRBUF_INIT;
	struct stat st;

	(void)state;
	if (geteuid() != 0)
		skip();
	tree_write(&home, "dotfiles/other", "");
	path_below("dotfiles/rc", &file);
	link_to("../../dotfiles/rc");
	assert_int_equal(lchown(path.text, NOBODY, NOBODY), 0);
	assert_int_equal(settings_file_change(path.text, &tree_on, none), -EPERM);
	assert_int_equal(lstat(file.text, &st), -1);
}

static void what_cannot_be_read_is_not_replaced(void **state)
{
	static const struct {
		const char *text;
		int result;
	} rows[] = {
		{ "version=2\ntree=no\n", -EPROTONOSUPPORT },
		{ "version=x\n", -EPROTONOSUPPORT },
	};
	struct settings s;
	size_t bad_line;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		write_file(rows[i].text);
		assert_int_equal(settings_file_read(path.text, &s, &bad_line),
				 rows[i].result);
		assert_int_equal(settings_file_change(path.text, &tree_on, none),
				 rows[i].result);
		assert_text(path.text, rows[i].text);
	}
}

static void only_regular_files_of_text_are_used(void **state)
{
	_cleanup_free_ char *large = calloc(1, 100001);
	struct settings s;
	size_t bad_line;

	(void)state;
	assert_non_null(large);
	memset(large, '#', 100000);
	write_file(large);
	assert_int_equal(settings_file_read(path.text, &s, &bad_line), -EFBIG);
	assert_int_equal(settings_file_change(path.text, &tree_on, none), -EFBIG);
	assert_text(path.text, large);
	tree_write_bytes(&home, ".config/memstate/memstaterc", "tree=no\n\0\1\2", 11);
	assert_int_equal(settings_file_read(path.text, &s, &bad_line), -EBADMSG);
	assert_int_equal(settings_file_change(path.text, &tree_on, none), -EBADMSG);
	assert_int_equal(unlink(path.text), 0);
	tree_mkfifo(&home, ".config/memstate/memstaterc");
	assert_int_equal(settings_file_read(path.text, &s, &bad_line), -EINVAL);
	assert_int_equal(settings_file_change(path.text, &tree_on, none), -EINVAL);
	assert_true(S_ISFIFO(mode_of(path.text)));
}

static void a_read_only_file_is_not_replaced(void **state)
{
	(void)state;
	write_file("version=1\n");
	assert_int_equal(chmod(path.text, 0444), 0);
	assert_int_equal(settings_file_change(path.text, &tree_on, none), -EACCES);
	assert_text(path.text, "version=1\n");
}

static void a_read_only_folder_is_an_error(void **state)
{
	(void)state;
	if (geteuid() == 0)
		skip(); /* root may write everywhere */
	tree_chmod(&home, "", 0500);
	assert_int_equal(settings_file_change(path.text, &tree_on, none), -EACCES);
	tree_chmod(&home, "", 0700);
	write_file("version=1\n");
	tree_chmod(&home, ".config/memstate", 0500);
	assert_int_equal(settings_file_change(path.text, &tree_on, none), -EACCES);
	tree_chmod(&home, ".config/memstate", 0700);
	assert_text(path.text, "version=1\n");
}

/* As root with the home of a user: like sudo that keeps HOME. */
static void root_does_not_touch_the_home_of_a_user(void **state)
{
	_cleanup_strbuf_ struct strbuf dir = STRBUF_INIT;
	struct settings s;
	size_t bad_line;

	(void)state;
	if (geteuid() != 0 || chown(home.root, NOBODY, NOBODY) < 0)
		skip();
	assert_int_equal(settings_file_change(path.text, &tree_on, none), -EPERM);
	assert_entries(home.root, 0);
	write_file("version=1\n");
	assert_int_equal(chown(path.text, NOBODY, NOBODY), 0);
	assert_int_equal(settings_file_read(path.text, &s, &bad_line), -EPERM);
	assert_int_equal(settings_file_change(path.text, &tree_on, none), -EPERM);
	assert_text(path.text, "version=1\n");
	assert_int_equal(unlink(path.text), 0);
	path_below(".config/memstate", &dir);
	assert_int_equal(chown(dir.text, NOBODY, NOBODY), 0);
	assert_int_equal(settings_file_change(path.text, &tree_on, none), -EPERM);
	assert_entries(dir.text, 0);
}

static void another_process_can_hold_the_lock(void **state)
{
	_cleanup_strbuf_ struct strbuf dir = STRBUF_INIT;
	_cleanup_close_ int fd = -1;

	(void)state;
	write_file("version=1\n");
	path_below(".config/memstate", &dir);
	fd = open(dir.text, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_int_equal(settings_file_change(path.text, &tree_on, none), -EBUSY);
	assert_text(path.text, "version=1\n");
	assert_int_equal(flock(fd, LOCK_UN), 0);
	assert_int_equal(settings_file_change(path.text, &tree_on, none), 0);
}

#define WRITERS 5
#define ROUNDS 4

/* Each writer changes a setting of its own. */
static void write_in_turn(int writer)
{
	for (int round = 0; round < ROUNDS; round++) {
		struct settings changes = { { NULL } };
		char text[20];
		int r;

		snprintf(text, sizeof(text), "w%d-r%d", writer, round);
		changes.texts[writer] = text;
		do
			r = settings_file_change(path.text, &changes, none);
		while (r == -EBUSY);
		if (r < 0)
			_exit(1);
	}
	_exit(0);
}

static void writers_do_not_lose_changes_of_each_other(void **state)
{
	pid_t pids[WRITERS];
	struct settings s;
	size_t bad_line;

	(void)state;
	write_file("# mine\n");
	for (int i = 0; i < WRITERS; i++) {
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (pids[i] == 0)
			write_in_turn(i);
	}
	for (int i = 0; i < WRITERS; i++) {
		int status;

		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
	assert_int_equal(settings_file_read(path.text, &s, &bad_line), 0);
	for (int i = 0; i < WRITERS; i++) {
		char want[20];

		snprintf(want, sizeof(want), "w%d-r%d", i, ROUNDS - 1);
		assert_string_equal(s.texts[i], want);
	}
	settings_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(relative_folders_are_ignored),
		cmocka_unit_test_setup_teardown(a_missing_file_has_no_settings, begin,
						end),
		cmocka_unit_test_setup_teardown(folders_and_file_are_private, begin, end),
		cmocka_unit_test_setup_teardown(the_permissions_of_a_file_are_kept, begin,
						end),
		cmocka_unit_test_setup_teardown(symlinks_stay_symlinks, begin, end),
		cmocka_unit_test_setup_teardown(
			the_target_of_a_dangling_symlink_is_created, begin, end),
		cmocka_unit_test_setup_teardown(
			a_dangling_symlink_without_a_usable_target_is_left_alone, begin,
			end),
		cmocka_unit_test_setup_teardown(
			a_dangling_symlink_of_another_user_is_not_followed, begin, end),
		cmocka_unit_test_setup_teardown(what_cannot_be_read_is_not_replaced,
						begin, end),
		cmocka_unit_test_setup_teardown(only_regular_files_of_text_are_used,
						begin, end),
		cmocka_unit_test_setup_teardown(a_read_only_file_is_not_replaced, begin,
						end),
		cmocka_unit_test_setup_teardown(a_read_only_folder_is_an_error, begin,
						end),
		cmocka_unit_test_setup_teardown(root_does_not_touch_the_home_of_a_user,
						begin, end),
		cmocka_unit_test_setup_teardown(another_process_can_hold_the_lock, begin,
						end),
		cmocka_unit_test_setup_teardown(writers_do_not_lose_changes_of_each_other,
						begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
