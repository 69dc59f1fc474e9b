/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/exporter/negotiate.h"

#include "../../support/unit.h"

static void the_format_is_chosen_by_version_and_quality(void **state)
{
	static const struct {
		const char *accept;
		enum exposition_format format;
	} rows[] = {
		{ NULL, EXPOSITION_TEXT },
		{ "", EXPOSITION_TEXT },
		{ "*/*", EXPOSITION_TEXT },
		{ "application/openmetrics-text", EXPOSITION_OPENMETRICS },
		{ "application/openmetrics-text; version=1.0.0", EXPOSITION_OPENMETRICS },
		{ "APPLICATION/OpenMetrics-Text ; Version = 1.0.0",
		  EXPOSITION_OPENMETRICS },
		{ "application/openmetrics-text;version=0.0.1", EXPOSITION_TEXT },
		{ "application/openmetrics-text;version=1.0.0;q=0", EXPOSITION_TEXT },
		{ "application/openmetrics-text;version=1.0.0,application/"
		  "openmetrics-text;version=0.0.1;q=0.75,text/"
		  "plain;version=0.0.4;q=0.5,*/*;q=0.1",
		  EXPOSITION_OPENMETRICS },
		{ "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,"
		  "text/plain;version=0.0.4;q=0.4",
		  EXPOSITION_OPENMETRICS },
		{ "text/plain,application/openmetrics-text;q=0.9", EXPOSITION_TEXT },
		{ "text/plain;q=0.5,application/openmetrics-text;q=0.5",
		  EXPOSITION_OPENMETRICS },
		{ "application/openmetrics-text;q=2", EXPOSITION_TEXT },
		{ "application/openmetrics-text;q=1.001", EXPOSITION_TEXT },
		{ "application/openmetrics-text;q=0.0001", EXPOSITION_TEXT },
		{ "application/openmetrics-text;q=", EXPOSITION_TEXT },
		{ ",,;;=,q=1;", EXPOSITION_TEXT },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (negotiate_format(rows[i].accept) != rows[i].format)
			fail_msg("%s", rows[i].accept ? rows[i].accept : "NULL");
}

static void gzip_is_used_if_it_is_accepted(void **state)
{
	static const struct {
		const char *accept;
		bool is_packed;
	} rows[] = {
		{ NULL, false },
		{ "", false },
		{ "gzip", true },
		{ "deflate, gzip;q=0.5", true },
		{ "gzip;q=0", false },
		{ "gzip;q=0.000", false },
		{ "*", true },
		{ "*;q=0", false },
		{ "gzip;q=0, *", false },
		{ "identity", false },
		{ "x-gzip", true },
		{ "gzipped", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (negotiate_gzip(rows[i].accept) != rows[i].is_packed)
			fail_msg("%s", rows[i].accept ? rows[i].accept : "NULL");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_format_is_chosen_by_version_and_quality),
		cmocka_unit_test(gzip_is_used_if_it_is_accepted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
