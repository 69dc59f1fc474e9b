/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/process/diagnose.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "classify/process/diagnose_rule.h"

/*
 * Minimum number of mappings to report: four fifths of the default of vm.max_map_count.
 */
#define MANY_MAPPINGS (65530 / 5 * 4)

static bool rule_unreadable(const struct usage *u, struct diagnosis *d)
{
	if (u->error == -EACCES || u->error == -EPERM)
		return say(
			d,
			"Its memory cannot be read without more rights: only its owner "
			"and root may read it.");
	if (u->error == -EOPNOTSUPP)
		return say(d, "Its memory cannot be read: this kernel or capture has no "
			      "smaps file for it.");
	return u->error &&
	       say(d, "Its memory could not be read: %s.", strerror(-u->error));
}

static bool rule_no_memory(const struct usage *u, struct diagnosis *d)
{
	const char *text = process_no_memory_text(&u->process);

	return text && say(d, "A %s.", text);
}

static const char *const owner_phrases[OWNER_COUNT_] = {
	[OWNER_LIVE] = "allocated blocks",
	[OWNER_POOL_PAGES] = "free pages that the allocator keeps",
	[OWNER_POOL_FRAGMENTS] = "free fragments between allocated blocks",
	[OWNER_HEAP_META] = "the allocator's own data",
	[OWNER_STACK] = "stacks",
	[OWNER_ANON] = "other private anonymous memory",
	[OWNER_FILE] = "mapped files",
	[OWNER_SHMEM] = "shared memory",
};

const char *diagnose_owner_phrase(const struct usage *u, enum owner owner)
{
	if (owner == OWNER_LIVE && diagnose_is_heap_in_live(u))
		return "the allocator's memory, in use or free, which it does not "
		       "distinguish";
	if (owner == OWNER_ANON && u->heap_quality == QUALITY_UNKNOWN)
		return "private anonymous memory (the heap is part of it)";
	return owner_phrases[owner];
}

static bool rule_dominant(const struct usage *u, struct diagnosis *d)
{
	for (unsigned int o = 0; o < OWNER_COUNT_; o++) {
		uint64_t bytes = owner_bytes(u, (enum owner)o);

		if (!is_significant(bytes, 1, rss(u), 500))
			continue;
		return say(d, "Most of it is %s: %s of %s (%u%%).",
			   diagnose_owner_phrase(u, (enum owner)o), amount(bytes).text,
			   amount(rss(u)).text, percent(bytes, rss(u)));
	}
	return false;
}

static bool rule_mixed(const struct usage *u, struct diagnosis *d)
{
	uint64_t first = 0, second = 0;
	enum owner o_first = OWNER_LIVE, o_second = OWNER_LIVE;

	for (unsigned int o = 0; o < OWNER_COUNT_; o++) {
		uint64_t bytes = owner_bytes(u, (enum owner)o);

		if (!bytes_known(bytes) || bytes <= second)
			continue;
		if (bytes > first) {
			second = first;
			o_second = o_first;
			first = bytes;
			o_first = (enum owner)o;
		} else {
			second = bytes;
			o_second = (enum owner)o;
		}
	}
	if (second == 0 || !bytes_known(rss(u)) || is_significant(first, 1, rss(u), 500))
		return false;
	return say(d, "No owner dominates: %s %s (%u%%), %s %s (%u%%).",
		   diagnose_owner_phrase(u, o_first), amount(first).text,
		   percent(first, rss(u)), diagnose_owner_phrase(u, o_second),
		   amount(second).text, percent(second, rss(u)));
}

static bool rule_lazyfree(const struct usage *u, struct diagnosis *d)
{
	uint64_t lazyfree = u->state_bytes[STATE_LAZYFREE];

	if (!is_significant(lazyfree, MIB, rss(u), 20))
		return false;
	return say(
		d,
		"%s (%u%%) is LazyFree: the program has freed it, and the kernel "
		"reclaims it as soon as memory gets short. Without it, Rss would be %s.",
		amount(lazyfree).text, percent(lazyfree, rss(u)),
		amount(bytes_sub(rss(u), lazyfree)).text);
}

