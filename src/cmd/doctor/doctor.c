/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "cmd/core/cmd.h"
#include "cmd/core/message.h"
#include "cmd/core/stream.h"
#include "cmd/core/terminal.h"
#include "cmd/doctor/conclusion.h"
#include "cmd/doctor/facts.h"
#include "cmd/doctor/heaps.h"
#include "cmd/session/next.h"
#include "cmd/session/session.h"
#include "render/table/conclusion.h"
#include "render/table/output.h"

#define NAME_WIDTH 20
#define ANSWER_WIDTH 8
#define TEXT_WIDTH 100

static const char *const answer_names[ANSWER_COUNT_] = {
	[ANSWER_UNKNOWN] = "unknown",
	[ANSWER_NO] = "no",
	[ANSWER_PARTLY] = "partly",
	[ANSWER_YES] = "yes",
};

struct examination {
	struct session *session;
	struct patient patient;
	struct table_options options;
	struct strbuf out;
	bool is_json;
	struct json json;
	bool lacks_needed;
	/* text about the checks, which follows the conclusion in the report */
	struct strbuf checks;
	struct doctor_answers answers;
	struct next next;
};

static size_t text_width(const struct examination *x)
{
	return x->options.max_width > 0 ? (size_t)x->options.max_width : TEXT_WIDTH;
}

static void add_text(struct examination *x, const struct check *check,
		     const struct finding *finding)
{
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;
	const size_t indent = NAME_WIDTH + ANSWER_WIDTH;

	strbuf_addf(&x->checks, "%-*s%-*s", NAME_WIDTH, check->name, ANSWER_WIDTH,
		    answer_names[finding->answer]);
	strbuf_addf(&line, "%s (", check->help);
	text_add_printable(&line, strbuf_text(&finding->fact), finding->fact.length,
			   x->options.ascii);
	strbuf_add_char(&line, ')');
	text_add_wrapped(&x->checks, line.text, indent, text_width(x));
	if (!finding->fix)
		return;
	strbuf_add_repeat(&x->checks, " ", indent);
	strbuf_clear(&line);
	strbuf_addf(&line, "%s %s", x->options.ascii ? "->" : "→", finding->fix);
	text_add_wrapped(&x->checks, line.text, indent, text_width(x));
}

static void add_json(struct json *j, const struct check *check,
		     const struct finding *finding)
{
	json_begin_object(j, NULL);
	json_add_string(j, "name", check->name);
	json_add_string(j, "answer", answer_names[finding->answer]);
	json_add_string(j, "about", check->help);
	json_add_string_part(j, "fact", strbuf_text(&finding->fact),
			     finding->fact.length);
	json_add_string(j, "fix", finding->fix);
	json_end_object(j);
}

static bool is_applicable(const struct patient *patient, const struct check *check)
{
	return check->place == CHECK_ANYWHERE ||
	       (check->place == CHECK_SAVED) == patient->is_saved;
}

static void run_checks(struct examination *x, const struct check_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct check *check = &list->checks[i];
		struct finding finding = { .answer = ANSWER_UNKNOWN };

		if (!is_applicable(&x->patient, check))
			continue;
		check->run(&x->patient, &finding);
		if (check->is_needed && finding.answer == ANSWER_NO)
			x->lacks_needed = true;
		doctor_answers_add(&x->answers, check, &finding);
		if (x->is_json)
			add_json(&x->json, check, &finding);
		else
			add_text(x, check, &finding);
		strbuf_release(&finding.fact);
	}
}

/*
 * Append the report on the machine or on a process, with the conclusion
 * before the checks.
 */
static void add_subject(struct examination *x)
{
	_cleanup_conclusion_ struct conclusion conclusion = CONCLUSION_INIT;
	const struct usage *u = x->patient.usage;

	doctor_conclude(&conclusion, &x->answers, x->patient.process, &x->next.place);
	conclusion_add_opening(&x->out, &conclusion, &x->options);
	strbuf_addf(&x->out, "\n%s", strbuf_text(&x->checks));
	next_offer(&x->next, &conclusion, u ? u->total.bytes[SMAPS_RSS] : 0);
	doctor_answers_release(&x->answers);
	x->answers = (struct doctor_answers){ 0 };
	strbuf_clear(&x->checks);
}

static void begin_json(struct examination *x)
{
	x->json = json_begin_report(&x->out, "doctor");
	if (x->patient.process) {
		json_add_signed(&x->json, "pid", x->patient.process->pid);
		json_add_string(&x->json, "comm", x->patient.process->comm);
	}
	json_begin_array(&x->json, "checks");
}

static void end_checks(struct examination *x)
{
	if (x->is_json)
		json_end_array(&x->json);
}

/* Append the row or JSON object of one heap. */
static void add_heap(struct examination *x, const struct heap *heap)
{
	_cleanup_strbuf_ struct strbuf help = STRBUF_INIT;
	struct finding finding = { .answer = ANSWER_UNKNOWN };
	struct json *j = &x->json;

	doctor_heap_describe(heap, &help, &finding);
	doctor_answers_add_heap(&x->answers, heap);
	if (x->is_json) {
		json_begin_object(j, NULL);
		json_add_string(j, "heap", allocator_names[heap->allocator]);
		json_add_string(j, "title", allocator_titles[heap->allocator]);
		json_add_string(j, "version", heap->version[0] ? heap->version : NULL);
		json_add_string(j, "evidence", heap->evidence);
		json_add_string(j, "quality", quality_names[heap->quality]);
		json_add_string(j, "problem", heap->problem);
		json_end_object(j);
	} else {
		const struct check check = { .name = allocator_names[heap->allocator],
					     .help = strbuf_text(&help) };

		add_text(x, &check, &finding);
	}
	strbuf_release(&finding.fact);
}

