/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/types.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/key_lines.h"
#include "cmd/doctor/facts.h"
#include "probe/attach.h"
#include "proc/process/file.h"
#include "proc/process/task.h"
#include "proc/smaps/smaps.h"

/*
 * Upper bound in bytes on the size of memstate's own smaps, which has a few hundred
 * mappings at most.
 */
#define SMAPS_SIZE_MAX (1 << 24)
#define DESCRIPTION_SIZE_MAX (1 << 22)

static void check_kernel(const struct patient *patient, struct finding *ret)
{
	if (patient->kernel_major == 0)
		finding_set(ret, ANSWER_UNKNOWN, NULL,
			    "sys/kernel/osrelease cannot be read");
	else
		finding_set(ret,
			    patient_has_kernel(patient, 4, 14) ? ANSWER_YES
							       : ANSWER_PARTLY,
			    "Linux 4.14 or later", "Linux %s", patient->kernel);
}

/*
 * Check whether a file in /proc/PID can be read: memstate's own file on a live system, or
 * the files of all processes in a capture.
 */
static void check_own_file(const struct patient *patient, enum proc_file file,
			   const char *fix, struct finding *ret)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct tally tally;
	char path[PROCFS_PATH_SIZE];
	int r;

	if (patient->is_saved) {
		tally = patient_tally(patient, file);
		find_tally(&tally, NULL, ret);
		return;
	}
	proc_file_format_path(path, PROCFS_SELF, file);
	r = patient_read_head(patient, path, &text);
	if (r < 0)
		finding_set(ret, ANSWER_NO, fix, "%s: %s", path, strerror(-r));
	else
		finding_set(ret, ANSWER_YES, NULL, "%s can be read", path);
}

static void check_smaps(const struct patient *patient, struct finding *ret)
{
	check_own_file(patient, PROC_SMAPS, "a kernel with CONFIG_PROC_PAGE_MONITOR",
		       ret);
}

static void check_rollup(const struct patient *patient, struct finding *ret)
{
	check_own_file(patient, PROC_SMAPS_ROLLUP,
		       "Linux 4.14; until then memstate reads smaps instead, which "
		       "takes longer",
		       ret);
}

/*
 * Read the beginning of a readable smaps file: memstate's own, or that of a process in
 * the capture.
 */
static int read_some_smaps(const struct patient *patient, struct strbuf *out)
{
	char path[PROCFS_PATH_SIZE];

	proc_file_format_path(path,
			      patient->is_saved
				      ? patient_tally(patient, PROC_SMAPS).first_pid
				      : PROCFS_SELF,
			      PROC_SMAPS);
	return patient_read_head(patient, path, out);
}

static void check_lazyfree(const struct patient *patient, struct finding *ret)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	int r = read_some_smaps(patient, &text);

	if (r <= 0)
		finding_set(ret, ANSWER_UNKNOWN, NULL, "no smaps to examine");
	else if (key_lines_find(strbuf_text(&text), "LazyFree:"))
		finding_set(ret, ANSWER_YES, NULL, "smaps has LazyFree");
	else
		finding_set(ret, ANSWER_NO,
			    "Linux 4.12; until then clean and LazyFree pages are unknown",
			    "smaps has no LazyFree");
}

struct search {
	uint64_t addr;
	bool is_found;
	bool is_marked;
};

static int find_mapping(void *context, struct mapping *m)
{
	struct search *search = context;

	if (search->addr < m->start_addr || search->addr >= m->end_addr)
		return 0;
	search->is_found = true;
	search->is_marked = m->flags & MAPPING_NO_HUGE;
	return 0;
}

/* Create a mapping with MAP_STACK, and look for it in memstate's own smaps. */
static void search_own_stack_mapping(struct search *ret)
{
	const size_t size = 1 << 16;
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	_cleanup_close_ int fd = proc_own_open(PROC_SMAPS, O_RDONLY | O_CLOEXEC);
	struct smaps_reader reader;
	size_t line;

	if (p == MAP_FAILED)
		return;
	ret->addr = (uintptr_t)p;
	smaps_reader_init(&reader);
	if (fd >= 0 && io_read_all(fd, SMAPS_SIZE_MAX, &text) == 0)
		(void)smaps_parse(&reader, strbuf_text(&text), text.length, find_mapping,
				  ret, &line);
	smaps_reader_release(&reader);
	munmap(p, size);
}

static void check_stack_marks(const struct patient *patient, struct finding *ret)
{
	static const char fix[] =
		"Linux 6.7 with transparent huge pages; until then stacks are "
		"identified by guards and stack pointers";
	struct search search = { 0 };

	if (patient->is_saved) {
		if (patient->kernel_major == 0)
			finding_set(ret, ANSWER_UNKNOWN, NULL,
				    "the kernel version is "
				    "unknown");
		else if (patient_has_kernel(patient, 6, 7))
			finding_set(ret, ANSWER_YES, NULL, "Linux 6.7 or later");
		else
			finding_set(ret, ANSWER_NO, fix, "Linux before 6.7");
		return;
	}
	search_own_stack_mapping(&search);
	if (!search.is_found)
		finding_set(ret, ANSWER_UNKNOWN, NULL,
			    "a mapping made with MAP_STACK was not found");
	else
		finding_set(ret, search.is_marked ? ANSWER_YES : ANSWER_NO, fix,
			    "a mapping made with MAP_STACK %s nh in VmFlags",
			    search.is_marked ? "has" : "has no");
}

