/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The input is a file of stack rules, which are applied to a small profile. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "base/strbuf.h"
#include "classify/profile/transform.h"
#include "fuzz.h"
#include "../unit/support/made_stacks.h"

#define RULES_MAX 20 /* at most this many rules are applied: each takes time */

static uint64_t allocations_of(const struct profile *p)
{
	uint64_t sums[PROFILE_METRIC_COUNT_];

	profile_sum(p, sums);
	return sums[PROFILE_ALLOCATIONS];
}

static void apply(const struct transform_list *list)
{
	struct profile p, q;
	struct transform_error error;
	int r;

	made_stacks(&p, "main;parse(int);std::vector<int>::push_back;operator new 3\n"
			"main;walk;walk;walk;xmalloc 5\n[cut];lib_f 7\nmain 11\n");
	r = profile_transform(&p, list, &q, &error);
	CHECK(r == 0 || r == -E2BIG);
	if (r == 0) {
		bool drops = false;

		for (size_t i = 0; i < list->count; i++)
			drops |= list->rules[i].kind == TRANSFORM_FILTER ||
				 list->rules[i].kind == TRANSFORM_REMOVE;
		CHECK(drops ? allocations_of(&q) <= 26 : allocations_of(&q) == 26);
		profile_release(&q);
	}
	profile_release(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct transform_sets sets = TRANSFORM_SETS_INIT;
	struct transform_list own = TRANSFORM_LIST_INIT, list;
	struct transform_error error = { .line = 0 };
	struct strbuf text = STRBUF_INIT;
	int r;

	strbuf_add(&text, data, size);
	r = transform_sets_parse(&sets, &own, strbuf_text(&text), &error);
	CHECK(r == 0 || (r == -EINVAL && error.line > 0 && error.why[0] != '\0'));
	CHECK(own.count <= TRANSFORM_RULES_MAX && sets.count <= TRANSFORM_RULES_MAX);
	r = transform_list_expand(&own, &sets, &list, &error);
	CHECK(r == 0 || r == -EINVAL);
	if (r == 0) {
		CHECK(list.count <= TRANSFORM_RULES_MAX);
		for (size_t i = 0; i < list.count; i++)
			CHECK(list.rules[i].kind != TRANSFORM_SET);
		if (list.count > 0 && list.count <= RULES_MAX)
			apply(&list);
		transform_list_release(&list);
	}
	transform_list_release(&own);
	transform_sets_release(&sets);
	strbuf_release(&text);
	return 0;
}
