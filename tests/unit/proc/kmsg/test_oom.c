/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "proc/kmsg/oom.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/units.h"
#include "../../support/kmsg_texts.h"
#include "../../support/unit.h"

#define KB UINT64_C(1024)

static struct oom_kill_list list;

static void parse(const char *text)
{
	oom_kill_list_release(&list);
	kmsg_oom_parse(text, strlen(text), &list);
}

static int end(void **state)
{
	(void)state;
	oom_kill_list_release(&list);
	return 0;
}

static void check_618(const struct oom_kill *k)
{
	assert_int_equal(k->constraint, OOM_CGROUP);
	assert_string_equal(k->invoker, "oom_target");
	assert_int_equal(k->invoker_pid, 1812);
	assert_int_equal(k->order, 0);
	assert_string_equal(k->limit_path, "/mstest");
	assert_string_equal(k->victim_path, "/mstest/kid");
	assert_int_equal(k->usage_bytes, 32768 * KB);
	assert_int_equal(k->limit_bytes, 32768 * KB);
	assert_int_equal(k->fail_count, 95);
	assert_true(k->swap_limit_bytes == CGROUP_NO_LIMIT);
	assert_int_equal(k->version, CGROUP_V1);
	assert_int_equal(k->stat.anon_bytes, 24899584);
	assert_int_equal(k->stat.shmem_bytes, 5242880);
	assert_int_equal(k->stat.kernel_bytes, 3332 * KB);
	assert_int_equal(k->task_count, 1);
	assert_int_equal(k->tasks[0].rss_bytes, 7643 * 4 * KB);
	assert_int_equal(k->tasks[0].anon_bytes, 6048 * 4 * KB);
	assert_int_equal(k->tasks[0].pagetables_bytes, 106496);
	assert_int_equal(k->tasks[0].swap_bytes, 3 * 4 * KB);
	assert_int_equal(k->tasks[0].score_adj, -50);
	assert_string_equal(k->tasks[0].name, "a (b) c");
	assert_int_equal(k->victim.pid, 1812);
	assert_string_equal(k->victim.name, "a (b) c");
	assert_int_equal(k->victim.anon_bytes, 24192 * KB);
	assert_int_equal(k->victim.shmem_bytes, 5120 * KB);
	assert_int_equal(k->victim.uid, 7);
	assert_int_equal(k->killed_count, 1);
	assert_false(k->is_cut);
}

static void a_linux_6_18_report_is_parsed_completely(void **state)
{
	(void)state;
	parse(REPORT_618);
	assert_int_equal(list.count, 1);
	check_618(&list.items[0]);
}

/* The same lines with the prefixes that other programs add. */
static void line_prefixes_do_not_matter(void **state)
{
	static const char *const stamps[] = {
		"",
		"<6>",
		"6,1234,5678901,-;",
		"6,1234,5678901,c;[   10.123456] ",
		"[Fri Nov 21 17:00:00 2026] ",
		"Nov 21 17:00:00 host kernel: ",
		"Nov 21 17:00:00 my-host.example kernel: [40666.251500] ",
		"2026-11-21T17:00:00,123456+0000 host kernel: ",
		"2026-11-21T17:00:00.123456+00:00 host kernel: [  100.5] ",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(stamps) / sizeof(stamps[0]); i++) {
		struct strbuf text = STRBUF_INIT;
		char *copy = strdup(REPORT_618), *rest = copy, *line;

		while ((line = strsep(&rest, "\n")) && line[0] != '\0')
			strbuf_addf(&text, "%s%s\nanother [1] line: of somebody's 5\n",
				    stamps[i], strstr(line, "] ") + 2);
		/*
		 * The kernel prints nothing else between the lines of
		 * memory.stat, but syslog may.
		 */
		parse(text.text);
		assert_int_equal(list.count, 1);
		assert_int_equal(list.items[0].victim.pid, 1812);
		assert_string_equal(list.items[0].victim_path, "/mstest/kid");
		assert_int_equal(list.items[0].task_count, 1);
		assert_int_equal(list.items[0].limit_bytes, 32768 * KB);
		strbuf_release(&text);
		free(copy);
	}
}

