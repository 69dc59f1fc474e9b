/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "made_comparison.h"

#include <string.h>

#include "base/units.h"
#include "base/xalloc.h"

void made_init(struct comparison *c, const char *command)
{
	*c = (struct comparison){ .command = xstrdup(command),
				  .above_bytes = BYTES_UNKNOWN,
				  .settle_ns = NS_PER_S };
}

void made_add_variant(struct comparison *c, const char *name, enum allocator allocator)
{
	size_t capacity = c->variant_count;

	c->variants =
		xgrow(c->variants, &capacity, c->variant_count + 1, sizeof(*c->variants));
	c->variants[c->variant_count++] =
		(struct variant){ .name = xstrdup(name), .allocator = allocator };
}

struct run *made_add_run(struct comparison *c)
{
	size_t variant = c->variant_count - 1;
	unsigned int number = 1;
	struct run *run;

	for (size_t i = 0; i < c->run_count; i++)
		number += c->runs[i].variant == variant;
	c->runs = xgrow(c->runs, &c->run_capacity, c->run_count + 1, sizeof(*c->runs));
	run = &c->runs[c->run_count++];
	*run = (struct run){
		.variant = variant,
		.number = number,
		.wall_ns = NS_PER_S,
		.user_ns = 400 * NS_PER_MS,
		.system_ns = 100 * NS_PER_MS,
		.release_call_count = BYTES_UNKNOWN,
	};
	for (size_t m = 0; m < MOMENT_COUNT_; m++)
		run->moments[m] = SIZE_MAX;
	return run;
}

struct run_sample *made_add_sample(struct run *run, uint64_t elapsed_ms,
				   uint64_t rss_bytes)
{
	struct run_sample *sample;

	run->samples = xgrow(run->samples, &run->sample_capacity, run->sample_count + 1,
			     sizeof(*run->samples));
	sample = &run->samples[run->sample_count++];
	*sample = (struct run_sample){ .elapsed_ns = elapsed_ms * NS_PER_MS,
				       .rss_bytes = rss_bytes };
	for (size_t o = 0; o <= OWNER_HEAP_LAST; o++)
		sample->owner_bytes[o] = BYTES_UNKNOWN;
	sample->owner_bytes[OWNER_ANON] = rss_bytes;
	return sample;
}

void made_set_live(struct run_sample *sample, uint64_t live_bytes)
{
	if (!bytes_known(live_bytes))
		return;
	memset(sample->owner_bytes, 0, sizeof(sample->owner_bytes));
	sample->owner_bytes[OWNER_LIVE] = live_bytes;
	sample->owner_bytes[OWNER_POOL_PAGES] = sample->rss_bytes - live_bytes;
	sample->heap_quality = QUALITY_EXACT;
}

struct run *made_add_whole_run(struct comparison *c, const struct made_run *f)
{
	struct run *run = made_add_run(c);

	made_add_sample(run, 0, 0);
	made_set_live(made_add_sample(run, 500, f->half), f->live_half);
	made_set_live(made_add_sample(run, 1000, f->peak), f->live_peak);
	made_set_live(made_add_sample(run, 1500, f->settled), f->live_settled);
	made_set_live(made_add_sample(run, 2000, f->settled), f->live_settled);
	run->moments[MOMENT_PEAK] = 2;
	run->moments[MOMENT_END] = 2;
	run->moments[MOMENT_SETTLED] = 4;
	run->peak_rss_bytes = f->peak;
	return run;
}
