/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/process/process_conclusion.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "classify/process/diagnose.h"
#include "classify/process/runtime_tools.h"
#include "model/allocator_signs.h"

/*
 * Commands that show the memory of each owner in more detail. Only `map` works without a
 * live process.
 */
static const char *const commands[OWNER_COUNT_] = {
	[OWNER_LIVE] = "leaks",
	[OWNER_POOL_PAGES] = "heap",
	[OWNER_POOL_FRAGMENTS] = "heap",
	[OWNER_HEAP_META] = "heap",
	[OWNER_STACK] = "map",
	[OWNER_ANON] = "map",
	[OWNER_FILE] = "map",
	[OWNER_SHMEM] = "map",
};

static uint64_t rss(const struct usage *u)
{
	return u->total.bytes[SMAPS_RSS];
}

/* Return the owner with the most memory, or OWNER_COUNT_ if no owner has any. */
static enum owner find_largest(const struct usage *u)
{
	enum owner largest = OWNER_COUNT_;
	uint64_t max = 0;

	for (unsigned int o = 0; o < OWNER_COUNT_; o++) {
		uint64_t bytes = matrix_owner_bytes(&u->matrix, (enum owner)o);

		if (bytes_known(bytes) && bytes > max) {
			largest = (enum owner)o;
			max = bytes;
		}
	}
	return largest;
}

/* Return true if the owner accounts for at least half of Rss. */
static bool is_most(const struct usage *u, enum owner owner)
{
	return owner != OWNER_COUNT_ && bytes_known(rss(u)) &&
	       units_per_mille(matrix_owner_bytes(&u->matrix, owner), rss(u)) >= 500;
}

static void add_rss(struct conclusion *c, const struct usage *u)
{
	char text[UNITS_TEXT_SIZE];

	if (bytes_known(rss(u)))
		conclusion_add(c, "Rss %s.", units_format_bytes(rss(u), text));
	else
		conclusion_add(c, "Rss cannot be determined.");
}

static void add_most(struct conclusion *c, const struct usage *u, enum owner owner)
{
	uint64_t bytes = matrix_owner_bytes(&u->matrix, owner);
	char text[UNITS_TEXT_SIZE];

	conclusion_add(c, "Most of it is %s: %s (%u%%).", diagnose_owner_phrase(u, owner),
		       units_format_bytes(bytes, text),
		       (units_per_mille(bytes, rss(u)) + 5) / 10);
}

void process_conclude(struct conclusion *c, const struct usage *u,
		      const struct mapping_list *mappings)
{
	enum owner largest = find_largest(u);
	struct diagnosis verdict;

	if (!u->error && process_has_memory(&u->process))
		add_rss(c, u);
	if (is_most(u, largest))
		add_most(c, u, largest);
	else if (diagnose(u, &verdict, 1) == 1 && diagnosis_is_verdict(&verdict))
		conclusion_add(c, "%s", verdict.text);
	if (largest == OWNER_ANON && mappings) {
		_cleanup_strbuf_ struct strbuf tool = STRBUF_INIT;

		if (runtime_tools_add(&tool, u, mappings))
			conclusion_add(c, "%s", tool.text);
	}
}

/*
 * Suggest a command for a heap that was not read: either one that reads the heap, or one
 * that shows why the heap could not be read. Return false if there is no such command.
 */
static bool set_next_heap(struct conclusion *c, const struct usage *u,
			  const struct next_place *place)
{
	bool is_readable = !u->heap_problem && allocator_is_walked(u->allocator);
	/*
	 * predict a pause that is 50 % longer than estimated, because the process may
	 * grow before the command runs
	 */
	uint64_t pause_ms = u->heap_expected_ns / NS_PER_MS * 3 / 2 + 1;

	if (u->heap_error == -EFBIG && !u->heap_pre_copy_problem)
		conclusion_set_next(c, "memstate%s -p %d --heap walk", place->options,
				    u->process.pid);
	else if (u->heap_error == -EFBIG)
		conclusion_set_next(c, "memstate%s -p %d --max-pause %" PRIu64 "ms",
				    place->options, u->process.pid, pause_ms);
	else if (u->heap_error)
		conclusion_set_next(c, "memstate doctor%s -p %d", place->options,
				    u->process.pid);
	else if (is_readable)
		conclusion_set_next(c, "memstate heap%s -p %d", place->options,
				    u->process.pid);
	return u->heap_error || is_readable;
}