static void cgroup_version_2_is_recognized_by_its_keys(void **state)
{
	(void)state;
	parse("hog invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0\n"
	      "memory: usage 65536kB, limit 65536kB, failcnt 31\n"
	      "swap: usage 16384kB, limit 16384kB, failcnt 8\n"
	      "Memory cgroup stats for /g:\n"
	      "anon 52428800\nfile 4096\nkernel 8388608\nsock 100\nshmem 4096\n"
	      "Tasks in /g are going to be killed due to memory.oom.group set\n"
	      "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,"
	      "oom_memcg=/g,task_memcg=/g,task=hog,pid=1,uid=0\n"
	      "Memory cgroup out of memory: Killed process 1 (hog) total-vm:1kB, anon-rss:2kB, "
	      "file-rss:3kB, shmem-rss:4kB, UID:0 pgtables:168kB oom_score_adj:0\n"
	      "Memory cgroup out of memory: Killed process 1 (hog) total-vm:1kB, anon-rss:2kB, "
	      "file-rss:3kB, shmem-rss:4kB, UID:0 pgtables:168kB oom_score_adj:0\n"
	      "Memory cgroup out of memory: Killed process 2 (hog) total-vm:1kB, anon-rss:2kB, "
	      "file-rss:3kB, shmem-rss:4kB, UID:0 pgtables:168kB oom_score_adj:0\n");
	assert_int_equal(list.count, 1);
	assert_int_equal(list.items[0].version, CGROUP_V2);
	assert_int_equal(list.items[0].stat.anon_bytes, 52428800);
	assert_int_equal(list.items[0].stat.kernel_bytes, 8388608);
	assert_true(list.items[0].stat.inactive_file_bytes == BYTES_UNKNOWN);
	assert_int_equal(list.items[0].swap_limit_bytes, 16384 * KB);
	assert_true(list.items[0].is_group_killed);
	assert_int_equal(list.items[0].killed_count, 2);
	assert_int_equal(list.items[0].victim.pid, 1);
}

static void escaped_line_ends_in_kmsg_records_are_decoded(void **state)
{
	(void)state;
	parse("6,900,5000,-;hog invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0\n"
	      "6,901,5000,-;memory: usage 65536kB, limit 65536kB, failcnt 31\n"
	      "6,902,5000,-;Memory cgroup stats for /g:\n"
	      "6,903,5000,-;anon 52428800\\x0afile 4096\\x0akernel 8388608\\x0ashmem 4096\\x0a\n"
	      " SUBSYSTEM=none\n"
	      "3,904,5000,-;Memory cgroup out of memory: Killed process 1 (a\\x5cx0ab) total-vm:1kB, "
	      "anon-rss:2kB, file-rss:3kB, shmem-rss:4kB\n");
	assert_int_equal(list.count, 1);
	assert_int_equal(list.items[0].stat.anon_bytes, 52428800);
	assert_int_equal(list.items[0].stat.kernel_bytes, 8388608);
	assert_int_equal(list.items[0].stat.shmem_bytes, 4096);
	assert_int_equal(list.items[0].victim.pid, 1);
}

static void the_linux_4_18_format_is_parsed(void **state)
{
	(void)state;
	parse("python invoked oom-killer: gfp_mask=0x24000c0, order=0, oom_score_adj=999\n"
	      "Task in /docker/abc killed as a result of limit of /docker\n"
	      "memory: usage 1024kB, limit 1024kB, failcnt 7\n"
	      "Memory cgroup stats for /docker: cache:24KB rss:1000KB rss_huge:0KB shmem:8KB "
	      "inactive_anon:8KB active_anon:992KB\n"
	      "Memory cgroup stats for /docker/abc: cache:1KB rss:2KB\n"
	      "[ pid ]   uid  tgid total_vm      rss nr_ptes swapents oom_score_adj name\n"
	      "[ 4015]  1000  4015    12345      250      27        0           999 python\n"
	      "Memory cgroup out of memory: Kill process 4015 (python) score 1923 or sacrifice child\n"
	      "Killed process 4015 (python) total-vm:49380kB, anon-rss:900kB, file-rss:100kB\n");
	assert_int_equal(list.count, 1);
	assert_int_equal(list.items[0].constraint, OOM_CGROUP);
	assert_string_equal(list.items[0].limit_path, "/docker");
	assert_string_equal(list.items[0].victim_path, "/docker/abc");
	/* each line covers one group only, without the groups below it */
	assert_int_equal(list.items[0].stat.anon_bytes, 1002 * KB);
	assert_int_equal(list.items[0].stat.shmem_bytes, 8 * KB);
	assert_int_equal(list.items[0].tasks[0].pagetables_bytes, 27 * 4 * KB);
	assert_true(list.items[0].tasks[0].anon_bytes == BYTES_UNKNOWN);
	assert_int_equal(list.items[0].victim.rss_bytes, 1000 * KB);
	assert_string_equal(list.items[0].victim.name, "python");
}

