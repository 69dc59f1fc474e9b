/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/compare/run.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "cmd/compare/compare.h"
#include "cmd/compare/peak.h"
#include "cmd/core/message.h"
#include "cmd/core/signals.h"
#include "cmd/run/job.h"
#include "cmd/run/run_files.h"
#include "proc/process/cost.h"
#include "proc/process/list.h"
#include "tracee/ptrace/release_calls.h"

/*
 * Sampling interval without -i, as a fraction (1/INTERVAL_PART) of the run's duration
 * so far.
 */
#define INTERVAL_PART 100
#define INTERVAL_MIN_NS (10 * NS_PER_MS)
#define INTERVAL_MAX_NS NS_PER_S

/*
 * A server is idle if all its processes together use at most IDLE_CPU_NS (one clock tick)
 * of CPU time in IDLE_NS.
 */
#define IDLE_NS (200 * NS_PER_MS)
#define IDLE_CPU_NS (10 * NS_PER_MS)
#define READY_MAX_NS (60 * NS_PER_S)

/*
 * Maximum times in ns to wait for processes to end: normally, after the user has
 * interrupted memstate, and after SIGKILL.
 */
#define GRACE_NS (10 * NS_PER_S)
#define GRACE_STOPPED_NS (2 * NS_PER_S)
#define GRACE_KILLED_NS (5 * NS_PER_S)

/* Age in ns at which a process is assumed to have loaded its libraries. */
#define LOADED_NS (100 * NS_PER_MS)

/* State of the run in progress. */
struct active {
	const struct compare_context *context;
	const struct compare_options *options;
	struct run run;
	struct job job;
	struct child workload;
	struct release_calls release_calls;
	uint64_t start_ns, next_ns;
	bool has_ended; /* true if the command ended before memstate stopped it */
};

/* The reason why a wait ended. */
enum wait_end {
	WAIT_TIME_IS_OVER,
	WAIT_COMMAND_HAS_ENDED,
	WAIT_WORKLOAD_HAS_ENDED,
	WAIT_IS_INTERRUPTED,
};

static uint64_t interval_ns(const struct active *a)
{
	const struct options *o = a->context->options;
	uint64_t elapsed_ns = clock_now_ns() - a->start_ns;
	uint64_t part_ns = elapsed_ns / INTERVAL_PART;
	uint64_t min_ns =
		run_sampler_read_ns(a->context->sampler) / o->max_share_per_mille * 1000;

	if (o->has_interval)
		part_ns = o->interval_ns;
	else if (part_ns < INTERVAL_MIN_NS)
		part_ns = INTERVAL_MIN_NS;
	else if (part_ns > INTERVAL_MAX_NS)
		part_ns = INTERVAL_MAX_NS;
	/* a single slow read on a busy machine must not delay later samples for long */
	if (min_ns > elapsed_ns)
		min_ns = elapsed_ns;
	return part_ns > min_ns ? part_ns : min_ns;
}

/* Take a sample of the run. Return its index, or SIZE_MAX if no process could be read. */
static size_t take_sample(struct active *a, bool is_fresh)
{
	struct run *run = &a->run;
	struct run_sample sample;
	uint64_t now = clock_now_ns();
	int count = run_sampler_take(a->context->sampler, is_fresh, &sample);

	if (run_sampler_must_discard(a->context->sampler))
		run->sample_count = 0;
	if (count > 0) {
		sample.elapsed_ns = now - a->start_ns;
		run->samples = xgrow(run->samples, &run->sample_capacity,
				     run->sample_count + 1, sizeof(*run->samples));
		run->samples[run->sample_count++] = sample;
		a->next_ns = clock_now_ns() + interval_ns(a);
		return run->sample_count - 1;
	}
	a->next_ns = clock_now_ns() + interval_ns(a);
	return SIZE_MAX;
}

static bool has_command_ended(struct active *a)
{
	/*
	 * with a workload, the command may be a server that ends after it has started its
	 * daemon processes
	 */
	return a->job.child.has_ended &&
	       (!a->options->workload || !job_is_running(&a->job));
}

static enum wait_end sample_until(struct active *a, uint64_t until_ns)
{
	for (;;) {
		uint64_t now = clock_now_ns();

		if (signals_stop_count() > 0)
			return WAIT_IS_INTERRUPTED;
		if (has_command_ended(a))
			return WAIT_COMMAND_HAS_ENDED;
		if (a->workload.has_ended && a->run.moments[MOMENT_END] == SIZE_MAX)
			return WAIT_WORKLOAD_HAS_ENDED;
		if (now >= until_ns)
			return WAIT_TIME_IS_OVER;
		if (now >= a->next_ns)
			(void)take_sample(a, false);
		signals_wait_until(a->next_ns < until_ns ? a->next_ns : until_ns);
		job_poll(&a->job, a->workload.pid > 0 ? &a->workload : NULL);
	}
}

