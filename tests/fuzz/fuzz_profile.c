/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The input is a profile of any tool. Whatever can be loaded is a
 * valid profile and can be saved.
 */
#include "config.h"

#include <string.h>

#include "base/strbuf.h"
#include "fuzz.h"
#include "model/profile.h"
#include "store/profile/folded.h"
#include "store/profile/gzip.h"
#include "store/profile/pprof.h"

#define PLAIN_MAX_BYTES ((size_t)1 << 20)

static void check_profile(const struct profile *p,
			  uint64_t ret_sums[PROFILE_METRIC_COUNT_])
{
	CHECK(p->node_count > 0);
	for (size_t i = 1; i < p->node_count; i++) {
		CHECK(p->nodes[i].parent < i);
		CHECK(p->nodes[i].frame < p->frame_count);
	}
	for (size_t i = 0; i < p->frame_count; i++)
		CHECK(p->frames[i].module == PROFILE_NO_MODULE ||
		      p->frames[i].module < p->module_count);
	profile_sum(p, ret_sums);
	for (int m = 0; m < PROFILE_METRIC_COUNT_; m++) {
		CHECK(ret_sums[m] <= INT64_MAX);
		CHECK(ret_sums[m] == 0 || p->known & 1U << m);
	}
}

/*
 * Save and load the profile. Saving makes texts printable; figures
 * and structure must not change.
 */
static void save_and_load(const struct profile *p,
			  const uint64_t sums[PROFILE_METRIC_COUNT_])
{
	struct strbuf packed = STRBUF_INIT, why = STRBUF_INIT;
	uint64_t again_sums[PROFILE_METRIC_COUNT_];
	struct profile again;

	profile_init(&again);
	if (pprof_pack(p, &packed) == 0) {
		CHECK(pprof_unpack(packed.text, packed.length, &again, &why) == 0);
		check_profile(&again, again_sums);
		CHECK(memcmp(sums, again_sums, sizeof(again_sums)) == 0);
		CHECK(again.known == p->known);
	}
	profile_release(&again);
	strbuf_release(&packed);
	strbuf_release(&why);
}

static void try_bytes(const void *bytes, size_t length, bool is_text)
{
	uint64_t sums[PROFILE_METRIC_COUNT_];
	struct strbuf why = STRBUF_INIT;
	struct profile p;
	int r;

	profile_init(&p);
	r = is_text ? folded_read(bytes, length, PROFILE_BYTES, &p, &why)
		    : pprof_unpack(bytes, length, &p, &why);
	CHECK((r < 0) == (why.length > 0));
	if (r == 0) {
		check_profile(&p, sums);
		save_and_load(&p, sums);
	}
	profile_release(&p);
	strbuf_release(&why);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct strbuf plain = STRBUF_INIT;

	if (gzip_is_packed(data, size) &&
	    gzip_unpack(data, size, PLAIN_MAX_BYTES, &plain) == 0)
		try_bytes(strbuf_text(&plain), plain.length, false);
	else if (size > 0)
		try_bytes(data, size, !memchr(data, '\0', size));
	strbuf_release(&plain);
	return 0;
}