static void a_global_oom_kill_has_no_group_limit(void **state)
{
	(void)state;
	parse("oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,"
	      "task_memcg=/system.slice/x.service,task=x,pid=9,uid=1\n"
	      "Out of memory: Killed process 9 (x) total-vm:1kB, anon-rss:2kB, file-rss:0kB, "
	      "shmem-rss:0kB, UID:1 pgtables:1kB oom_score_adj:0\n");
	assert_int_equal(list.count, 1);
	assert_int_equal(list.items[0].constraint, OOM_GLOBAL);
	assert_string_equal(list.items[0].limit_path, "");
	assert_string_equal(list.items[0].victim_path, "/system.slice/x.service");
	assert_true(list.items[0].is_cut);
}

static void several_incomplete_reports_are_separated(void **state)
{
	(void)state;
	parse(REPORT_618 REPORT_618
	      "Memory cgroup out of memory: Killed process 5 (y) total-vm:1kB, anon-rss:2kB, "
	      "file-rss:3kB, shmem-rss:0kB, UID:0 pgtables:1kB oom_score_adj:0\n"
	      "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,"
	      "oom_memcg=/z,task_memcg=/z,task=z,pid=6,uid=0\n"
	      "Memory cgroup out of memory: Killed process 6 (z) total-vm:1kB\n"
	      "last invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=2, oom_score_adj=0\n"
	      "memory: usage 32768kB, limit 327");
	assert_int_equal(list.count, 5);
	check_618(&list.items[0]);
	check_618(&list.items[1]);
	assert_int_equal(list.items[2].victim.pid, 5);
	assert_int_equal(list.items[2].constraint, OOM_CGROUP);
	assert_string_equal(list.items[3].limit_path, "/z");
	assert_true(list.items[3].victim.rss_bytes == BYTES_UNKNOWN);
	assert_int_equal(list.items[4].victim.pid, 0);
	assert_int_equal(list.items[4].order, 2);
}

static void other_text_contains_no_kill(void **state)
{
	static const char *const texts[] = {
		"",
		"\n\n",
		"[    0.000000] Linux version 6.18",
		"Killed process",
		"Killed process x (y)",
		"[ pid ]",
		"[",
		"[ 5] 1 2 3",
		"oom_reaper: reaped process 1812 (oom_target)",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		parse(texts[i]);
		assert_int_equal(list.count, 0);
	}
}

/* A program chooses its own name, and the names of the files that it maps. */
static void a_fault_of_a_program_with_a_misleading_name_is_not_a_kill(void **state)
{
	static const char *const faults[] = {
		"oom-kill:task=a[12345]: segfault at 0 ip 0 sp 0 error 4",
		"Killed process [1234]: segfault at 0 ip 0 sp 0 error 4 in x[55d0+1000]",
		"hog[7]: segfault at 0 ip 0 sp 0 error 4 in Killed process 9 (a) total-vm:1kB[1+2]",
		("hog[7]: segfault at 0 ip 0 sp 0 error 4 in x oom-kill:constraint=CONSTRAINT_NONE,"
		 "nodemask=(null),task=a,pid=9,uid=0[1+2]"),
		"traps: hog[7] general protection fault ip:1 sp:2 error:0 in Killed process 9 (a)[1+2]",
		"traps: hog[7] trap invalid opcode ip:1 sp:2 error:0 in x Killed process 9 (a)[1+2]",
		"hog[7]: unhandled signal 11 code 0x1 at 0x0 in Killed process 9 (a)[1+2]",
		"oom-kill:task=a,pid=9,uid=0",
	};
	static const char *const prefixes[] = { "", "[   12.500000] ", "4,1,12500000,-;",
						"Jan  2 03:04:05 h kernel: [   12.5] " };
	struct strbuf text = STRBUF_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(faults) * ARRAY_SIZE(prefixes); i++) {
		strbuf_clear(&text);
		strbuf_addf(&text, "%s%s\n", prefixes[i % ARRAY_SIZE(prefixes)],
			    faults[i / ARRAY_SIZE(prefixes)]);
		parse(text.text);
		assert_int_equal(list.count, 0);
		/* the fault does not hide the kernel's report after it */
		strbuf_add_text(&text, REPORT_618);
		parse(text.text);
		assert_int_equal(list.count, 1);
		check_618(&list.items[0]);
	}
	strbuf_release(&text);
}

