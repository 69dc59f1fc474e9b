/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <langinfo.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/key_lines.h"
#include "base/mount_line.h"
#include "base/units.h"
#include "cmd/doctor/facts.h"
#include "probe/helper/agent_library.h"
#include "proc/system/meminfo.h"
#include "tracee/elf/symbols.h"

/* A search for a mount by its file system type and one of its options. */
struct mount_query {
	const char *type, *option;
	/* mount point of the first mount found; "" if not found */
	char point[PATH_MAX];
};

static void query_mount(const struct mount_line *mount, struct mount_query *query)
{
	if (query->point[0] || strcmp(mount->type, query->type) != 0 ||
	    (query->option && !mount_line_find_option(mount, query->option)))
		return;
	snprintf(query->point, sizeof(query->point), "%s", mount->point);
}

/* Return true if a word is in a list separated by spaces and line breaks. */
static bool has_word(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (; *list; list += strspn(list, " \n")) {
		size_t size = strcspn(list, " \n");

		if (size == length && strncmp(list, word, length) == 0)
			return true;
		list += size;
	}
	return false;
}

static void check_cgroup(const struct patient *patient, struct finding *ret)
{
	struct mount_query unified = { .type = "cgroup2" };
	struct mount_query memory = { .type = "cgroup", .option = "memory" };
	_cleanup_strbuf_ struct strbuf mounts = STRBUF_INIT;
	_cleanup_strbuf_ struct strbuf path = STRBUF_INIT;
	_cleanup_strbuf_ struct strbuf controllers = STRBUF_INIT;
	struct mount_line mount;
	char *rest;

	if (patient_read(patient, PROCFS_SELF, PROC_MOUNTINFO, &mounts) < 0) {
		finding_set(ret, ANSWER_UNKNOWN, NULL, "self/mountinfo cannot be read");
		return;
	}
	rest = mounts.text;
	while (mount_line_next(&rest, &mount)) {
		query_mount(&mount, &unified);
		query_mount(&mount, &memory);
	}
	strbuf_addf(&path, "%s/cgroup.controllers", unified.point);
	if (unified.point[0] && io_read_file_at(-1, path.text, 4096, &controllers) == 0 &&
	    has_word(strbuf_text(&controllers), "memory"))
		finding_set(ret, ANSWER_YES, NULL, "cgroup v2 at %s", unified.point);
	else if (memory.point[0])
		finding_set(ret, ANSWER_YES, NULL, "cgroup v1 at %s", memory.point);
	else
		finding_set(ret, ANSWER_NO,
			    "mount a cgroup file system with the memory controller",
			    unified.point[0]
				    ? "cgroup v2 is mounted, but without the memory "
				      "controller"
				    : "no cgroup file system is mounted");
}

/*
 * Check the setting of transparent huge pages in a file that contains, for example,
 * "always [madvise] never".
 */
static void check_huge_pages(const struct patient *patient, struct finding *ret)
{
	static const char path[] = "/sys/kernel/mm/transparent_hugepage/enabled";
	static const struct {
		const char *word;
		enum answer answer;
	} settings[] = {
		{ "[always]", ANSWER_YES },
		{ "[madvise]", ANSWER_PARTLY },
		{ "[never]", ANSWER_NO },
	};
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	int r = io_read_file_at(-1, path, 4096, &text);

	(void)patient;
	if (r < 0) {
		finding_set(ret, ANSWER_NO, NULL, "%s: %s", path, strerror(-r));
		return;
	}
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		if (strstr(strbuf_text(&text), settings[i].word)) {
			finding_set(ret, settings[i].answer, NULL,
				    "transparent_hugepage/enabled is %s",
				    settings[i].word);
			return;
		}
	finding_set(ret, ANSWER_UNKNOWN, NULL, "%s selects none of its values", path);
}

static void check_swap(const struct patient *patient, struct finding *ret)
{
	_cleanup_strbuf_ struct strbuf swaps = STRBUF_INIT;
	char size[UNITS_TEXT_SIZE];
	uint64_t bytes;

	if (proc_meminfo_read(patient->fs, "SwapTotal", &bytes) < 0) {
		finding_set(ret, ANSWER_UNKNOWN, NULL, "meminfo has no SwapTotal");
		return;
	}
	(void)patient_read_system(patient, SYSTEM_SWAPS, &swaps);
	if (bytes == 0)
		finding_set(ret, ANSWER_NO, NULL, "no swap");
	else
		finding_set(ret, ANSWER_YES, NULL, "%s%s",
			    units_format_bytes(bytes, size),
			    key_lines_find(strbuf_text(&swaps), "/dev/zram")
				    ? ", including zram"
				    : "");
}