static bool rule_swapped(const struct usage *u, struct diagnosis *d)
{
	uint64_t swap = field(u, SMAPS_SWAP);

	if (!is_significant(swap, MIB, bytes_add(rss(u), swap), 50))
		return false;
	return say(d, "Another %s is swapped out: with it, the process needs %s.",
		   amount(swap).text, amount(bytes_add(rss(u), swap)).text);
}

static bool rule_unbacked(const struct usage *u, struct diagnosis *d)
{
	if (!is_significant(u->unbacked_bytes, 64 * MIB, rss(u), 1000))
		return false;
	return say(d,
		   "%s of its address space is mapped without pages: it costs no memory, "
		   "so Size is not a measure of memory use.",
		   amount(u->unbacked_bytes).text);
}

/*
 * use Uss instead of Pss, because Pss includes half of each page that two processes share
 */
static bool rule_shared(const struct usage *u, struct diagnosis *d)
{
	uint64_t pss = field(u, SMAPS_PSS);
	uint64_t uss = usage_uss_bytes(u);

	if (!bytes_known(pss) || !bytes_known(uss) || !bytes_known(rss(u)) ||
	    rss(u) < MIB || uss >= rss(u) / 2)
		return false;
	return say(d,
		   "More than half is shared with other processes: its fair share "
		   "(Pss) is %s, and ending the process would free %s (Uss).",
		   amount(pss).text, amount(uss).text);
}

static bool rule_clean_files(const struct usage *u, struct diagnosis *d)
{
	uint64_t clean = bytes_add(u->matrix.cell[OWNER_FILE][STATE_PRIVATE_CLEAN],
				   u->matrix.cell[OWNER_FILE][STATE_SHARED_CLEAN]);

	if (!is_significant(clean, MIB, rss(u), 500))
		return false;
	return say(
		d,
		"%s (%u%%) is unmodified file pages: the kernel can drop them and read "
		"them again.",
		amount(clean).text, percent(clean, rss(u)));
}

/*
 * Return the size of private copies of file pages: all anonymous pages outside anonymous
 * mappings. The dirty pages of the owner `file` would include pages of MAP_SHARED
 * mappings, which are not copies.
 */
static uint64_t file_copies(const struct usage *u)
{
	uint64_t copies = field(u, SMAPS_ANONYMOUS);

	if (!bytes_known(owner_bytes(u, OWNER_FILE)))
		return BYTES_UNKNOWN;
	for (unsigned int o = 0; o < OWNER_FILE; o++) {
		uint64_t bytes = owner_bytes(u, (enum owner)o);

		if (bytes_known(bytes))
			copies = bytes_sub(copies, bytes);
	}
	return copies;
}

static bool rule_file_copies(const struct usage *u, struct diagnosis *d)
{
	uint64_t copies = file_copies(u);

	if (!is_significant(copies, 4 * MIB, rss(u), 100))
		return false;
	return say(d,
		   "%s (%u%%) is private copies of file pages (data, "
		   "relocations): each process that runs the program has its own.",
		   amount(copies).text, percent(copies, rss(u)));
}

static bool rule_stacks(const struct usage *u, struct diagnosis *d)
{
	uint64_t stack = owner_bytes(u, OWNER_STACK);

	if (!is_significant(stack, 8 * MIB, rss(u), 100))
		return false;
	return say(d,
		   "The stacks of %u thread%s hold %s (%u%%): pages that were touched "
		   "stay until the thread ends.",
		   u->process.thread_count, u->process.thread_count == 1 ? "" : "s",
		   amount(stack).text, percent(stack, rss(u)));
}

static bool rule_shmem(const struct usage *u, struct diagnosis *d)
{
	uint64_t shmem = owner_bytes(u, OWNER_SHMEM);

	if (!is_significant(shmem, MIB, rss(u), 250))
		return false;
	return say(d,
		   "%s (%u%%) is shared memory: it may remain after the process has "
		   "exited, and counts in every process that maps it.",
		   amount(shmem).text, percent(shmem, rss(u)));
}