/*
 * Parse each prefix of a report, and the report without each of its lines: facts may
 * be missing, but never wrong.
 */
static void a_truncated_report_is_incomplete_but_not_wrong(void **state)
{
	const size_t length = strlen(REPORT_618);

	(void)state;
	for (size_t cut = 0; cut <= length; cut++) {
		oom_kill_list_release(&list);
		kmsg_oom_parse(REPORT_618, cut, &list);
		assert_true(list.count <= 1);
		if (list.count == 1 && list.items[0].victim.pid == 1812)
			assert_string_equal(list.items[0].limit_path, "/mstest");
	}
}

static void the_summary_line_alone_identifies_the_victim(void **state)
{
	(void)state;
	parse("Aug 30 06:58:55.050705 host kernel: oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),"
	      "cpuset=cri-1.scope,mems_allowed=0-1,oom_memcg=/pod,task_memcg=/pod/cri-1.scope,"
	      "task=a,pid=5,b=,pid=461754,uid=7\n");
	assert_int_equal(list.count, 1);
	assert_int_equal(list.items[0].victim.pid, 461754);
	assert_int_equal(list.items[0].victim.uid, 7);
	assert_string_equal(list.items[0].victim.name, "a,pid=5,b=");
	assert_true(list.items[0].victim.rss_bytes == BYTES_UNKNOWN);
	assert_string_equal(list.items[0].limit_path, "/pod");
	assert_string_equal(list.items[0].cpuset, "cri-1.scope");
	assert_string_equal(list.items[0].time.text, "Aug 30 06:58:55.050705");
	assert_int_equal(list.items[0].killed_count, 1);
	/* with a task table the victim's memory is known */
	parse("[ pid ]   uid  tgid total_vm      rss pgtables_bytes swapents oom_score_adj name\n"
	      "[   9]  1000     9    12345      250    40960        0           999 x\n"
	      "oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,"
	      "task_memcg=/x,task=x,pid=9,uid=1000\n");
	assert_int_equal(list.items[0].victim.rss_bytes, 250 * 4 * KB);
}

static void older_kernels_may_kill_a_child_instead(void **state)
{
	(void)state;
	parse("Memory cgroup out of memory: Kill process 4142 (python3) score 68 or sacrifice child\n"
	      "Killed process 4254 (python3) total-vm:8kB, anon-rss:4kB, file-rss:1kB, shmem-rss:0kB\n"
	      "Memory cgroup out of memory: Kill process 4142 (python3) score 68 or sacrifice child\n"
	      "Killed process 4255 (python3) total-vm:8kB, anon-rss:4kB, file-rss:1kB, shmem-rss:0kB\n"
	      "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,"
	      "oom_memcg=/a,task_memcg=/a,task=p,pid=1,uid=0\n"
	      "Memory cgroup out of memory: Kill process 1 (p) score 68 or sacrifice child\n"
	      "Killed process 2 (p) total-vm:8kB, anon-rss:4kB, file-rss:1kB, shmem-rss:0kB\n"
	      "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,"
	      "oom_memcg=/b,task_memcg=/b,task=q,pid=3,uid=0\n"
	      "Memory cgroup out of memory: Killed process 4 (r) total-vm:8kB, anon-rss:4kB, "
	      "file-rss:1kB, shmem-rss:0kB, UID:0 pgtables:4kB oom_score_adj:0\n");
	assert_int_equal(list.count, 5);
	assert_int_equal(list.items[0].victim.pid, 4254);
	assert_int_equal(list.items[1].victim.pid, 4255);
	assert_int_equal(list.items[1].constraint, OOM_CGROUP);
	assert_int_equal(list.items[2].victim.pid, 2);
	assert_string_equal(list.items[2].victim_path, "/a");
	assert_int_equal(list.items[3].victim.pid, 3);
	assert_int_equal(list.items[4].victim.pid, 4);
	assert_string_equal(list.items[4].victim_path, "");
}

