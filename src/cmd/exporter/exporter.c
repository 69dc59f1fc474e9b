/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "cmd/core/cmd.h"
#include "cmd/core/message.h"
#include "cmd/core/signals.h"
#include "cmd/core/stream.h"
#include "cmd/exporter/exporter_private.h"
#include "cmd/exporter/self.h"
#include "cmd/session/recordings.h"

/*
 * Time in ns between two collections of figures, unless -i or the CPU budget
 * requires another.
 */
#define INTERVAL_NS (10 * NS_PER_S)

#define NICE 10

#define RECORD_KEEP_NS (3600 * NS_PER_S)

static int check_usage(const struct exporter_options *o)
{
	bool is_served = !o->is_once && !o->textfile;
	const char *problem = NULL;

	if (o->is_once && o->textfile)
		problem = "--once and --textfile are mutually exclusive";
	else if (!is_served &&
		 (o->address_count > 0 || o->has_systemd_socket || o->web_file))
		problem = "--once and --textfile serve nothing; leave out the options "
			  "that begin with --web";
	else if (o->telemetry_path[0] != '/')
		problem = "--web.telemetry-path must begin with a slash";
	else if (o->has_heaps && !o->heap_pattern)
		problem = "--heap walk pauses processes; select them with --heap-match";
	if (!problem)
		return EXIT_DONE;
	message_usage(o->common.verb, "%s", problem);
	return EXIT_BAD_USAGE;
}

/* Compile a pattern. Return EXIT_DONE, or EXIT_BAD_USAGE after printing a message. */
static int compile(struct exporter *x, const char *option, const char *pattern)
{
	regex_t *compiled = &x->patterns[x->compiled_count];
	int r = regcomp(compiled, pattern, REG_EXTENDED | REG_NOSUB);
	char problem[128];

	if (r == 0) {
		x->compiled_count++;
		return EXIT_DONE;
	}
	regerror(r, compiled, problem, sizeof(problem));
	message_usage(x->options->common.verb, "%s %s: %s", option, pattern, problem);
	return EXIT_BAD_USAGE;
}

static int compile_patterns(struct exporter *x)
{
	const struct exporter_options *o = x->options;
	int status = EXIT_DONE;

	for (size_t i = 0; i < o->pattern_count && status == EXIT_DONE; i++)
		status = compile(x, "--match", o->patterns[i]);
	if (status == EXIT_DONE && o->heap_pattern)
		status = compile(x, "--heap-match", o->heap_pattern);
	return status;
}

static int list_metrics(void)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	metric_families_add_list(&out);
	return stream_write_file(&out) < 0 ? EXIT_FAILED : EXIT_DONE;
}

/* Open the recording, which keeps one hour of samples unless --keep changes this. */
static int begin_recording(struct exporter *x)
{
	struct options *o = &x->options->common;

	if (!o->recording.record)
		return EXIT_DONE;
	if (o->recording.keep.ns == 0 && o->recording.keep.bytes == 0)
		o->recording.keep.ns = RECORD_KEEP_NS;
	return recordings_begin(o, x->session.sampler, &x->recorder);
}

/*
 * Return the maximum CPU time for reading mappings, which is also the maximum for
 * refreshing outdated figures: a quarter of --max-cpu, or 0 for no limit. With --once,
 * there is no limit, because no later collection would complete the figures.
 */
static uint64_t turns_cpu_share(const struct exporter_options *o)
{
	if (o->is_once || o->max_cpu == 0)
		return 0;
	return o->max_cpu >= 4 ? o->max_cpu / 4 : 1;
}

static void begin(struct exporter *x)
{
	const struct exporter_options *o = x->options;
	const struct collector_setup setup = {
		.fs = &x->session.fs,
		.sampler = x->session.sampler,
		.grouping = o->grouping,
		.patterns = x->patterns,
		.pattern_count = o->pattern_count,
		.has_owners = o->has_owners,
		.turns_cpu_share = turns_cpu_share(o),
		.max_share_per_mille = o->common.max_share_per_mille,
		.heap_pattern = o->has_heaps ? &x->patterns[o->pattern_count] : NULL,
		.max_pause_ns = o->common.max_pause_ns,
		.recorder = x->recorder,
		.reads_log = !o->is_once && x->session.fs.is_live,
	};

	x->collector = collector_new(&setup);
	x->limits = (struct metric_limits){ (size_t)o->series_max, (size_t)o->top };
	x->start_unix_ms = clock_unix_ms();
}

/* Report an error with the recording, such as a full disk, when it first occurs. */
static void report_record_error(struct exporter *x)
{
	int error = x->recorder ? recorder_error(x->recorder) : 0;

	if (error < 0 && error != x->record_error)
		message_error(x->options->common.recording.record, error);
	x->record_error = error;
}

int exporter_take_look(struct exporter *x, uint64_t limit_ns)
{
	struct exporter_look *look = collector_look(x->collector);
	struct metric_limits most = { x->limits.series_max, 2 * x->limits.top };
	size_t top = metrics_groups_max(&x->limits, look);
	int r = collector_take(x->collector, limit_ns, top,
			       metrics_groups_max(&most, look));

	report_record_error(x);
	look->self.start_unix_ms = x->start_unix_ms;
	look->self.has_web_file = x->options->web_file != NULL;
	look->self.is_web_ok = x->web_problem.length == 0 && !x->is_web_refused;
	look->self.web_failure_count = x->web_failure_count;
	self_read(&look->self, x->web.pid);
	return r;
}