static void check_utf8(const struct patient *patient, struct finding *ret)
{
	const char *codeset = nl_langinfo(CODESET);

	(void)patient;
	finding_set(ret, strcmp(codeset, "UTF-8") == 0 ? ANSWER_YES : ANSWER_NO,
		    "set LC_ALL to a locale with UTF-8, such as C.UTF-8",
		    "the locale's characters are %s", codeset);
}

static void check_colour(const struct patient *patient, struct finding *ret)
{
	const char *term = getenv("TERM");
	const char *no_color = getenv("NO_COLOR");

	(void)patient;
	if (no_color && no_color[0])
		finding_set(ret, ANSWER_NO, "unset NO_COLOR", "NO_COLOR is set");
	else if (!term || !term[0] || strcmp(term, "dumb") == 0)
		finding_set(ret, ANSWER_NO, "set TERM to the type of the terminal",
			    "TERM is %s", term && term[0] ? term : "not set");
	else if (strstr(term, "256color") || strstr(term, "direct"))
		finding_set(ret, ANSWER_YES, NULL, "TERM is %s", term);
	else
		finding_set(ret, ANSWER_PARTLY,
			    "a TERM whose name contains 256color, if the terminal "
			    "supports it",
			    "TERM is %s", term);
}

static void find_built(bool is_built, const char *library, const char *fix,
		       struct finding *ret)
{
	finding_set(ret, is_built ? ANSWER_YES : ANSWER_NO, fix, "built %s %s",
		    is_built ? "with" : "without", library);
}

static void check_screen(const struct patient *patient, struct finding *ret)
{
	(void)patient;
	find_built(HAVE_NCURSES, "ncursesw", "build it with ncursesw", ret);
}

static void check_libproc2(const struct patient *patient, struct finding *ret)
{
	(void)patient;
	find_built(HAVE_LIBPROC2, "libproc2",
		   "not needed: memstate's own reader lists them, too", ret);
}

static void check_symbols(const struct patient *patient, struct finding *ret)
{
	(void)patient;
	if (HAVE_LIBELF && !elf_symbols_can_be_read())
		finding_set(ret, ANSWER_NO, "install libelf",
			    "built with libelf, but it cannot be loaded");
	else
		find_built(HAVE_LIBELF, "libelf", "build it with libelf", ret);
}

static void check_agent(const struct patient *patient, struct finding *ret)
{
	_cleanup_free_ char *library = NULL;
	int r = agent_library_find(&library);

	(void)patient;
	if (r == -EOPNOTSUPP)
		finding_set(ret, ANSWER_NO,
			    "build it without --disable-agent, for x86-64",
			    "built without the code that runs in other processes");
	else if (r < 0)
		finding_set(ret, ANSWER_NO, "install all files of memstate", "%s: %s",
			    library ? library : "libmemstate-agent.so", strerror(-r));
	else
		finding_set(ret, ANSWER_YES, NULL, "%s is there", library);
}

static const struct check checks[] = {
	{ "cgroup_memory", "groups of processes have memory limits", false, CHECK_LIVE,
	  check_cgroup },
	{ "huge_pages", "the kernel backs memory with huge pages", false, CHECK_LIVE,
	  check_huge_pages },
	{ "swap", "anonymous memory can be swapped out", false, CHECK_ANYWHERE,
	  check_swap },
	{ "utf8", "names and graphs can contain all Unicode characters", false,
	  CHECK_LIVE, check_utf8 },
	{ "colour", "the terminal has 256 colours", false, CHECK_LIVE, check_colour },
	{ "screen", "an interactive screen is available", false, CHECK_LIVE,
	  check_screen },
	{ "symbols", "block types and code addresses have names", false, CHECK_LIVE,
	  check_symbols },
	{ "helper_library",
	  "commands can be started with a helper that queries their allocator", false,
	  CHECK_LIVE, check_agent },
	{ "libproc2", "procps' library lists the processes", false, CHECK_LIVE,
	  check_libproc2 },
};

const struct check_list doctor_around_checks = {
	"environment",
	checks,
	sizeof(checks) / sizeof(checks[0]),
};