/* Read the costs so far, such as CPU time, of all processes, even of ended ones. */
static void read_cost(struct active *a, struct process_cost *ret)
{
	run_sampler_read_cost(a->context->sampler, ret);
	ret->user_ns += a->job.cost.user_ns;
	ret->system_ns += a->job.cost.system_ns;
	ret->minor_fault_count += a->job.cost.minor_fault_count;
	ret->major_fault_count += a->job.cost.major_fault_count;
}

static enum wait_end wait_until_ready(struct active *a)
{
	uint64_t limit_ns = a->start_ns + READY_MAX_NS;
	struct process_cost before, after;
	enum wait_end end;

	if (a->options->has_ready)
		return sample_until(a, a->start_ns + a->options->ready_ns);
	do {
		read_cost(a, &before);
		end = sample_until(a, clock_now_ns() + IDLE_NS);
		read_cost(a, &after);
		if (end != WAIT_TIME_IS_OVER ||
		    after.user_ns + after.system_ns <=
			    before.user_ns + before.system_ns + IDLE_CPU_NS)
			return end;
	} while (clock_now_ns() < limit_ns);
	message("%s: still busy after a minute; starting the workload anyway (--ready "
		"sets the delay)",
		a->context->options->command[0]);
	return WAIT_TIME_IS_OVER;
}

/* Return the current time minus the total time for which heap walks paused the run. */
static uint64_t unpaused_ns(const struct active *a)
{
	return clock_now_ns() - run_sampler_paused_ns(a->context->sampler);
}

static void set_figures(struct run *run, uint64_t wall_ns,
			const struct process_cost *before,
			const struct process_cost *after)
{
	run->wall_ns = wall_ns;
	run->user_ns = bytes_sub(after->user_ns, before->user_ns);
	run->system_ns = bytes_sub(after->system_ns, before->system_ns);
	run->minor_faults =
		bytes_sub(after->minor_fault_count, before->minor_fault_count);
	run->major_faults =
		bytes_sub(after->major_fault_count, before->major_fault_count);
}

static int start_workload(struct active *a)
{
	const struct comparison *comparison = a->context->comparison;
	char *argv[] = { (char[]){ "sh" }, (char[]){ "-c" },
			 xstrdup(a->options->workload), NULL };
	_cleanup_run_files_ struct run_files files = RUN_FILES_INIT;
	struct child_setup setup = { .has_own_group = true };
	int r;

	r = run_files_open(a->options->output_dir, &comparison->variants[a->run.variant],
			   &a->run, true, &files);
	if (r == 0) {
		setup.input_fd = files.input_fd;
		setup.output_fd = files.output_fd;
		setup.error_fd = files.error_fd;
		r = child_start(&a->workload, argv, &setup);
		if (r < 0)
			message_error("sh", r);
	}
	if (r == 0)
		run_sampler_leave_out(a->context->sampler, a->workload.pid);
	free(argv[2]);
	return r;
}

/*
 * Wait until the command is ready, and run the workload. Return 0, or print a message
 * and return -errno.
 */
static int run_workload(struct active *a)
{
	struct process_cost before, after;
	enum wait_end end = wait_until_ready(a);
	uint64_t begin_ns = unpaused_ns(a);
	int r;

	a->has_ended = end == WAIT_COMMAND_HAS_ENDED;
	if (end != WAIT_TIME_IS_OVER)
		return 0;
	read_cost(a, &before);
	r = start_workload(a);
	if (r < 0)
		return r;
	end = sample_until(a, UINT64_MAX);
	a->has_ended = end == WAIT_COMMAND_HAS_ENDED;
	if (end != WAIT_WORKLOAD_HAS_ENDED)
		return 0;
	a->run.workload_wait_status = a->workload.wait_status;
	read_cost(a, &after);
	set_figures(&a->run, unpaused_ns(a) - begin_ns, &before, &after);
	a->run.moments[MOMENT_END] = take_sample(a, true);
	end = sample_until(a, clock_now_ns() + a->options->settle_ns);
	a->has_ended = end == WAIT_COMMAND_HAS_ENDED;
	if (end == WAIT_TIME_IS_OVER)
		a->run.moments[MOMENT_SETTLED] = take_sample(a, true);
	return 0;
}