void exporter_describe(struct exporter *x, enum exposition_format format)
{
	strbuf_clear(&x->texts[format]);
	metrics_add(&x->texts[format], format, collector_look(x->collector), &x->limits);
}

void exporter_report_unreadable(struct exporter *x)
{
	const struct group_sums sums =
		named_groups_total(&collector_look(x->collector)->groups);

	if (sums.unreadable_count > 0)
		message("%zu of %zu processes could not be read%s", sums.unreadable_count,
			sums.process_count + sums.unreadable_count,
			geteuid() == 0 ? ": 'memstate doctor' explains why"
				       : ": only root may read them all");
}

static int run_once(struct exporter *x)
{
	int r = exporter_take_look(x, UINT64_MAX);

	if (r < 0) {
		message_error(x->options->common.procfs_root, r);
		return EXIT_FAILED;
	}
	exporter_describe(x, EXPOSITION_TEXT);
	exporter_report_unreadable(x);
	return stream_write_file(&x->texts[EXPOSITION_TEXT]) < 0 ? EXIT_FAILED
								 : EXIT_DONE;
}

uint64_t exporter_next_due_ns(const struct exporter *x, uint64_t begin_ns,
			      uint64_t cpu_ns)
{
	const struct options *o = &x->options->common;
	uint64_t interval_ns = o->has_interval ? o->interval_ns : INTERVAL_NS;
	/* thousandths of a percent are parts per 100000 */
	uint64_t least_ns =
		x->options->max_cpu > 0 ? cpu_ns * 100000 / x->options->max_cpu : 0;

	return begin_ns + (interval_ns > least_ns ? interval_ns : least_ns);
}

/*
 * Write the figures to the text file. Do not report the same error again until a
 * write has succeeded.
 */
static void write_textfile(struct exporter *x)
{
	const struct strbuf *text = &x->texts[EXPOSITION_TEXT];
	int r = io_write_file_atomic(x->options->textfile, text->text, text->length,
				     0644);

	if (r < 0 && r != x->reported_error)
		message_error(x->options->textfile, r);
	x->reported_error = r;
}

static int run_textfile(struct exporter *x)
{
	const struct options *o = &x->options->common;
	struct stat st;

	/*
	 * reject a FIFO, because memstate would wait for a reader, and signals would
	 * not end the wait
	 */
	if (stat(x->options->textfile, &st) == 0 && S_ISFIFO(st.st_mode)) {
		message("%s: is a FIFO; --textfile requires a regular file",
			x->options->textfile);
		return EXIT_FAILED;
	}
	for (uint64_t n = 1; signals_stop_count() == 0; n++) {
		uint64_t begin_ns = clock_now_ns(), cpu_ns = clock_thread_cpu_ns();
		int r;

		collector_read_log(x->collector);
		r = exporter_take_look(x, LOOK_LIMIT_NS);
		if (r < 0 && n == 1) {
			message_error(o->procfs_root, r);
			return EXIT_FAILED;
		}
		exporter_describe(x, EXPOSITION_TEXT);
		if (n == 1)
			exporter_report_unreadable(x);
		write_textfile(x);
		if (n == o->sample_count)
			break;
		cpu_ns = clock_thread_cpu_ns() - cpu_ns;
		signals_wait_until(exporter_next_due_ns(x, begin_ns, cpu_ns));
	}
	return x->reported_error < 0 ? EXIT_FAILED : EXIT_DONE;
}

static int run(struct exporter *x)
{
	int status = begin_recording(x);

	if (status != EXIT_DONE)
		return status;
	begin(x);
	if (x->options->is_once)
		return run_once(x);
	(void)setpriority(PRIO_PROCESS, 0, NICE);
	return x->options->textfile ? run_textfile(x) : exporter_serve(x);
}

static int run_processes(struct exporter *x)
{
	struct options *o = &x->options->common;
	bool is_served = !x->options->is_once && !x->options->textfile;
	int status;

	if (!x->options->is_once)
		signals_begin();
	/* start the serving process first, before this process has read any data */
	status = is_served ? exporter_begin_serving(x) : EXIT_DONE;
	if (status == EXIT_DONE)
		status = session_begin(&x->session, o);
	if (status == EXIT_DONE) {
		status = run(x);
		collector_free(x->collector);
		recorder_close(x->recorder);
		session_end(&x->session);
	}
	exporter_end_serving(x);
	return status;
}

static int exporter_run(struct options *o)
{
	struct exporter x = { .options = exporter_options(o) };
	int status = check_usage(x.options);

	if (status == EXIT_DONE && x.options->lists_metrics)
		return list_metrics();
	if (status == EXIT_DONE)
		status = compile_patterns(&x);
	if (status == EXIT_DONE)
		status = run_processes(&x);
	for (int i = 0; i < EXPOSITION_FORMAT_COUNT_; i++)
		strbuf_release(&x.texts[i]);
	for (size_t i = 0; i < x.compiled_count; i++)
		regfree(&x.patterns[i]);
	return status;
}

/*
 * The command 'memstate exporter'. Its exit status is EXIT_FAILED if the process that
 * serves the metrics ends.
 */
const struct cmd cmd_exporter = {
	.name = "exporter",
	.args = "[--once|--textfile FILE] [OPTIONS]",
	.summary = "serve the memory of all processes and cgroups to Prometheus",
	.shared = "interval samples max-share max-pause procfs record keep",
	.own = exporter_option_rows,
	.options_size = sizeof(struct exporter_options),
	.defaults = &exporter_option_defaults,
	.run = exporter_run,
};
