/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "sample/heap/findings.h"

#include "classify/process/classify_heap.h"

void heap_findings_init(struct heap_findings *f)
{
	*f = (struct heap_findings){
		.mappings = MAPPING_LIST_INIT,
		.detail = HEAP_DETAIL_INIT,
	};
	usage_init(&f->usage);
	heap_init(&f->heap);
}

void heap_findings_release(struct heap_findings *f)
{
	usage_release(&f->usage);
	mapping_list_release(&f->mappings);
	heap_release(&f->heap);
	heap_detail_release(&f->detail);
	heap_leaks_release(&f->leaks);
	helper_answer_release(&f->answer);
	heap_findings_init(f);
}

bool heap_findings_are_known(const struct heap_findings *f)
{
	return !f->error && !f->usage.error &&
	       heap_total_quality(&f->heap) != QUALITY_UNKNOWN;
}

void carried_heap_release(struct carried_heap *c)
{
	past_heap_release(&c->past);
	*c = (struct carried_heap)CARRIED_HEAP_INIT;
}

bool carried_heap_update(struct carried_heap *c, const struct heap_findings *f)
{
	c->error = f->error ? f->error : f->refusal;
	c->problem = heap_total_problem(&f->heap);
	c->pause_ns = f->heap.pause_ns;
	c->expected_ns = f->heap.expected_ns;
	c->pre_copy_problem = f->heap.pre_copy.problem;
	c->cpu_ns = f->cpu_ns;
	c->reported = f->usage.reported;
	c->helper_problem = f->usage.helper_problem;
	if (f->error || f->usage.heap_quality == QUALITY_UNKNOWN)
		return false;
	if (f->heap.is_reported)
		past_heap_store_stats(&c->past, &f->answer.stats, &f->mappings);
	else
		past_heap_store(&c->past, &f->heap, &f->mappings);
	c->taken_ns = f->usage.taken_ns;
	c->is_running = f->is_running;
	c->is_reported = f->heap.is_reported;
	return true;
}

void carried_heap_add(const struct carried_heap *c, struct usage *u,
		      struct mapping_list *mappings)
{
	struct heap heap;

	if (u->heap_quality == QUALITY_UNKNOWN &&
	    past_heap_estimate(&c->past, mappings, &heap)) {
		classify_heap(u, mappings, &heap);
		heap_release(&heap);
	}
	if (u->heap_quality == QUALITY_UNKNOWN)
		past_heap_estimate_stats(&c->past, u, mappings);
	u->heap_taken_ns = u->heap_quality == QUALITY_UNKNOWN ? 0 : c->taken_ns;
	u->heap_is_running = c->is_running;
	u->heap_is_reported = c->is_reported && u->heap_quality != QUALITY_UNKNOWN;
	u->reported = c->reported;
	u->helper_problem = c->helper_problem;
	u->heap_pause_ns = c->pause_ns;
	u->heap_error = c->error;
	u->heap_problem = c->problem;
	u->heap_expected_ns = c->expected_ns;
	u->heap_pre_copy_problem = c->pre_copy_problem;
}

uint64_t heap_share_ns(uint64_t cost_ns, unsigned int max_share_per_mille)
{
	if (max_share_per_mille == 0 || max_share_per_mille >= 1000)
		return 0;
	return cost_ns / max_share_per_mille * 1000;
}
