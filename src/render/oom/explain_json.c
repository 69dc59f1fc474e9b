/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <inttypes.h>

#include "base/clock.h"
#include "base/units.h"
#include "classify/oom/exclusions.h"
#include "classify/oom/verdict.h"
#include "render/oom/explain.h"

/* Append a number, or null for a limit that is not set. */
static void add_number(struct json *j, const char *key, uint64_t number)
{
	json_add_amount(j, key, number == CGROUP_NO_LIMIT ? BYTES_UNKNOWN : number);
}

/* Append text as a JSON string, or null if the text is empty. */
static void add_text(struct json *j, const char *key, const char *text)
{
	json_add_string(j, key, text[0] != '\0' ? text : NULL);
}

static void add_time(struct json *j, const char *key, uint64_t unix_ms)
{
	char text[CLOCK_TEXT_SIZE];

	add_text(j, key, unix_ms == 0 ? "" : clock_format_utc(unix_ms, text));
}

static void add_task(struct json *j, const char *key, const struct oom_task *task)
{
	json_begin_object(j, key);
	json_add_signed(j, "pid", task->pid);
	add_text(j, "name", task->name);
	add_number(j, "uid", task->uid);
	add_number(j, "rss_bytes", task->rss_bytes);
	add_number(j, "anon_bytes", task->anon_bytes);
	add_number(j, "file_bytes", task->file_bytes);
	add_number(j, "shmem_bytes", task->shmem_bytes);
	add_number(j, "pagetables_bytes", task->pagetables_bytes);
	add_number(j, "swap_bytes", task->swap_bytes);
	json_end_object(j);
}

static void add_verdicts(struct json *j, const struct oom_evidence *e)
{
	enum oom_verdict first = oom_verdict_find(e);
	_cleanup_strbuf_ struct strbuf why = STRBUF_INIT, advice = STRBUF_INIT,
				       sure = STRBUF_INIT;
	enum oom_verdict also[OOM_VERDICT_COUNT_];
	size_t count;

	json_add_string(j, "end", oom_end_names[e->end]);
	json_add_string(j, "cause", oom_verdicts[first].name);
	json_begin_array(j, "also");
	count = oom_verdicts_find_also(e, first, also);
	for (size_t i = 0; i < count; i++)
		json_add_string(j, NULL, oom_verdicts[also[i]].name);
	json_end_array(j);
	strbuf_clear(&why);
	(void)oom_verdict_holds(first, e, &why);
	add_text(j, "why", strbuf_text(&why));
	oom_verdict_add_advice(first, e, &advice);
	add_text(j, "advice", strbuf_text(&advice));
	add_text(j, "confidence",
		 oom_confidence_names[oom_evidence_confidence(e, &sure)]);
}

static void add_victim(struct json *j, const struct oom_evidence *e)
{
	const struct oom_process *v = &e->victim;

	if (e->kill && e->kill->victim.pid != 0) {
		add_task(j, "victim", &e->kill->victim);
		return;
	}
	if (v->pid == 0) {
		json_add_null(j, "victim");
		return;
	}
	json_begin_object(j, "victim");
	json_add_signed(j, "pid", v->pid);
	add_text(j, "name", v->name);
	add_number(j, "rss_bytes", v->rss_bytes);
	add_number(j, "lazyfree_bytes", v->lazyfree_bytes);
	json_end_object(j);
}

/* Append the JSON members that identify a process. */
static void add_process_members(struct json *j, int pid, const char *name,
				const struct oom_place *place)
{
	if (pid != 0)
		json_add_signed(j, "pid", pid);
	else
		json_add_null(j, "pid");
	add_text(j, "name", name);
	add_text(j, "cgroup", place->group);
	add_text(j, "container", place->container);
	add_text(j, "container_id", place->id);
	add_text(j, "pod", place->pod);
	add_text(j, "namespace", place->namespace_);
}

static void add_grower(struct json *j, const struct oom_grower *g)
{
	if (g->to_bytes == 0) {
		json_add_null(j, "process");
		return;
	}
	json_begin_object(j, "process");
	add_process_members(j, g->pid, g->name, &g->place);
	json_add_bool(j, "is_new", g->is_new);
	json_add_bool(j, "is_restarted", g->is_restarted);
	json_add_bool(j, "is_shmem", g->is_shmem);
	add_text(j, "file", g->file);
	add_number(j, "grew_ns", g->ns);
	add_number(j, "from_bytes", g->from_bytes);
	add_number(j, "to_bytes", g->to_bytes);
	add_text(j, "mapping", g->mapping);
	json_end_object(j);
}

static void add_growth(struct json *j, const struct oom_evidence *e)
{
	uint64_t rise_ns;

	json_begin_object(j, "growth");
	json_add_string(j, "need", growth_kind_names[e->growth.kind]);
	json_add_signed(j, "rate_bytes_per_hour", e->growth.rate_bytes);
	add_number(j, "rise_bytes", oom_evidence_rise_bytes(e, &rise_ns));
	add_number(j, "rise_ns", rise_ns);
	add_grower(j, &e->grower);
	json_end_object(j);
}

/*
 * Append the JSON member "sample" with figures from a recording, or null without
 * a recording.
 */
