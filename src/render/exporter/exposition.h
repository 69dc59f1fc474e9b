/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exposition - write samples of metric families in the formats that Prometheus reads:
 * OpenMetrics 1.0 and the text format 0.0.4.
 */
#ifndef MS_RENDER_EXPORTER_EXPOSITION_H
#define MS_RENDER_EXPORTER_EXPOSITION_H

#include <stddef.h>
#include <stdint.h>

#include "render/exporter/families.h"

enum exposition_format {
	EXPOSITION_TEXT,
	EXPOSITION_OPENMETRICS,
	EXPOSITION_FORMAT_COUNT_
};

/* The value of the Content-Type header for each format. */
extern const char *const exposition_content_types[EXPOSITION_FORMAT_COUNT_];

struct exposition {
	enum exposition_format format;
	struct strbuf *out;
	enum metric metric; /* family of the samples that are added next */
	bool has_head;	    /* true if the header lines of the family have been written */
	size_t sample_count;
};

void exposition_begin(struct exposition *e, enum exposition_format format,
		      struct strbuf *out);

/* Begin a metric family. Its header lines are written before its first sample. */
void exposition_begin_family(struct exposition *e, enum metric metric);

/*
 * Append a sample. `labels` is a string such as `group="a",state="b"`, or "". Byte
 * amounts and counts are unsigned; durations are printed in seconds.
 */
void exposition_add(struct exposition *e, const char *labels, uint64_t value);
void exposition_add_signed(struct exposition *e, const char *labels, int64_t value);
void exposition_add_ns(struct exposition *e, const char *labels, uint64_t ns);
void exposition_add_ms(struct exposition *e, const char *labels, uint64_t ms);
void exposition_add_double(struct exposition *e, const char *labels, double value);

/*
 * Append the samples of a histogram without labels. counts[i] is the number of values
 * above limits_ns[i - 1] and at most limits_ns[i]; the last count has no upper limit.
 */
void exposition_add_histogram(struct exposition *e, const uint64_t *limits_ns,
			      const uint64_t *counts, size_t count, uint64_t sum_ns);

/*
 * Append an exemplar to the last sample. Only OpenMetrics has exemplars. `labels` is
 * a string as for exposition_add(), and its names and values have at most 128
 * characters in total.
 */
void exposition_add_exemplar(struct exposition *e, const char *labels, uint64_t unix_ms);

void exposition_end(struct exposition *e);

/*
 * Append a label to a list of labels. The value must be valid UTF-8 without control
 * characters; quotes and backslashes are escaped.
 */
void exposition_add_label(struct strbuf *labels, const char *name, const char *value);

#endif
