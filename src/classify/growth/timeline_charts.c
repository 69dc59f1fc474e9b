/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "classify/growth/timeline_charts.h"

#include <stdlib.h>
#include <string.h>

void timeline_charts_release(struct timeline_charts *c)
{
	for (size_t i = 0; i < c->chart_count; i++) {
		timeline_release(&c->charts[i].timeline);
		free(c->charts[i].title);
	}
	for (size_t i = 0; i < CHARTED_PROCESSES_MAX; i++)
		free(c->process_names[i]);
	for (size_t i = 0; i < c->event_count; i++) {
		free(c->events[i].kind);
		free(c->events[i].text);
	}
	free(c->group_path);
	free(c->group_names);
	free(c->verdict);
	free(c->charts);
	free(c->events);
	memset(c, 0, sizeof(*c));
}