static void add_sample(struct json *j, const struct oom_evidence *e)
{
	if (!e->has_sample) {
		json_add_null(j, "sample");
		return;
	}
	json_begin_object(j, "sample");
	json_add_number(j, "samples", e->sample_count);
	add_time(j, "time", e->last_unix_ms);
	add_number(j, "age_ns", e->age_ns);
	add_number(j, "need_bytes", e->last.need_bytes);
	add_number(j, "usage_bytes", e->last.usage_bytes);
	add_number(j, "lazyfree_bytes", e->last.lazyfree_bytes);
	add_number(j, "hidden_bytes", e->hidden_bytes);
	add_number(j, "working_set_bytes", e->last.working_set_bytes);
	add_number(j, "live_bytes", e->live_bytes);
	add_number(j, "stack_bytes", e->stack_bytes);
	add_number(j, "thread_count", e->thread_count);
	add_growth(j, e);
	json_end_object(j);
}

/*
 * Append the time of the kill in the format of the log, and other details that only a
 * log contains.
 */
static void add_log(struct json *j, const struct oom_kill *k)
{
	add_text(j, "log_time", k ? k->time.text : "");
	if (k && k->time.boot_us != COUNT_UNKNOWN)
		json_add_format(j, "boot_seconds", "%" PRIu64 ".%06" PRIu64,
				k->time.boot_us / 1000000, k->time.boot_us % 1000000);
	else
		json_add_null(j, "boot_seconds");
	add_text(j, "stats_cgroup", k ? k->stats_path : "");
	add_text(j, "invoker_cpuset", k ? k->cpuset : "");
	add_number(j, "order", k ? k->order : COUNT_UNKNOWN);
	json_add_bool(j, "is_sysrq", k && k->is_sysrq);
}

/*
 * Append the memory of the whole machine, or null if the kernel's report does not
 * contain it.
 */
static void add_machine(struct json *j, const struct oom_kill *k)
{
	const struct oom_machine *m = k && k->machine.is_known ? &k->machine : NULL;

	if (!m) {
		json_add_null(j, "machine");
		return;
	}
	json_begin_object(j, "machine");
	json_add_number(j, "zone_count", m->zone_count);
	add_number(j, "ram_bytes", m->ram_bytes);
	add_number(j, "free_bytes", m->free_bytes);
	add_number(j, "anon_lru_bytes", m->anon_bytes);
	add_number(j, "file_lru_bytes", m->file_bytes);
	add_number(j, "shmem_bytes", m->shmem_bytes);
	add_number(j, "slab_reclaimable_bytes", m->slab_reclaimable_bytes);
	add_number(j, "slab_unreclaimable_bytes", m->slab_unreclaimable_bytes);
	add_number(j, "pagetables_bytes", m->pagetables_bytes);
	add_number(j, "swap_total_bytes", m->swap_total_bytes);
	add_number(j, "swap_free_bytes", m->swap_free_bytes);
	json_begin_array(j, "zones");
	for (size_t i = 0; i < m->zone_count; i++) {
		json_begin_object(j, NULL);
		json_add_signed(j, "node", m->zones[i].node);
		add_text(j, "name", m->zones[i].name);
		add_number(j, "free_bytes", m->zones[i].free_bytes);
		add_number(j, "min_bytes", m->zones[i].min_bytes);
		json_end_object(j);
	}
	json_end_array(j);
	json_end_object(j);
}

static void add_invoker(struct json *j, const struct oom_evidence *e)
{
	if (e->invoker.name[0] == '\0') {
		json_add_null(j, "hit_by");
		return;
	}
	json_begin_object(j, "hit_by");
	add_process_members(j, e->invoker.pid, e->invoker.name, &e->invoker_place);
	json_end_object(j);
}

void oom_explain_add_json(struct strbuf *out, const struct oom_evidence *e,
			  const char *summary)
{
	const struct oom_figures *f = &e->at;
	struct json j = json_begin_report(out, "oom-explain");

	add_verdicts(&j, e);
	add_time(&j, "time", e->unix_ms);
	add_log(&j, e->kill);
	add_text(&j, "limit_cgroup", e->limit_path);
	add_text(&j, "victim_cgroup", e->victim_path);
	add_text(&j, "invoker", e->kill ? e->kill->invoker : "");
	add_invoker(&j, e);
	add_number(&j, "limit_bytes", f->limit_bytes);
	add_number(&j, "usage_bytes", f->usage_bytes);
	add_number(&j, "anon_bytes", f->live_anon_bytes);
	add_number(&j, "shmem_bytes", f->shmem_bytes);
	add_number(&j, "kernel_bytes", f->kernel_bytes);
	add_number(&j, "file_bytes", f->file_bytes);
	json_add_number(&j, "killed_count",
			e->kill ? e->kill->killed_count : e->end == OOM_END_KILLED);
	json_add_bool(&j, "is_group_killed", e->kill && e->kill->is_group_killed);
	json_add_bool(&j, "has_report", e->kill != NULL);
	json_add_bool(&j, "is_cut", e->kill && e->kill->is_cut);
	json_add_bool(&j, "is_stat_stale", e->kill && e->kill->is_stat_stale);
	add_machine(&j, e->kill);
	add_victim(&j, e);
	add_sample(&j, e);
	json_add_raw(&j, "summary", summary ? summary : "null");
	json_begin_array(&j, "tasks");
	for (size_t i = 0; e->kill && i < e->kill->task_count; i++)
		add_task(&j, NULL, &e->kill->tasks[i]);
	json_end_array(&j);
	json_end_report(&j);
}