static bool is_most_live_of_malloc(const struct usage *u)
{
	uint64_t bytes = usage_heaps_sum(u, ALLOCATOR_UNKNOWN, true);

	return u->heap_count == 0 ||
	       (bytes_known(bytes) &&
		bytes >= matrix_owner_bytes(&u->matrix, OWNER_LIVE) / 2);
}

void process_conclude_next(struct conclusion *c, const struct usage *u,
			   const struct next_place *place)
{
	enum owner largest = find_largest(u);
	const char *command;

	if (!process_has_memory(&u->process) || (!place->is_live && !place->is_capture))
		return;
	if (u->error) {
		conclusion_set_next(c, "memstate doctor%s -p %d", place->options,
				    u->process.pid);
		return;
	}
	if (largest == OWNER_COUNT_)
		return;
	if (largest == OWNER_ANON && place->is_live &&
	    u->heap_quality == QUALITY_UNKNOWN && set_next_heap(c, u, place))
		return;
	command = place->is_live && !u->heap_is_reported ? commands[largest] : "map";
	/*
	 * 'memstate leaks' examines only blocks allocated with malloc, and does not
	 * support PartitionAlloc
	 */
	if (strcmp(command, "leaks") == 0 &&
	    (!is_most_live_of_malloc(u) || u->allocator == ALLOCATOR_PARTITION))
		command = "heap";
	conclusion_set_next(c, "memstate %s%s -p %d%s", command, place->options,
			    u->process.pid, strcmp(command, "map") == 0 ? " -s rss" : "");
}

void process_conclude_map(struct conclusion *c, const struct usage *u,
			  const struct next_place *place)
{
	const char *no_memory = process_no_memory_text(&u->process);
	enum owner largest = find_largest(u);
	char text[UNITS_TEXT_SIZE];
	uint64_t bytes;

	if (no_memory) {
		conclusion_add(c, "A %s.", no_memory);
		return;
	}
	conclusion_add(c, "Rss %s in %" PRIu32 " mapping%s.",
		       units_format_bytes(rss(u), text), u->mapping_count,
		       u->mapping_count == 1 ? "" : "s");
	if (largest != OWNER_COUNT_ && bytes_known(rss(u))) {
		bytes = matrix_owner_bytes(&u->matrix, largest);
		conclusion_add(c, "The largest part is %s: %s (%u%%).",
			       owner_names[largest], units_format_bytes(bytes, text),
			       (units_per_mille(bytes, rss(u)) + 5) / 10);
	}
	if (place->is_live || place->is_capture)
		conclusion_set_next(c, "memstate%s -p %d", place->options,
				    u->process.pid);
}

/*
 * Return the sum of all amounts, or BYTES_UNKNOWN if one of them is unknown. Set
 * *ret_largest to the process with the largest amount, or to NULL if all amounts are 0.
 */
static uint64_t sum_field(const struct usage *const *usages, size_t count,
			  enum smaps_field field, const struct usage **ret_largest)
{
	uint64_t sum = 0, max = 0;

	*ret_largest = NULL;
	for (size_t i = 0; i < count; i++) {
		uint64_t bytes = usages[i]->total.bytes[field];

		sum = bytes_add(sum, bytes);
		if (bytes_or_0(bytes) <= max)
			continue;
		max = bytes;
		*ret_largest = usages[i];
	}
	return sum;
}

void processes_conclude(struct conclusion *c, const struct usage *const *usages,
			size_t count, const struct next_place *place)
{
	enum smaps_field field = SMAPS_PSS;
	const struct usage *largest;
	uint64_t sum = sum_field(usages, count, field, &largest), bytes;
	char text[UNITS_TEXT_SIZE];

	if (!largest) {
		field = SMAPS_RSS;
		sum = sum_field(usages, count, field, &largest);
	}
	if (!largest)
		return;
	bytes = largest->total.bytes[field];
	conclusion_add(c, "The largest of %zu processes%s is ", count,
		       bytes_known(sum) ? "" : ", as far as known,");
	text_add_printable(&c->text, largest->process.comm, strlen(largest->process.comm),
			   false);
	strbuf_addf(&c->text, " (%d): %s %s", largest->process.pid,
		    field == SMAPS_PSS ? "Pss" : "Rss", units_format_bytes(bytes, text));
	/* do not sum Rss, because shared pages would be counted several times */
	if (field == SMAPS_PSS && bytes_known(sum))
		strbuf_addf(&c->text, ", %u%% of the sum",
			    (units_per_mille(bytes, sum) + 5) / 10);
	strbuf_add_char(&c->text, '.');
	if (place->is_live || place->is_capture)
		conclusion_set_next(c, "memstate%s -p %d", place->options,
				    largest->process.pid);
}
