/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "render/exporter/exposition.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"

const char *const exposition_content_types[EXPOSITION_FORMAT_COUNT_] = {
	[EXPOSITION_TEXT] = "text/plain; version=0.0.4; charset=utf-8",
	[EXPOSITION_OPENMETRICS] =
		"application/openmetrics-text; version=1.0.0; charset=utf-8",
};

void exposition_begin(struct exposition *e, enum exposition_format format,
		      struct strbuf *out)
{
	*e = (struct exposition){ .format = format, .out = out };
}

void exposition_begin_family(struct exposition *e, enum metric metric)
{
	e->metric = metric;
	e->has_head = false;
}

/*
 * Append the header lines of a metric family. The text format differs from OpenMetrics:
 * the lines contain the name of the samples instead of that of the family, the unit is
 * left out, and the type "info" becomes "gauge".
 */
static void add_head(struct exposition *e)
{
	const struct metric_family *f = &metric_families[e->metric];
	bool is_text = e->format == EXPOSITION_TEXT;
	const char *suffix = is_text ? metric_suffix(f) : "";
	const char *type = is_text && f->type == METRIC_TYPE_INFO
				   ? "gauge"
				   : metric_type_names[f->type];

	if (is_text)
		strbuf_addf(e->out, "# HELP %s%s %s\n", f->name, suffix, f->help);
	strbuf_addf(e->out, "# TYPE %s%s %s\n", f->name, suffix, type);
	if (is_text)
		return;
	if (f->unit[0])
		strbuf_addf(e->out, "# UNIT %s %s\n", f->name, f->unit);
	strbuf_addf(e->out, "# HELP %s %s\n", f->name, f->help);
}

static void add_seconds(struct strbuf *out, uint64_t ns)
{
	strbuf_addf(out, "%" PRIu64 ".%06" PRIu64 "\n", ns / NS_PER_S,
		    ns % NS_PER_S / NS_PER_US);
}

static void begin_suffixed(struct exposition *e, const char *suffix, const char *labels)
{
	const struct metric_family *f = &metric_families[e->metric];

	if (!e->has_head)
		add_head(e);
	e->has_head = true;
	e->sample_count++;
	strbuf_add_text(e->out, f->name);
	strbuf_add_text(e->out, suffix);
	if (labels[0]) {
		strbuf_add_char(e->out, '{');
		strbuf_add_text(e->out, labels);
		strbuf_add_char(e->out, '}');
	}
	strbuf_add_char(e->out, ' ');
}

static void begin_sample(struct exposition *e, const char *labels)
{
	begin_suffixed(e, metric_suffix(&metric_families[e->metric]), labels);
}

void exposition_add(struct exposition *e, const char *labels, uint64_t value)
{
	begin_sample(e, labels);
	strbuf_add_u64(e->out, value);
	strbuf_add_char(e->out, '\n');
}

void exposition_add_signed(struct exposition *e, const char *labels, int64_t value)
{
	begin_sample(e, labels);
	strbuf_addf(e->out, "%" PRId64 "\n", value);
}

void exposition_add_ns(struct exposition *e, const char *labels, uint64_t ns)
{
	begin_sample(e, labels);
	add_seconds(e->out, ns);
}

void exposition_add_ms(struct exposition *e, const char *labels, uint64_t ms)
{
	begin_sample(e, labels);
	strbuf_addf(e->out, "%" PRIu64 ".%03" PRIu64 "\n", ms / 1000, ms % 1000);
}

void exposition_add_double(struct exposition *e, const char *labels, double value)
{
	begin_sample(e, labels);
	strbuf_addf(e->out, "%.6g\n", value);
}

void exposition_add_histogram(struct exposition *e, const uint64_t *limits_ns,
			      const uint64_t *counts, size_t count, uint64_t sum_ns)
{
	uint64_t total = 0;

	for (size_t i = 0; i < count; i++) {
		char label[40] = "le=\"+Inf\"";

		if (i + 1 < count)
			snprintf(label, sizeof(label), "le=\"%g%s\"",
				 (double)limits_ns[i] / (double)NS_PER_S,
				 limits_ns[i] % NS_PER_S == 0 ? ".0" : "");
		total += counts[i];
		begin_suffixed(e, "_bucket", label);
		strbuf_addf(e->out, "%" PRIu64 "\n", total);
	}
	begin_suffixed(e, "_count", "");
	strbuf_addf(e->out, "%" PRIu64 "\n", total);
	begin_suffixed(e, "_sum", "");
	add_seconds(e->out, sum_ns);
}

void exposition_add_exemplar(struct exposition *e, const char *labels, uint64_t unix_ms)
{
	if (e->format != EXPOSITION_OPENMETRICS)
		return;
	strbuf_truncate(e->out, e->out->length - 1);
	strbuf_addf(e->out, " # {%s} 1 %" PRIu64 ".%03" PRIu64 "\n", labels,
		    unix_ms / 1000, unix_ms % 1000);
}

void exposition_end(struct exposition *e)
{
	if (e->format == EXPOSITION_OPENMETRICS)
		strbuf_add_text(e->out, "# EOF\n");
}

void exposition_add_label(struct strbuf *labels, const char *name, const char *value)
{
	if (labels->length > 0)
		strbuf_add_char(labels, ',');
	strbuf_addf(labels, "%s=\"", name);
	for (; *value; value++) {
		if (*value == '\n') {
			strbuf_add_text(labels, "\\n");
			continue;
		}
		if (*value == '\\' || *value == '"')
			strbuf_add_char(labels, '\\');
		strbuf_add_char(labels, *value);
	}
	strbuf_add_char(labels, '"');
}
