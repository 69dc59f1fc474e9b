/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/exporter/cgroup_turns.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "sample/process/cgroup_sampler.h"

void cgroup_turns_release(struct cgroup_turns *turns)
{
	/* the usages are borrowed, so free only the array */
	free(turns->members.usages);
	free(turns->limits);
}

/* Return true if path is the path of the group or of one of its descendants. */
static bool is_within(const char *path, const char *group)
{
	size_t length = strlen(group);

	if (length == 1)
		return true; /* the root */
	return strncmp(path, group, length) == 0 &&
	       (path[length] == '\0' || path[length] == '/');
}

/*
 * Collect the processes in the cgroup `group`, which owns the limit, and in its
 * descendants. Return the number of these cgroups that contain processes.
 */
static size_t collect_members(struct cgroup_turns *turns,
			      const struct cgroup_turns_input *input, const char *group)
{
	struct snapshot *members = &turns->members;
	const struct places *places = input->places;
	size_t count = 0;

	members->count = 0;
	for (size_t i = 0; i < input->processes->count; i++) {
		if (!input->cgroups[i] || !is_within(input->cgroups[i]->path, group))
			continue;
		members->usages = xgrow(members->usages, &members->capacity,
					members->count + 1, sizeof(*members->usages));
		members->usages[members->count++] = input->processes->usages[i];
	}
	for (size_t i = 0; i < places->cgroup_count; i++)
		count += is_within(places->cgroups[i]->path, group);
	return count;
}

static void find_figures(struct cgroup_turns *turns,
			 const struct cgroup_turns_input *input, struct cgroup *cgroup,
			 struct oom_figures *ret)
{
	const struct cgroup_level *owner = cgroup_tightest(cgroup);
	const char *path = owner ? owner->path : cgroup->levels[0].path;

	for (size_t i = 0; i < turns->limit_count; i++)
		if (strcmp(turns->limits[i].path, path) == 0) {
			*ret = turns->limits[i].figures;
			return;
		}
	cgroup->group_count = collect_members(turns, input, path);
	cgroup->slack_bytes = cgroup_sampler_slack_bytes(cgroup);
	memset(&cgroup->kernel, 0xff, sizeof(cgroup->kernel));
	oom_figures_find(cgroup, &turns->members, ret);
	turns->limits = xgrow(turns->limits, &turns->limit_capacity,
			      turns->limit_count + 1, sizeof(*turns->limits));
	turns->limits[turns->limit_count++] = (struct known_limit){ xstrdup(path), *ret };
}

static struct cgroup_counts counts_of(const struct cgroup *cgroup)
{
	const struct cgroup_level *own = &cgroup->levels[0];
	bool has_pressure = cgroup->has_pressure;

	return (struct cgroup_counts){ {
		[CGROUP_COUNT_KILLS] = own->oom_kill_count,
		[CGROUP_COUNT_LIMIT_HITS] = own->max_count,
		[CGROUP_COUNT_WAITING_NS] = has_pressure ? cgroup->pressure.some_ns
							 : COUNT_UNKNOWN,
		[CGROUP_COUNT_STALLED_NS] = has_pressure ? cgroup->pressure.full_ns
							 : COUNT_UNKNOWN,
	} };
}

/*
 * Store the kernel's event counts of a cgroup, and how much they have increased. A cgroup
 * that was removed and created again has another id, and its counts start at 0.
 */
static void set_counts(struct place *place, uint64_t id,
		       const struct cgroup_counts *counts)
{
	const struct cgroup_counts zero = { { 0 } };
	const struct cgroup_counts *before = &zero;

	/* events before memstate started do not count as an increase */
	if (place->has_figures && place->id == id)
		before = &place->counts;
	else if (!place->has_figures && place->is_old)
		before = counts;
	place->increase = cgroup_counts_sub(counts, before);
	place->counts = *counts;
	place->id = id;
}

static void read_place(struct cgroup_turns *turns, const struct cgroup_turns_input *input,
		       struct place *place)
{
	struct cgroup_reader *reader;
	struct cgroup_counts counts;
	struct cgroup cgroup;

	if (cgroup_reader_open(&input->places->mount, place->path, &reader) < 0) {
		place->is_removed = true;
		return;
	}
	cgroup_init(&cgroup);
	if (cgroup_reader_read(reader, CGROUP_STAT | CGROUP_PRESSURE, &cgroup) == 0) {
		find_figures(turns, input, &cgroup, &place->figures);
		counts = counts_of(&cgroup);
		set_counts(place, cgroup_reader_id(reader), &counts);
		place->has_figures = true;
	}
	cgroup_release(&cgroup);
	cgroup_reader_free(reader);
}

static void begin(struct cgroup_turns *turns, const struct places *places)
{
	for (size_t i = 0; i < places->count; i++) {
		struct place *place = places->items[i];

		/*
		 * set the increase of each known count to 0, and that of each unknown
		 * count to unknown
		 */
		place->increase = cgroup_counts_sub(&place->counts, &place->counts);
		/* a removed cgroup that has processes again was re-created */
		if (place->seen_ns == places->now_ns)
			place->is_removed = false;
	}
	turns->limit_count = 0;
}

static void end(struct cgroup_turns *turns, const struct places *places, uint64_t now_ns,
		struct named_cgroups *ret)
{
	for (size_t i = 0; i < places->count; i++) {
		struct place *place = places->items[i];

		if (!place->has_figures || place->is_removed || place->is_left_out)
			continue;
		named_cgroups_add(ret, &place->name, &place->figures, &place->increase,
				  now_ns);
	}
	for (size_t i = 0; i < turns->limit_count; i++)
		free(turns->limits[i].path);
	turns->limit_count = 0;
}

void cgroup_turns_take(struct cgroup_turns *turns, const struct cgroup_turns_input *input,
		       uint64_t limit_ns, struct named_cgroups *ret)
{
	const struct places *places = input->places;
	uint64_t start_ns = clock_now_ns();
	size_t start = turns->next;

	begin(turns, places);
	for (size_t k = 0; k < places->count; k++) {
		size_t i = (start + k) % places->count;

		if (k > 0 && clock_now_ns() - start_ns >= limit_ns)
			break;
		turns->next = i + 1;
		if (!places->items[i]->is_removed && !places->items[i]->is_left_out)
			read_place(turns, input, places->items[i]);
	}
	end(turns, places, clock_now_ns(), ret);
}
