/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <string.h>

#include "base/clock.h"
#include "base/units.h"
#include "classify/oom/exclusions.h"
#include "classify/oom/verdict.h"
#include "render/oom/explain.h"

/* Append a number. A missing limit is null. */
static void add_number(struct strbuf *out, const char *key, uint64_t number)
{
	json_add_number(out, key, number == CGROUP_NO_LIMIT ? BYTES_UNKNOWN : number);
}

static void add_text(struct strbuf *out, const char *key, const char *text)
{
	strbuf_addf(out, ",\"%s\":", key);
	if (text[0] != '\0')
		json_add_string(out, text, strlen(text));
	else
		strbuf_add_text(out, "null");
}

static void add_time(struct strbuf *out, const char *key, uint64_t unix_ms)
{
	char text[CLOCK_TEXT_SIZE];

	add_text(out, key, unix_ms == 0 ? "" : clock_format_utc(unix_ms, text));
}

static void add_flag(struct strbuf *out, const char *key, bool is_set)
{
	strbuf_addf(out, ",\"%s\":%s", key, is_set ? "true" : "false");
}

static void add_task(struct strbuf *out, const struct oom_task *task)
{
	strbuf_addf(out, "{\"pid\":%d", task->pid);
	add_text(out, "name", task->name);
	add_number(out, "uid", task->uid);
	add_number(out, "rss_bytes", task->rss_bytes);
	add_number(out, "anon_bytes", task->anon_bytes);
	add_number(out, "file_bytes", task->file_bytes);
	add_number(out, "shmem_bytes", task->shmem_bytes);
	add_number(out, "pagetables_bytes", task->pagetables_bytes);
	add_number(out, "swap_bytes", task->swap_bytes);
	strbuf_add_char(out, '}');
}

static void add_verdicts(struct strbuf *out, const struct oom_evidence *e)
{
	enum oom_verdict first = oom_verdict_find(e);
	_cleanup_strbuf_ struct strbuf why = STRBUF_INIT, advice = STRBUF_INIT,
				       sure = STRBUF_INIT;
	enum oom_verdict also[OOM_VERDICT_COUNT_];
	size_t count;

	strbuf_addf(out, ",\"end\":\"%s\",\"cause\":\"%s\",\"also\":[",
		    oom_end_names[e->end], oom_verdicts[first].name);
	count = oom_verdicts_find_also(e, first, also);
	for (size_t i = 0; i < count; i++)
		strbuf_addf(out, "%s\"%s\"", i > 0 ? "," : "",
			    oom_verdicts[also[i]].name);
	strbuf_add_char(out, ']');
	strbuf_clear(&why);
	(void)oom_verdict_holds(first, e, &why);
	add_text(out, "why", strbuf_text(&why));
	oom_verdict_add_advice(first, e, &advice);
	add_text(out, "advice", strbuf_text(&advice));
	add_text(out, "confidence",
		 oom_confidence_names[oom_evidence_confidence(e, &sure)]);
}

static void add_victim(struct strbuf *out, const struct oom_evidence *e)
{
	const struct oom_process *v = &e->victim;

	strbuf_add_text(out, ",\"victim\":");
	if (e->kill && e->kill->victim.pid != 0) {
		add_task(out, &e->kill->victim);
		return;
	}
	if (v->pid == 0) {
		strbuf_add_text(out, "null");
		return;
	}
	strbuf_addf(out, "{\"pid\":%d", v->pid);
	add_text(out, "name", v->name);
	add_number(out, "rss_bytes", v->rss_bytes);
	add_number(out, "lazyfree_bytes", v->lazyfree_bytes);
	strbuf_add_char(out, '}');
}

/*
 * Append {"pid":1,"name":…,"cgroup":… without the closing brace; the caller
 * completes the object.
 */
static void add_process_head(struct strbuf *out, int pid, const char *name,
			     const struct oom_place *place)
{
	if (pid != 0)
		strbuf_addf(out, "{\"pid\":%d", pid);
	else
		strbuf_add_text(out, "{\"pid\":null");
	add_text(out, "name", name);
	add_text(out, "cgroup", place->group);
	add_text(out, "container", place->container);
	add_text(out, "container_id", place->id);
	add_text(out, "pod", place->pod);
	add_text(out, "namespace", place->namespace_);
}

static void add_growth(struct strbuf *out, const struct oom_evidence *e)
{
	const struct oom_grower *g = &e->grower;
	uint64_t rise_ns;

	strbuf_addf(out, ",\"growth\":{\"need\":\"%s\",\"rate_bytes_per_hour\":%lld",
		    growth_kind_names[e->growth.kind], (long long)e->growth.rate_bytes);
	add_number(out, "rise_bytes", oom_evidence_rise_bytes(e, &rise_ns));
	add_number(out, "rise_ns", rise_ns);
	strbuf_add_text(out, ",\"process\":");
	if (g->to_bytes == 0) {
		strbuf_add_text(out, "null}");
		return;
	}
	add_process_head(out, g->pid, g->name, &g->place);
	add_flag(out, "is_new", g->is_new);
	add_flag(out, "is_restarted", g->is_restarted);
	add_flag(out, "is_shmem", g->is_shmem);
	add_text(out, "file", g->file);
	add_number(out, "grew_ns", g->ns);
	add_number(out, "from_bytes", g->from_bytes);
	add_number(out, "to_bytes", g->to_bytes);
	add_text(out, "mapping", g->mapping);
	strbuf_add_text(out, "}}");
}