static void run_to_end(struct active *a)
{
	const struct process_cost none = { 0 };
	uint64_t end_ns;

	a->has_ended = sample_until(a, UINT64_MAX) == WAIT_COMMAND_HAS_ENDED;
	end_ns = job_end_ns(&a->job) - run_sampler_paused_ns(a->context->sampler);
	set_figures(&a->run, end_ns - a->start_ns, &none, &a->job.cost);
	if (a->has_ended && a->run.sample_count > 0)
		a->run.moments[MOMENT_END] = a->run.sample_count - 1;
}

/*
 * Wait until all processes of the run have ended. Return false on timeout, or if another
 * signal asks memstate to stop.
 */
static bool wait_for_end(struct active *a, uint64_t grace_ns)
{
	uint64_t until_ns = clock_now_ns() + grace_ns;
	int stops = signals_stop_count();

	for (;;) {
		job_poll(&a->job, a->workload.pid > 0 ? &a->workload : NULL);
		if (a->job.child.has_ended && !job_is_running(&a->job))
			return true;
		if (clock_now_ns() >= until_ns || signals_stop_count() > stops)
			return false;
		/* poll, because memstate receives SIGCHLD only for its own children */
		signals_wait_until(clock_now_ns() + INTERVAL_MIN_NS);
	}
}

/* End all remaining processes of the run. */
static void end_all(struct active *a)
{
	const struct options *o = a->context->options;
	bool is_interrupted = signals_stop_count() > 0;
	bool was_done = a->options->workload && a->run.moments[MOMENT_END] != SIZE_MAX;

	/* include the processes of the workload, which may still be running */
	run_sampler_leave_out(a->context->sampler, 0);
	if (!a->job.child.has_ended || job_is_running(&a->job)) {
		if (!a->options->workload && !is_interrupted)
			message("%s: terminating its remaining processes", o->command[0]);
		job_signal_all(&a->job, was_done ? a->options->stop_signal : SIGTERM);
	}
	if (wait_for_end(a, is_interrupted ? GRACE_STOPPED_NS : GRACE_NS))
		return;
	if (!is_interrupted)
		message("%s: still running after the stop signal; killing it",
			o->command[0]);
	job_signal_all(&a->job, SIGKILL);
	(void)wait_for_end(a, GRACE_KILLED_NS);
}

/* Return true if a signal other than the stop signal or SIGKILL ended the command. */
static bool has_crashed(const struct active *a)
{
	int status = a->job.child.wait_status;

	return WIFSIGNALED(status) && WTERMSIG(status) != a->options->stop_signal &&
	       WTERMSIG(status) != SIGKILL;
}

static bool was_library_missing(const struct active *a)
{
	const struct run *run = &a->run;
	const char *library = a->context->comparison->variants[run->variant].library;

	return library && strchr(library, '/') && run->sample_count > 0 &&
	       run->samples[run->sample_count - 1].elapsed_ns > LOADED_NS &&
	       !run_sampler_has_seen_library(a->context->sampler);
}

static const char *find_problem(const struct active *a)
{
	int status = a->job.child.wait_status;

	if (signals_stop_count() > 0)
		return "interrupted";
	if (!a->options->workload && WIFSIGNALED(status))
		return "killed by a signal";
	if (!a->options->workload && WEXITSTATUS(status) != 0)
		return "exited with a nonzero status";
	if (a->options->workload && a->has_ended)
		return "ended prematurely";
	if (a->options->workload && a->workload.wait_status != 0)
		return "the workload failed";
	if (a->options->workload && has_crashed(a))
		return "crashed on the stop signal";
	if (was_library_missing(a))
		return "the allocator was not loaded";
	return NULL;
}

static void finish_run(struct active *a, uint64_t end_ns)
{
	struct run *run = &a->run;
	uint64_t sampled_bytes = run_sampler_peak_rss_bytes(a->context->sampler);

	run->wait_status = a->job.child.wait_status;
	run->peak_rss_bytes = sampled_bytes;
	/*
	 * the job's largest process may be a wrapper such as a shell, whose peak must
	 * not count
	 */
	if (a->job.peak_rss_bytes > sampled_bytes &&
	    !run_sampler_has_wrappers(a->context->sampler))
		run->peak_rss_bytes = a->job.peak_rss_bytes;
	run->moments[MOMENT_PEAK] = compare_find_peak(run);
	/*
	 * the sum of Rss over several processes in a sample may exceed the peak of the
	 * largest process, so use the larger value
	 */
	for (size_t i = 0; i < run->sample_count; i++)
		if (run->samples[i].rss_bytes > run->peak_rss_bytes)
			run->peak_rss_bytes = run->samples[i].rss_bytes;
	if (run->peak_rss_bytes == 0)
		run->peak_rss_bytes = BYTES_UNKNOWN;
	run->above_ns = compare_find_above_ns(run, a->options->above_bytes, end_ns);
	run->problem = find_problem(a);
}

