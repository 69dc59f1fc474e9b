/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cgroup_metrics - write the metric families of cgroups. */
#ifndef MS_RENDER_EXPORTER_CGROUP_METRICS_H
#define MS_RENDER_EXPORTER_CGROUP_METRICS_H

#include "classify/exporter/look.h"
#include "render/exporter/exposition.h"

/*
 * Append the labels of a group: "group", and the labels by which a query can join the
 * group with the series of other exporters.
 */
void cgroup_metrics_add_labels(struct strbuf *labels, const struct group_name *name);

/*
 * Add the metric families of cgroups, with at most series_max samples. The parts of the
 * memory are added only for the `top` largest cgroups. Return the number of samples
 * that were left out.
 */
size_t cgroup_metrics_add(struct exposition *e, const struct exporter_look *look,
			  size_t series_max, size_t top);

#endif
