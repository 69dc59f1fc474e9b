/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "judged.h"

#include <string.h>

#include "unit.h"

void judged_begin(struct judged *f)
{
	made_init(&f->c, "work");
}

void judged_add_variant(struct judged *f, const char *name, struct made_run run,
			uint64_t off)
{
	struct made_run more = run, less = run;

	more.half += off;
	more.peak += off;
	more.settled += off;
	less.half -= off;
	less.peak -= off;
	less.settled -= off;
	made_add_variant(&f->c, name, ALLOCATOR_GLIBC);
	made_add_whole_run(&f->c, &run);
	made_add_whole_run(&f->c, &more);
	made_add_whole_run(&f->c, &less);
}

struct run *judged_last_run(struct judged *f, size_t back)
{
	return &f->c.runs[f->c.run_count - 1 - back];
}

void judged_finish(struct judged *f)
{
	compared_init(&f->compared, &f->c);
	verdicts_init(&f->verdicts, &f->compared);
}

void judged_two(struct judged *f, struct made_run glibc, struct made_run jemalloc,
		uint64_t off)
{
	judged_begin(f);
	judged_add_variant(f, "glibc", glibc, off);
	judged_add_variant(f, "jemalloc", jemalloc, off);
	judged_finish(f);
}

void judged_release(struct judged *f)
{
	verdicts_release(&f->verdicts);
	compared_release(&f->compared);
	comparison_release(&f->c);
}

void assert_verdict(struct judged *f, const char *rule, const char *text)
{
	assert_true(f->verdicts.count > 0);
	assert_string_equal(f->verdicts.items[0].rule, rule);
	assert_string_equal(strbuf_text(&f->verdicts.items[0].text), text);
}

const char *judged_find_text(struct judged *f, const char *rule)
{
	for (size_t i = 0; i < f->verdicts.count; i++)
		if (strcmp(f->verdicts.items[i].rule, rule) == 0)
			return strbuf_text(&f->verdicts.items[i].text);
	return NULL;
}

void assert_also(struct judged *f, const char *rule, const char *text)
{
	const char *got = judged_find_text(f, rule);

	if (!got)
		fail_msg("%s says nothing", rule);
	assert_string_equal(got, text);
}

/* Live memory grows all the time, beside a little other memory. */
const struct made_run leaking = { 34 * MIB, 66 * MIB, 66 * MIB,
				  32 * MIB, 64 * MIB, 64 * MIB };
/* The program fills its memory early and keeps it. */
const struct made_run steady = { 66 * MIB, 66 * MIB, 66 * MIB,
				 64 * MIB, 64 * MIB, 64 * MIB };
/*
 * Most memory is freed at the end: the allocator keeps it in
 * one, returns it in the other.
 */
const struct made_run kept = {
	66 * MIB, 66 * MIB, 66 * MIB, 64 * MIB, 64 * MIB, 2 * MIB
};
const struct made_run given_back = { 66 * MIB, 66 * MIB, 6 * MIB,
				     64 * MIB, 64 * MIB, 2 * MIB };