static void check_stack_pointers(const struct patient *patient, struct finding *ret)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	char path[PROCFS_PATH_SIZE];
	uint64_t addr;
	int r;

	if (patient->is_saved) {
		const struct tally tally = patient_tally(patient, PROC_SYSCALL);

		find_tally(&tally, NULL, ret);
		return;
	}
	proc_file_format_path(path, PROCFS_THREAD_SELF, PROC_SYSCALL);
	r = patient_read_head(patient, path, &text);
	if (r > 0 && proc_task_parse_syscall(text.text, &addr) == 0)
		finding_set(ret, ANSWER_YES, NULL,
			    "thread-self/syscall shows the stack pointer");
	else
		finding_set(ret, ANSWER_NO, "a kernel with CONFIG_HAVE_ARCH_TRACEHOOK",
			    "thread-self/syscall: %s",
			    r < 0 ? strerror(-r) : "the file contains no stack pointer");
}

/* copied from <linux/fs.h> of Linux 6.7, because older headers lack this struct */
struct pagemap_scan_arg {
	__u64 size, flags, start, end, walk_end, vec, vec_len, max_pages;
	__u64 category_inverted, category_mask, category_anyof_mask, return_mask;
};
struct pagemap_region {
	__u64 start, end, categories;
};
#define PAGEMAP_SCAN_IOCTL _IOWR('f', 16, struct pagemap_scan_arg)
#define PAGEMAP_SCAN_PRESENT (1 << 3)

static void check_pagemap_scan(const struct patient *patient, struct finding *ret)
{
	_cleanup_close_ int fd = proc_own_open(PROC_PAGEMAP, O_RDONLY | O_CLOEXEC);
	uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	struct pagemap_region region;
	struct pagemap_scan_arg arg = {
		.size = sizeof(arg),
		.start = (uintptr_t)&region & ~(page_bytes - 1),
		.vec = (uintptr_t)&region,
		.vec_len = 1,
		.return_mask = PAGEMAP_SCAN_PRESENT,
	};

	(void)patient;
	arg.end = arg.start + page_bytes;
	if (fd < 0)
		finding_set(ret, ANSWER_NO, "a kernel with CONFIG_PROC_PAGE_MONITOR",
			    "self/pagemap: %s", strerror(-fd));
	else if (ioctl(fd, PAGEMAP_SCAN_IOCTL, &arg) < 0)
		finding_set(ret, ANSWER_NO, "Linux 6.7", "self/pagemap: %s",
			    strerror(errno));
	else
		finding_set(ret, ANSWER_YES, NULL, "self/pagemap supports it");
}

/*
 * Copy the value of a line "key: value" in the description of a capture, truncated
 * to fit.
 */
static void find_described(const char *description, const char *key, char ret[40])
{
	const char *value = key_lines_find(description, key);

	ret[0] = '\0';
	if (value)
		sscanf(value, "%39[^\n]", ret);
}

static void check_capture(const struct patient *patient, struct finding *ret)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	char version[40], time[40], redacted[40];

	if (procfs_read_path(patient->fs, "memstate-capture", DESCRIPTION_SIZE_MAX,
			     &text) < 0) {
		finding_set(ret, ANSWER_UNKNOWN, NULL, "no memstate-capture in it");
		return;
	}
	find_described(strbuf_text(&text), "memstate:", version);
	find_described(strbuf_text(&text), "time:", time);
	find_described(strbuf_text(&text), "redacted:", redacted);
	finding_set(ret, ANSWER_YES, NULL, "made %s by memstate %s, redacted: %s", time,
		    version, redacted);
}

/* Check whether memstate count -p can set breakpoints with the given method. */
static void check_count(enum count_method method, struct finding *ret)
{
	_cleanup_strbuf_ struct strbuf why = STRBUF_INIT;
	int r = count_method_check(method, &why);

	if (r == 0)
		finding_set(ret, ANSWER_YES, NULL, "the kernel permits creating one");
	else
		finding_set(ret, ANSWER_NO,
			    r == -EPERM || r == -EACCES ? "run memstate as root" : NULL,
			    "%s", strbuf_text(&why));
}

static void check_count_bpf(const struct patient *patient, struct finding *ret)
{
	(void)patient;
	check_count(COUNT_BPF, ret);
}

static void check_count_perf(const struct patient *patient, struct finding *ret)
{
	(void)patient;
	check_count(COUNT_PERF, ret);
}

static const struct check checks[] = {
	{ "capture", "when, and by which version, the capture was saved", false,
	  CHECK_SAVED, check_capture },
	{ "kernel", "everything needed without further options", false, CHECK_ANYWHERE,
	  check_kernel },
	{ "smaps", "mappings and the state of their pages", true, CHECK_ANYWHERE,
	  check_smaps },
	{ "smaps_rollup", "totals of a process in one read", false, CHECK_ANYWHERE,
	  check_rollup },
	{ "lazyfree", "the kernel reports memory freed with MADV_FREE", false,
	  CHECK_ANYWHERE, check_lazyfree },
	{ "stack_marks", "the kernel marks thread stacks", false, CHECK_ANYWHERE,
	  check_stack_marks },
	{ "stack_pointers", "the location of thread stacks", false, CHECK_ANYWHERE,
	  check_stack_pointers },
	{ "pagemap_scan", "the state of each page, in one call", false, CHECK_LIVE,
	  check_pagemap_scan },
	{ "count_bpf", "count -p with breakpoints and BPF", false, CHECK_LIVE,
	  check_count_bpf },
	{ "count_perf", "count -p with breakpoints and perf", false, CHECK_LIVE,
	  check_count_perf },
};

const struct check_list doctor_kernel_checks = {
	"kernel",
	checks,
	sizeof(checks) / sizeof(checks[0]),
};
