/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * selection - the metric families that a request selects with the query parameters
 * collect[] and name[], as for node_exporter and the client libraries of Prometheus. The
 * functions are pure.
 */
#ifndef MS_RENDER_EXPORTER_SELECTION_H
#define MS_RENDER_EXPORTER_SELECTION_H

#include "render/exporter/families.h"

struct metric_selection {
	/* true if the metrics of owners, and those of heaps, are enabled */
	bool has_owners, has_heaps;
	/*
	 * The selected collectors and families. Both query parameters are optional. If
	 * both are present, a family is selected only if it matches both.
	 */
	bool has_collectors, has_names;
	bool collectors[METRIC_COLLECTOR_COUNT_], names[METRIC_COUNT_];
};

/*
 * Add a parameter of the query. Parameters other than collect[] and name[] are ignored;
 * value may be NULL. Return 0. If the value is not the name of a collector or family, or
 * if this collector or family is not enabled, return -EINVAL with a one-line message in
 * *problem.
 */
int metric_selection_add(struct metric_selection *selection, const char *key,
			 const char *value, struct strbuf *problem);

/*
 * Return true if all families are selected, because the query has no collect[] or name[]
 * parameter.
 */
bool metric_selection_is_all(const struct metric_selection *selection);

/*
 * Append the selected families of an exposition, in either format. Each family is copied
 * with its header lines and all of its samples.
 */
void metric_selection_copy(const struct metric_selection *selection, const char *text,
			   size_t length, struct strbuf *out);

#endif