/* Append figures that only a recording has; null without a recording. */
static void add_sample(struct strbuf *out, const struct oom_evidence *e)
{
	strbuf_add_text(out, ",\"sample\":");
	if (!e->has_sample) {
		strbuf_add_text(out, "null");
		return;
	}
	strbuf_addf(out, "{\"samples\":%zu", e->sample_count);
	add_time(out, "time", e->last_unix_ms);
	add_number(out, "age_ns", e->age_ns);
	add_number(out, "need_bytes", e->last.need_bytes);
	add_number(out, "usage_bytes", e->last.usage_bytes);
	add_number(out, "lazyfree_bytes", e->last.lazyfree_bytes);
	add_number(out, "hidden_bytes", e->hidden_bytes);
	add_number(out, "working_set_bytes", e->last.working_set_bytes);
	add_number(out, "live_bytes", e->live_bytes);
	add_number(out, "stack_bytes", e->stack_bytes);
	add_number(out, "thread_count", e->thread_count);
	add_growth(out, e);
	strbuf_add_char(out, '}');
}

/* Append the times and other details found only in a log. */
static void add_log(struct strbuf *out, const struct oom_kill *k)
{
	add_text(out, "log_time", k ? k->time.text : "");
	strbuf_add_text(out, ",\"boot_seconds\":");
	if (k && k->time.boot_us != COUNT_UNKNOWN)
		strbuf_addf(out, "%llu.%06llu",
			    (unsigned long long)(k->time.boot_us / 1000000),
			    (unsigned long long)(k->time.boot_us % 1000000));
	else
		strbuf_add_text(out, "null");
	add_text(out, "stats_cgroup", k ? k->stats_path : "");
	add_text(out, "invoker_cpuset", k ? k->cpuset : "");
	add_number(out, "order", k ? k->order : COUNT_UNKNOWN);
	add_flag(out, "is_sysrq", k && k->is_sysrq);
}

/*
 * Append the memory of the whole machine; null if the kernel's report does not list it.
 */
static void add_machine(struct strbuf *out, const struct oom_kill *k)
{
	const struct oom_machine *m = k && k->machine.is_known ? &k->machine : NULL;

	strbuf_add_text(out, ",\"machine\":");
	if (!m) {
		strbuf_add_text(out, "null");
		return;
	}
	strbuf_addf(out, "{\"zone_count\":%zu", m->zone_count);
	add_number(out, "ram_bytes", m->ram_bytes);
	add_number(out, "free_bytes", m->free_bytes);
	add_number(out, "anon_lru_bytes", m->anon_bytes);
	add_number(out, "file_lru_bytes", m->file_bytes);
	add_number(out, "shmem_bytes", m->shmem_bytes);
	add_number(out, "slab_reclaimable_bytes", m->slab_reclaimable_bytes);
	add_number(out, "slab_unreclaimable_bytes", m->slab_unreclaimable_bytes);
	add_number(out, "pagetables_bytes", m->pagetables_bytes);
	add_number(out, "swap_total_bytes", m->swap_total_bytes);
	add_number(out, "swap_free_bytes", m->swap_free_bytes);
	strbuf_add_text(out, ",\"zones\":[");
	for (size_t i = 0; i < m->zone_count; i++) {
		strbuf_addf(out, "%s{\"node\":%d", i > 0 ? "," : "", m->zones[i].node);
		add_text(out, "name", m->zones[i].name);
		add_number(out, "free_bytes", m->zones[i].free_bytes);
		add_number(out, "min_bytes", m->zones[i].min_bytes);
		strbuf_add_char(out, '}');
	}
	strbuf_add_text(out, "]}");
}

void oom_explain_add_json(struct strbuf *out, const struct oom_evidence *e,
			  const char *summary)
{
	const struct oom_figures *f = &e->at;

	strbuf_addf(out, "{\"memstate\":{\"version\":\"%s\",\"schema\":1}",
		    PACKAGE_VERSION);
	add_verdicts(out, e);
	add_time(out, "time", e->unix_ms);
	add_log(out, e->kill);
	add_text(out, "limit_cgroup", e->limit_path);
	add_text(out, "victim_cgroup", e->victim_path);
	add_text(out, "invoker", e->kill ? e->kill->invoker : "");
	strbuf_add_text(out, ",\"hit_by\":");
	if (e->invoker.name[0] != '\0') {
		add_process_head(out, e->invoker.pid, e->invoker.name, &e->invoker_place);
		strbuf_add_char(out, '}');
	} else {
		strbuf_add_text(out, "null");
	}
	add_number(out, "limit_bytes", f->limit_bytes);
	add_number(out, "usage_bytes", f->usage_bytes);
	add_number(out, "anon_bytes", f->live_anon_bytes);
	add_number(out, "shmem_bytes", f->shmem_bytes);
	add_number(out, "kernel_bytes", f->kernel_bytes);
	add_number(out, "file_bytes", f->file_bytes);
	strbuf_addf(out, ",\"killed_count\":%zu",
		    e->kill ? e->kill->killed_count : (size_t)(e->end == OOM_END_KILLED));
	add_flag(out, "is_group_killed", e->kill && e->kill->is_group_killed);
	add_flag(out, "has_report", e->kill != NULL);
	add_flag(out, "is_cut", e->kill && e->kill->is_cut);
	add_machine(out, e->kill);
	add_victim(out, e);
	add_sample(out, e);
	strbuf_addf(out, ",\"summary\":%s", summary ? summary : "null");
	strbuf_add_text(out, ",\"tasks\":[");
	for (size_t i = 0; e->kill && i < e->kill->task_count; i++) {
		if (i > 0)
			strbuf_add_char(out, ',');
		add_task(out, &e->kill->tasks[i]);
	}
	strbuf_add_text(out, "]}\n");
}
