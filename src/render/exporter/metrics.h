/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * metrics - write the figures that the exporter has collected (struct exporter_look) as
 * an exposition, the text that Prometheus scrapes.
 */
#ifndef MS_RENDER_EXPORTER_METRICS_H
#define MS_RENDER_EXPORTER_METRICS_H

#include "classify/exporter/look.h"
#include "render/exporter/exposition.h"

/* Limits on the number of series. */
struct metric_limits {
	size_t series_max;
	size_t top; /* maximum number of groups to show in addition to "(rest)" */
};

/*
 * Return the maximum number of groups to show, not counting "(rest)". Their time series
 * take at most half of series_max; the other half remains for cgroups. The result is at
 * most limits->top.
 */
size_t metrics_groups_max(const struct metric_limits *limits,
			  const struct exporter_look *look);

/*
 * Append the exposition of the collected figures. At most series_max series are shown: if
 * there are too many cgroups, those furthest from their limits are left out. Return the
 * number of series that are shown.
 */
size_t metrics_add(struct strbuf *out, enum exposition_format format,
		   const struct exporter_look *look, const struct metric_limits *limits);

#endif