/* Append the heaps of a running process, or the reason why they were not found. */
static void add_heaps(struct examination *x, const struct doctor_heaps *heaps)
{
	const struct check none = { .name = "-", .help = "which heaps it has" };
	const char *problem = heaps->problem.length > 0 ? strbuf_text(&heaps->problem)
							: NULL;

	if (x->is_json)
		json_begin_array(&x->json, "heaps");
	else
		strbuf_add_text(&x->checks,
				"\nheaps, read without pausing the process\n");
	for (size_t i = 0; i < doctor_heaps_count(heaps); i++)
		add_heap(x, doctor_heaps_at(heaps, i));
	if (x->is_json) {
		json_end_array(&x->json);
		json_add_string(&x->json, "heaps_problem", problem);
	} else if (problem) {
		add_text(x, &none,
			 &(const struct finding){ .answer = ANSWER_UNKNOWN,
						  .fact = heaps->problem });
	}
}

static void examine_heaps(struct examination *x, struct usage *u,
			  struct mapping_list *mappings)
{
	struct doctor_heaps heaps;

	doctor_heaps_read(x->session, u, mappings, &heaps);
	add_heaps(x, &heaps);
	doctor_heaps_release(&heaps);
}

static bool has_heaps(const struct examination *x)
{
	return x->session->fs.is_live && x->patient.smaps_error == 0 &&
	       process_has_memory(x->patient.process);
}

static void end_subject(struct examination *x)
{
	if (x->is_json)
		json_end_report(&x->json);
	else
		add_subject(x);
}

static int examine_machine(struct examination *x)
{
	static const struct check_list *const lists[] = {
		&doctor_kernel_checks,
		&doctor_rights_checks,
		&doctor_around_checks,
	};

	if (x->patient.is_saved && patient_tally(&x->patient, PROC_STAT).count == 0) {
		message("%s: not a mounted proc file system or a capture (no "
			"process found)",
			x->session->options->procfs_root);
		return EXIT_FAILED;
	}
	if (x->is_json)
		begin_json(x);
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		if (!x->is_json)
			strbuf_addf(&x->checks, "%s%s\n", i > 0 ? "\n" : "",
				    lists[i]->title);
		run_checks(x, lists[i]);
	}
	end_checks(x);
	end_subject(x);
	return x->lacks_needed ? EXIT_PARTIAL : EXIT_DONE;
}

static void examine_process(struct examination *x, struct usage *u)
{
	struct mapping_list mappings = MAPPING_LIST_INIT;

	x->patient.smaps_error = sampler_read_mappings(x->session->sampler, u, &mappings);
	x->patient.process = &u->process;
	x->patient.usage = u;
	x->patient.mappings = &mappings;
	if (x->is_json)
		begin_json(x);
	else if (x->out.length > 0)
		strbuf_add_char(&x->out, '\n');
	if (!x->is_json) {
		text_add_printable(&x->out, u->process.comm, strlen(u->process.comm),
				   x->options.ascii);
		strbuf_addf(&x->out, " (%d)\n", u->process.pid);
	}
	run_checks(x, &doctor_process_checks);
	end_checks(x);
	if (has_heaps(x))
		examine_heaps(x, u, &mappings);
	end_subject(x);
	mapping_list_release(&mappings);
	/*
	 * clear the error, because the checks have already reported the unreadable files
	 */
	u->error = 0;
}

static int examine_processes(struct examination *x)
{
	struct session *session = x->session;
	struct snapshot snapshot;
	int status;

	snapshot_init(&snapshot);
	status = session_list(session, NEED_STAT | NEED_UID, &snapshot);
	for (size_t i = 0; status == EXIT_DONE && i < snapshot.count; i++)
		examine_process(x, &snapshot.usages[i]);
	if (status == EXIT_DONE)
		status = session_report_missing(session, &snapshot);
	snapshot_release(&snapshot);
	return status == EXIT_DONE && x->lacks_needed ? EXIT_PARTIAL : status;
}

static int examine(struct examination *x)
{
	int status;

	patient_init(&x->patient, &x->session->fs);
	status = targets_are_all(&x->session->options->targets) ? examine_machine(x)
								: examine_processes(x);
	if (status == EXIT_FAILED)
		return status;
	next_add(&x->next, &x->out);
	return stream_finish(&x->out, status);
}

static int doctor_run(struct options *o)
{
	struct session session;
	struct examination x = { .session = &session,
				 .is_json = o->format == FORMAT_JSON };
	int status;

	status = session_begin(&session, o);
	if (status != EXIT_DONE)
		return status;
	terminal_fit(&x.options);
	next_begin(&x.next, &session);
	status = examine(&x);
	next_end(&x.next);
	doctor_answers_release(&x.answers);
	strbuf_release(&x.checks);
	strbuf_release(&x.out);
	session_end(&session);
	return status;
}

const struct cmd cmd_doctor = {
	.name = "doctor",
	.args = "[-p PID|NAME] [OPTIONS]",
	.summary = "show what memstate can measure, and how to enable the rest",
	.shared = "pid json procfs",
	.run = doctor_run,
};