static void without_killable_processes_there_is_no_kill(void **state)
{
	(void)state;
	parse("systemd invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=100\n"
	      "memory: usage 4kB, limit 4kB, failcnt 1\n"
	      "Out of memory and no killable processes...\n"
	      "a invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=100\n"
	      "Memory cgroup out of memory and no killable processes...\n"
	      "oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,"
	      "task_memcg=/x,task=x,pid=9,uid=1000\n"
	      "Out of memory: OOM victim 9 (x) is already exiting. Skip killing the task\n");
	assert_int_equal(list.count, 0);
	assert_int_equal(list.unkillable_count, 2);
}

static void sysrq_kills_are_recognized(void **state)
{
	(void)state;
	parse("kworker/0:2 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=-1, oom_score_adj=0\n"
	      "Out of memory: Killed process 651 (x) total-vm:1kB, anon-rss:2kB\n"
	      "kworker/1:0 invoked oom-killer: gfp_mask=0xd0, order=0, oom_score_adj=0\n"
	      " [<ffffffff816861ac>] ? moom_callback+0x7a/0xb0\n"
	      "Out of memory: Kill process 652 (x) score 1 or sacrifice child\n"
	      "sysrq: Manual OOM execution\n"
	      "kworker/1:0 invoked oom-killer: gfp_mask=0xd0, order=0, oom_score_adj=0\n"
	      "hog invoked oom-killer: gfp_mask=0xd0, order=0, oom_score_adj=0\n");
	assert_int_equal(list.count, 4);
	assert_true(list.items[0].is_sysrq && list.items[1].is_sysrq &&
		    list.items[2].is_sysrq);
	assert_false(list.items[3].is_sysrq);
	assert_int_equal(list.items[0].order, COUNT_UNKNOWN);
}

static void linux_2_6_32_reports_and_machine_memory_are_parsed(void **state)
{
	const struct oom_kill *k;

	(void)state;
	parse(linux_2632);
	assert_int_equal(list.count, 1);
	k = &list.items[0];
	assert_int_equal(k->constraint, OOM_GLOBAL);
	assert_int_equal(k->order, 3);
	assert_int_equal(k->invoker_pid, 2592);
	assert_int_equal(k->victim.uid, 48);
	assert_string_equal(k->victim.name, "httpd");
	assert_int_equal(k->victim.total_vm_bytes, 10648 * KB);
	assert_int_equal(k->victim.rss_bytes, 404 * KB);
	assert_int_equal(k->task_count, 1);
	assert_int_equal(k->tasks[0].score_adj, -1000);
	assert_true(k->machine.is_known);
	assert_int_equal(k->machine.ram_bytes, 262128 * 4 * KB);
	assert_int_equal(k->machine.free_bytes, 1500 * 4 * KB);
	assert_int_equal(k->machine.anon_bytes, 230000 * 4 * KB);
	assert_int_equal(k->machine.file_bytes, 30 * 4 * KB);
	assert_int_equal(k->machine.slab_unreclaimable_bytes, 4000 * 4 * KB);
	assert_int_equal(k->machine.swap_free_bytes, 12 * KB);
	assert_int_equal(k->machine.swap_total_bytes, 524280 * KB);
	assert_int_equal(k->machine.zone_count, 2);
	assert_string_equal(k->machine.zones[1].name, "DMA32");
	assert_int_equal(k->machine.zones[1].free_bytes, 2000 * KB);
	assert_int_equal(k->machine.zones[1].min_bytes, 3000 * KB);
	/* before Linux 2.6.36 */
	parse("Killed process 7 (a b) vsz:100kB, anon-rss:8kB, file-rss:4kB\n");
	assert_int_equal(list.items[0].victim.total_vm_bytes, 100 * KB);
	assert_int_equal(list.items[0].victim.rss_bytes, 12 * KB);
}