static void report_problem(const struct active *a)
{
	const struct run *run = &a->run;
	const char *name = a->context->comparison->variants[run->variant].name;
	int status = a->options->workload && a->workload.has_ended &&
				     a->workload.wait_status != 0
			     ? a->workload.wait_status
			     : run->wait_status;
	const char *what = run->is_warm_up    ? "warm-up"
			   : run->is_counting ? "counting run"
					      : "run";

	if (WIFSIGNALED(status))
		message("%s %u with %s is excluded: %s (signal %d, %s)", what,
			run->number, name, run->problem, WTERMSIG(status),
			strsignal(WTERMSIG(status)));
	else
		message("%s %u with %s is excluded: %s (status %d)", what, run->number,
			name, run->problem, WEXITSTATUS(status));
}

static int start_command(struct active *a)
{
	const struct comparison *comparison = a->context->comparison;
	const struct variant *variant = &comparison->variants[a->run.variant];
	_cleanup_run_files_ struct run_files files = RUN_FILES_INIT;
	struct child_setup setup = { .environment =
					     a->context->environments[a->run.variant] };
	int r;

	r = run_files_open(a->options->output_dir, variant, &a->run, false, &files);
	if (r < 0)
		return r;
	setup.input_fd = files.input_fd;
	setup.output_fd = files.output_fd;
	setup.error_fd = files.error_fd;
	a->start_ns = a->next_ns = clock_now_ns();
	r = job_start(&a->job, a->context->options->command, &setup);
	if (r < 0)
		message_error(a->context->options->command[0], r);
	else
		/* an error only leaves the number of calls that release memory unknown */
		(void)release_calls_begin(&a->release_calls, a->job.child.pid);
	return r;
}

/* Return the file name of the variant's library, with symlinks resolved. */
static char *library_name(const struct variant *variant)
{
	_cleanup_free_ char *path = variant->library && strchr(variant->library, '/')
					    ? realpath(variant->library, NULL)
					    : NULL;

	return path ? xstrdup(strrchr(path, '/') + 1) : NULL;
}

static void add_run(struct comparison *c, const struct run *run)
{
	c->runs = xgrow(c->runs, &c->run_capacity, c->run_count + 1, sizeof(*c->runs));
	c->runs[c->run_count++] = *run;
}

/*
 * Return an upper bound on memstate's own Rss in bytes, which is also the command's Rss
 * before exec. Add one MiB, because the kernel updates its counters late.
 */
static uint64_t own_rss_bytes(const struct compare_context *context)
{
	struct process self;

	if (proc_list_read_one(context->fs, getpid(), &self) < 0)
		return UINT64_MAX;
	return self.stat_rss_bytes + MIB;
}

int compare_run_one(const struct compare_context *context, size_t variant,
		    unsigned int number, enum run_purpose purpose)
{
	_cleanup_free_ char *library =
		library_name(&context->comparison->variants[variant]);
	struct active a = {
		.context = context,
		.options = compare_options(context->options),
		.run = { .variant = variant,
			 .number = number,
			 .is_warm_up = purpose == RUN_WARMS_UP,
			 .is_counting = purpose == RUN_COUNTS },
		.job = { .sampler = context->sampler },
		.release_calls = RELEASE_CALLS_INIT,
	};
	uint64_t end_ns;
	int r;

	for (int i = 0; i < MOMENT_COUNT_; i++)
		a.run.moments[i] = SIZE_MAX;
	run_sampler_begin(context->sampler, library);
	a.job.own_rss_bytes = own_rss_bytes(context);
	r = start_command(&a);
	if (r < 0)
		return r;
	if (a.options->workload)
		r = run_workload(&a);
	else
		run_to_end(&a);
	end_ns = job_end_ns(&a.job) - a.start_ns;
	a.run.release_call_count = release_calls_read(&a.release_calls);
	release_calls_end(&a.release_calls);
	end_all(&a);
	finish_run(&a, end_ns);
	job_release(&a.job);
	if (r < 0) {
		free(a.run.samples);
		return r;
	}
	if (a.run.problem && signals_stop_count() == 0)
		report_problem(&a);
	add_run(context->comparison, &a.run);
	return 0;
}
