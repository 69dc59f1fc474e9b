/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The amounts of the cgroup in the kernel's report. */
#include "config.h"

#include "proc/kmsg/oom.h"

#include <string.h>

#include "base/strbuf.h"
#include "base/units.h"
#include "../../support/kmsg_texts.h"
#include "../../support/unit.h"

static void parse(const char *text, struct oom_kill_list *ret)
{
	oom_kill_list_release(ret);
	kmsg_oom_parse(text, strlen(text), ret);
	assert_int_equal(ret->count, 1);
}

/* Linux 6.18 may print a report before it has added up memory.stat. */
static void an_outdated_stat_is_replaced_by_the_task_table(void **state)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const char *const report = REPORT_618, *const key = "total_cache 5242880\n";
	const char *at = strstr(report, key);
	struct oom_kill_list list = OOM_KILL_LIST_INIT;
	const struct oom_kill *k;

	(void)state;
	strbuf_add(&text, report, (size_t)(at - report));
	strbuf_add_text(&text, "total_cache 0\n[  10.8] total_rss 0\n"
			       "[  10.8] total_shmem 0\n");
	strbuf_add_text(&text, strstr(at, "[  10.8] total_inactive_file"));
	parse(text.text, &list);
	k = &list.items[0];
	assert_true(k->is_stat_stale);
	assert_int_equal(k->stat.anon_bytes, 6048 * 4096);
	assert_int_equal(k->stat.kernel_bytes, 3332 * 1024);
	assert_false(bytes_known(k->stat.shmem_bytes));
	assert_false(bytes_known(k->stat.file_bytes));
	assert_int_equal(k->usage_bytes, 32768 * 1024);
	parse(REPORT_618, &list);
	assert_false(list.items[0].is_stat_stale);
	assert_int_equal(list.items[0].stat.shmem_bytes, 5242880);
	oom_kill_list_release(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_outdated_stat_is_replaced_by_the_task_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
