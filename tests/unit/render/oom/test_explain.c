/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/oom/explain.h"

#include <string.h>

#include "../../support/unit.h"
#include "base/units.h"

/* Assert that the explanation contains these words. Line breaks count as spaces. */
static void assert_explains(const struct oom_evidence *evidence, const char *words)
{
	const struct oom_explain_options options = { .table.max_width = 1000 };
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	oom_explain_add_text(&out, evidence, &options);
	if (!strstr(strbuf_text(&out), words))
		print_message("%s", strbuf_text(&out));
	assert_non_null(strstr(strbuf_text(&out), words));
}

static void a_mapping_is_compared_with_its_process_at_the_same_reading(void **state)
{
	struct oom_evidence evidence;
	struct oom_grower *g = &evidence.grower;

	(void)state;
	memset(&evidence, 0, sizeof(evidence));
	*g = (struct oom_grower){
		.pid = 17,
		.name = "app",
		.from_bytes = 100 * MIB,
		.to_bytes = 299 * MIB,
		.ns = 20 * NS_PER_S,
	};
	assert_explains(&evidence, "app (17): from 100.0M to 299.0M within 20.0s\n");
	strcpy(g->mapping, "[heap]");
	g->mapping_from_bytes = 98 * MIB;
	g->mappings_from_bytes = 101 * MIB;
	g->mapping_to_bytes = 278 * MIB;
	g->mappings_to_bytes = 280 * MIB;
	assert_explains(&evidence,
			"most of it in [heap] (98.0M of 101.0M at the first "
			"reading of its mappings, 278.0M of 280.0M at the last)\n");
	g->is_new = true;
	g->mapping_from_bytes = g->mappings_from_bytes = 0;
	assert_explains(&evidence, "most of it in [heap] (278.0M of 280.0M at the last "
				   "reading of its mappings)\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_mapping_is_compared_with_its_process_at_the_same_reading),
	};

	return cmocka_run_group_tests_name("oom_explain", tests, NULL, NULL);
}