static void the_page_size_is_that_of_the_logging_machine(void **state)
{
	(void)state;
	parse("hog invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0\n"
	      "active_anon:10 inactive_anon:5 isolated_anon:0\n free:3 free_pcp:0\n"
	      "Node 0 active_anon:640kB inactive_anon:320kB active_file:0kB\n"
	      "[  pid  ]   uid  tgid total_vm      rss pgtables_bytes swapents oom_score_adj name\n"
	      "[     10]  1000    10      100       20    65536        2             0 hog\n"
	      "Out of memory: Killed process 10 (hog) total-vm:6400kB, anon-rss:1280kB, file-rss:0kB\n");
	assert_int_equal(list.items[0].tasks[0].rss_bytes, 20 * 64 * KB);
	assert_int_equal(list.items[0].tasks[0].swap_bytes, 2 * 64 * KB);
	assert_int_equal(list.items[0].tasks[0].pagetables_bytes, 65536);
	assert_int_equal(list.items[0].machine.free_bytes, 3 * 64 * KB);
}

static void memory_figures_of_other_reports_do_not_belong_to_a_kill(void **state)
{
	(void)state;
	parse("Killed process 7 (a) total-vm:100kB, anon-rss:8kB, file-rss:4kB\n"
	      "x: page allocation failure: order:4, mode:0x40cc0\nMem-Info:\n"
	      "active_anon:10 inactive_anon:5 isolated_anon:0\nFree swap  = 84kB\n"
	      "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,"
	      "oom_memcg=/b,task_memcg=/b,task=q,pid=3,uid=0\n");
	assert_int_equal(list.count, 2);
	assert_false(list.items[0].machine.is_known);
	assert_false(list.items[1].machine.is_known);
}

/* A report whose line ends were replaced by another program. */
static void a_report_joined_into_one_line_is_parsed(void **state)
{
	static const char *const ends[] = { " ", "#012", "\\x0a" };

	(void)state;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		struct strbuf text = STRBUF_INIT;

		for (const char *at = REPORT_618; *at; at++)
			if (*at == '\n')
				strbuf_add_text(&text, ends[i]);
			else
				strbuf_add_char(&text, *at);
		parse(text.text);
		assert_int_equal(list.count, 1);
		assert_int_equal(list.items[0].victim.pid, 1812);
		assert_int_equal(list.items[0].victim.anon_bytes, 24192 * KB);
		assert_int_equal(list.items[0].limit_bytes, 32768 * KB);
		assert_string_equal(list.items[0].victim_path, "/mstest/kid");
		assert_int_equal(list.items[0].task_count, 1);
		assert_string_equal(list.items[0].invoker, "oom_target");
		strbuf_release(&text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_linux_6_18_report_is_parsed_completely, end),
		cmocka_unit_test_teardown(line_prefixes_do_not_matter, end),
		cmocka_unit_test_teardown(cgroup_version_2_is_recognized_by_its_keys,
					  end),
		cmocka_unit_test_teardown(escaped_line_ends_in_kmsg_records_are_decoded,
					  end),
		cmocka_unit_test_teardown(the_linux_4_18_format_is_parsed, end),
		cmocka_unit_test_teardown(a_global_oom_kill_has_no_group_limit, end),
		cmocka_unit_test_teardown(several_incomplete_reports_are_separated, end),
		cmocka_unit_test_teardown(
			a_fault_of_a_program_with_a_misleading_name_is_not_a_kill, end),
		cmocka_unit_test_teardown(other_text_contains_no_kill, end),
		cmocka_unit_test_teardown(the_summary_line_alone_identifies_the_victim,
					  end),
		cmocka_unit_test_teardown(older_kernels_may_kill_a_child_instead, end),
		cmocka_unit_test_teardown(without_killable_processes_there_is_no_kill,
					  end),
		cmocka_unit_test_teardown(sysrq_kills_are_recognized, end),
		cmocka_unit_test_teardown(
			linux_2_6_32_reports_and_machine_memory_are_parsed, end),
		cmocka_unit_test_teardown(the_page_size_is_that_of_the_logging_machine,
					  end),
		cmocka_unit_test_teardown(
			memory_figures_of_other_reports_do_not_belong_to_a_kill, end),
		cmocka_unit_test_teardown(a_report_joined_into_one_line_is_parsed, end),
		cmocka_unit_test_teardown(a_truncated_report_is_incomplete_but_not_wrong,
					  end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
