/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/smaps/maps.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "proc/process/dir.h"
#include "../../support/child.h"

#define PAGE 4096

/* three pages of the child, of which the second is read-only */
static uint8_t *map;

struct fixture {
	struct child child;
	int process_fd;
	struct mapping_list list;
};

static void map_third(int flags)
{
	(void)!mmap(map + 2 * PAGE, PAGE, PROT_READ | PROT_WRITE,
		    flags | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

static void obey(char command)
{
	switch (command) {
	case 't': /* touch a page */ map[0] = 1; break;
	case 'n': mprotect(map, PAGE, PROT_NONE); break;
	case 'w': mprotect(map, PAGE, PROT_READ | PROT_WRITE); break;
	case 'u': munmap(map + 2 * PAGE, PAGE); break;
	case 's': map_third(MAP_SHARED); break;
	default: map_third(MAP_PRIVATE);
	}
}

static int set_up(void **state)
{
	static struct fixture f;

	/* inaccessible pages on both sides prevent mergers with other mappings */
	map = mmap(NULL, 5 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (map == MAP_FAILED)
		return -1;
	map += PAGE;
	if (mprotect(map, 3 * PAGE, PROT_READ | PROT_WRITE) < 0 ||
	    mprotect(map + PAGE, PAGE, PROT_READ) < 0)
		return -1;
	f.child = child_start(obey);
	f.process_fd = proc_dir_open_live(f.child.pid);
	f.list = (struct mapping_list)MAPPING_LIST_INIT;
	*state = &f;
	return f.process_fd < 0 ? -1 : proc_maps_read(f.process_fd, &f.list);
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	mapping_list_release(&f->list);
	close(f->process_fd);
	child_end(&f->child);
	return munmap(map - PAGE, 5 * PAGE);
}

static bool are_equal(const struct fixture *f)
{
	return proc_maps_are(f->process_fd, &f->list);
}

static void unchanged_mappings_are_equal(void **state)
{
	struct fixture *f = *state;
	struct mapping empty = { .name = "" };

	assert_true(are_equal(f));
	child_do(&f->child, 't');
	assert_true(are_equal(f));
	empty.start_addr = empty.end_addr = f->list.items[f->list.count - 1].end_addr;
	mapping_list_add(&f->list, &empty);
	assert_true(are_equal(f));
}

static void each_change_of_a_mapping_is_seen(void **state)
{
	struct fixture *f = *state;

	child_do(&f->child, 'n');
	assert_false(are_equal(f));
	child_do(&f->child, 'w');
	assert_true(are_equal(f));
	child_do(&f->child, 'u');
	assert_false(are_equal(f));
	child_do(&f->child, 's');
	assert_false(are_equal(f));
	child_do(&f->child, 'p');
	assert_true(are_equal(f));
}

static void missing_and_additional_mappings_are_seen(void **state)
{
	struct fixture *f = *state;
	size_t count = f->list.count;

	f->list.count = count - 1;
	assert_false(are_equal(f));
	f->list.count = 0;
	assert_false(are_equal(f));
	f->list.count = count;
	f->list.items[0].inode++;
	assert_false(are_equal(f));
	f->list.items[0].inode--;
	assert_true(are_equal(f));
	assert_false(proc_maps_are(-1, &f->list));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
		TEST(unchanged_mappings_are_equal),
		TEST(each_change_of_a_mapping_is_seen),
		TEST(missing_and_additional_mappings_are_seen),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