static bool rule_huge_pages(const struct usage *u, struct diagnosis *d)
{
	uint64_t thp = usage_thp_bytes(u);

	if (!is_significant(thp, 32 * MIB, rss(u), 500))
		return false;
	return say(d,
		   "%s (%u%%) is in transparent huge pages: a few live bytes keep 2 MiB "
		   "resident.",
		   amount(thp).text, percent(thp, rss(u)));
}

static bool rule_hugetlb(const struct usage *u, struct diagnosis *d)
{
	uint64_t hugetlb = usage_hugetlb_bytes(u);

	if (!bytes_known(hugetlb) || hugetlb == 0)
		return false;
	return say(d,
		   "The process also uses %s of hugetlb pages, which Rss never "
		   "includes.",
		   amount(hugetlb).text);
}

static bool rule_locked(const struct usage *u, struct diagnosis *d)
{
	uint64_t locked = field(u, SMAPS_LOCKED);

	if (!is_significant(locked, MIB, rss(u), 100))
		return false;
	return say(d, "%s is locked: it can be neither swapped out nor dropped.",
		   amount(locked).text);
}

static bool rule_many_mappings(const struct usage *u, struct diagnosis *d)
{
	if (u->mapping_count == MAPPING_COUNT_UNKNOWN || u->mapping_count < MANY_MAPPINGS)
		return false;
	return say(d,
		   "%" PRIu32
		   " mappings: at vm.max_map_count (65530 unless it was raised) mmap "
		   "fails.",
		   u->mapping_count);
}

static bool rule_unexplained(const struct usage *u, struct diagnosis *d)
{
	uint64_t unexplained = usage_unexplained_bytes(u);

	if (!bytes_known(unexplained) || unexplained == 0)
		return false;
	return say(d, "The kernel did not report the state of %s of Rss.",
		   amount(unexplained).text);
}

bool diagnosis_is_verdict(const struct diagnosis *d)
{
	static const char *const rules[] = { "unreadable", "no-memory", "dominant",
					     "mixed" };

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (strcmp(d->rule, rules[i]) == 0)
			return true;
	return false;
}

/* all diagnosis rules, the most important first */
#define RULES(X)                                     \
	X("unreadable", rule_unreadable)             \
	X("no-memory", rule_no_memory)               \
	X("dominant", rule_dominant)                 \
	X("mixed", rule_mixed)                       \
	X("live", diagnose_live)                     \
	X("arenas", diagnose_arenas)                 \
	X("pool-pages", diagnose_pool_pages)         \
	X("fragments", diagnose_fragments)           \
	X("java-heap", diagnose_java_heap)           \
	X("go-heap", diagnose_go_heap)               \
	X("python-objects", diagnose_python_objects) \
	X("php-heap", diagnose_php_heap)             \
	X("js-heap", diagnose_js_heap)               \
	X("ruby-objects", diagnose_ruby_objects)     \
	X("heap-unknown", diagnose_heap_unknown)     \
	X("lazyfree", rule_lazyfree)                 \
	X("swapped", rule_swapped)                   \
	X("unexplained", rule_unexplained)           \
	X("many-mappings", rule_many_mappings)       \
	X("stacks", rule_stacks)                     \
	X("shmem", rule_shmem)                       \
	X("shared", rule_shared)                     \
	X("file-copies", rule_file_copies)           \
	X("clean-files", rule_clean_files)           \
	X("huge-pages", rule_huge_pages)             \
	X("hugetlb", rule_hugetlb)                   \
	X("locked", rule_locked)                     \
	X("unbacked", rule_unbacked)

#define RULE_NAME(name, function) name,
#define RULE_FUNCTION(name, function) function,

const char *const diagnosis_rules[] = { RULES(RULE_NAME) NULL };

static bool (*const rule_functions[])(const struct usage *u,
				      struct diagnosis *d) = { RULES(RULE_FUNCTION) };

size_t diagnose(const struct usage *u, struct diagnosis *ret, size_t max)
{
	size_t count = 0;

	for (size_t i = 0; diagnosis_rules[i] && count < max; i++) {
		if (!rule_functions[i](u, &ret[count]))
			continue;
		ret[count++].rule = diagnosis_rules[i];
	}
	return count;
}
