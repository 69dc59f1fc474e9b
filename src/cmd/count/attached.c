/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/count/attached.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/io.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "cmd/core/cmd.h"
#include "cmd/core/message.h"
#include "cmd/core/rights.h"
#include "cmd/count/options.h"
#include "cmd/core/signals.h"
#include "cmd/core/stream.h"
#include "cmd/core/terminal.h"
#include "cmd/count/profile.h"
#include "cmd/count/show.h"
#include "cmd/run/count_child.h"
#include "cmd/session/session.h"
#include "cmd/session/turn.h"
#include "probe/attach.h"
#include "render/profile/count_report.h"

/*
 * Default of --sample for running processes: record on average one allocation per this
 * number of bytes. The overhead is then close to zero.
 */
#define SAMPLE_BYTES (UINT64_C(1) << 19)

/* Maximum wait in ns for a safe moment to attach to a process. */
#define OPEN_LIMIT_NS (5 * NS_PER_S)

struct attached {
	struct session *session;
	const struct column_list *columns;
	struct count_attach **items;
	size_t count, failed_count;
	/*
	 * number of processes that cannot be counted, because they use only a
	 * built-in allocator
	 */
	size_t uncovered_count;
	/* the counts, with one entry for each attached process */
	struct count_list list;
	struct count_report report;
	struct schedule schedule;
	uint64_t start_ns;
	struct strbuf out;
	/* descriptor that is readable when the first process ends, or -1 */
	int end_fd;
	int stream_error; /* error from writing standard output, or 0 */
	/* true if the terminal shows a status line, which the next output overwrites */
	bool has_line;
	struct count_sums line_sums;
	uint64_t line_ns;
};

static bool is_series(const struct options *o)
{
	return (o->has_interval || o->sample_count > 0) &&
	       (o->format == FORMAT_CSV || o->format == FORMAT_JSON) &&
	       !count_records_stacks(o);
}

static bool shows_line(const struct options *o)
{
	return o->format == FORMAT_AUTO && isatty(STDOUT_FILENO) && isatty(STDERR_FILENO);
}

/*
 * Return a value for count_request.sample_bytes: record on average one allocation per
 * this number of bytes; 0: record every allocation.
 */
static uint64_t sample_bytes(const struct options *o)
{
	if (count_options(o)->sample_bytes == 0)
		return SAMPLE_BYTES;
	return count_options(o)->sample_bytes == 1 ? 0 : count_options(o)->sample_bytes;
}

/* Attach to one more process. Print a message if it cannot be counted. */
static void attach(struct attached *a, const struct process *p, enum count_method method)
{
	_cleanup_strbuf_ struct strbuf why = STRBUF_INIT;
	const struct options *o = a->session->options;
	const struct count_request request = {
		.fs = &a->session->fs,
		.pid = p->pid,
		.start_ticks = p->start_ticks,
		.method = method,
		.calls_only = count_options(o)->calls_only,
		.wants_stacks = count_records_stacks(o),
		.sample_bytes = sample_bytes(o),
		.limit_ns = OPEN_LIMIT_NS,
	};
	int r;

	if (!process_has_memory(p)) {
		message("%d: cannot count calls: it is a %s", p->pid,
			process_no_memory_text(p));
		a->failed_count++;
		return;
	}
	turn_await(&a->session->fs, p->pid);
	for (unsigned int tries = 1;; tries++) {
		strbuf_clear(&why);
		r = count_attach_open(&request, &a->items[a->count], &why);
		/*
		 * do not retry after -EAGAIN, because count_attach_open() has already
		 * waited long enough
		 */
		if (r != -EBUSY || !turn_may_retry(&a->session->fs, p->pid, r, tries))
			break;
	}
	if (r == 0) {
		a->count++;
		return;
	}
	if (r == -EINTR)
		return;
	a->failed_count++;
	a->uncovered_count += r == -ENODATA;
	if (rights_has_ended(&a->session->fs, p, r)) {
		message("%d: the process has ended", p->pid);
		return;
	}
	if (why.length > 0)
		message("%d: cannot count calls: %s", p->pid, why.text);
	else
		message_process_error(p->pid, r);
	if (r == -EPERM || r == -EACCES)
		rights_report(&a->session->fs, p->pid, true);
}

/*
 * Attach to all requested processes. Return EXIT_DONE, or the exit status of memstate if
 * none can be counted or a signal has arrived.
 */
static int attach_all(struct attached *a, const struct snapshot *snapshot,
		      enum count_method method)
{
	int status = session_report_missing(a->session, snapshot);

	a->items = xcalloc(snapshot->count + 1, sizeof(struct count_attach *));
	for (size_t i = 0; i < snapshot->count && !interrupt_is_pending(); i++)
		if (!snapshot->usages[i].error)
			attach(a, &snapshot->usages[i].process, method);
	if (interrupt_is_pending()) {
		signals_wait_until(0); /* deliver the blocked signal */
		return EXIT_BY_SIGNAL + signals_last_stop();
	}
	a->failed_count += status != EXIT_DONE;
	if (a->count == 0)
		return a->uncovered_count > 0 ? EXIT_PARTIAL : EXIT_FAILED;
	return EXIT_DONE;
}

static void detach_all(struct attached *a)
{
	for (size_t i = 0; i < a->count; i++) {
		_cleanup_strbuf_ struct strbuf why = STRBUF_INIT;
		int pid = i < a->list.count ? a->list.programs[i].pid : 0;

		if (count_attach_close(a->items[i], &why) < 0)
			message("%d: %s", pid, strbuf_text(&why));
	}
	free(a->items);
	a->items = NULL;
	a->count = 0;
}

/* Read the counts of all processes. Return 0, or print a message and return -errno. */
static int read_counts(struct attached *a)
{
	for (size_t i = 0; i < a->count; i++) {
		int r = count_attach_read(a->items[i], &a->list.programs[i]);

		if (r < 0) {
			message("%d: cannot read the counts: %s", a->list.programs[i].pid,
				r == -ECHILD
					? "the guard process of its breakpoints was killed"
					: strerror(-r));
			return r;
		}
	}
	a->report.only = a->count == 1 ? &a->list.programs[0] : NULL;
	a->report.unix_ms = clock_unix_ms();
	a->report.elapsed_ns = clock_now_ns() - a->start_ns;
	return 0;
}

static bool have_all_ended(const struct attached *a)
{
	for (size_t i = 0; i < a->list.count; i++)
		if (!a->list.programs[i].has_ended)
			return false;
	return true;
}

static void erase_line(struct attached *a)
{
	if (a->has_line)
		(void)io_write_all(STDERR_FILENO, "\r\033[K", 4);
	a->has_line = false;
}

static void show_line(struct attached *a)
{
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;
	uint64_t now = clock_now_ns();

	terminal_fit(&a->report.options);
	/*
	 * leave the last column empty, so that the cursor does not wrap to the next line
	 */
	if (a->report.options.max_width > 0)
		a->report.options.max_width--;
	count_report_add_line(&line, &a->report, &a->line_sums, now - a->line_ns);
	count_report_sum(&a->report, &a->line_sums);
	a->line_ns = now;
	erase_line(a);
	(void)io_write_all(STDERR_FILENO, line.text, line.length);
	a->has_line = true;
}

static int write_out(struct attached *a)
{
	a->stream_error = stream_write(&a->out);
	return a->stream_error;
}

static int write_rows(struct attached *a)
{
	if (a->session->options->format == FORMAT_JSON)
		count_report_add_json(&a->out, &a->report, a->columns);
	else
		count_report_add_csv(&a->out, &a->report, a->columns);
	return write_out(a);
}

/* Wait until the next sample is due, the first process ends, or a signal arrives. */
static void wait_for(struct attached *a, uint64_t due_ns)
{
	signals_wait_for_input(a->end_fd, due_ns);
	if (a->end_fd >= 0 && a->list.programs[0].has_ended) {
		close(a->end_fd);
		a->end_fd = -1;
	}
}

/*
 * Take samples until the processes end, a signal arrives, or the number of samples given
 * with -n is reached. Return 0 or -errno.
 */
static int watch(struct attached *a)
{
	const struct options *o = a->session->options;
	int stops = signals_stop_count();
	uint64_t taken = 0;
	int r = read_counts(a);

	schedule_init(&a->schedule, a->start_ns, o->interval_ns);
	a->schedule.next = 1;
	a->line_ns = a->start_ns;
	count_report_sum(&a->report, &a->line_sums);
	while (r == 0 && signals_stop_count() == stops && !have_all_ended(a) &&
	       (o->sample_count == 0 || taken < o->sample_count)) {
		uint64_t due = schedule_due_ns(&a->schedule);

		wait_for(a, due);
		r = read_counts(a);
		if (r < 0 || clock_now_ns() < due)
			continue;
		schedule_advance(&a->schedule, clock_now_ns());
		taken++;
		if (shows_line(o))
			show_line(a);
		/*
		 * do not write the last sample here, because show() writes it after
		 * counting has stopped
		 */
		if (is_series(o) && taken != o->sample_count)
			r = write_rows(a);
	}
	erase_line(a);
	return r;
}

static void report_missing(struct attached *a)
{
	uint64_t threads = 0;

	for (size_t i = 0; i < a->list.count; i++) {
		const struct count_program *p = &a->list.programs[i];

		threads += p->lost_threads;
		if (p->uncovered)
			message("%d: " COUNT_UNCOVERED_FORMAT, p->pid, p->uncovered);
		if (p->means->missed[0] != '\0')
			message("%d: %s", p->pid, p->means->missed);
		a->failed_count += p->uncovered || p->means->missed[0] != '\0';
	}
	if (threads > 0)
		message("%llu %s not counted: no space for their counts",
			(unsigned long long)threads,
			threads == 1 ? "thread was" : "threads were");
}

/* Show the profile of the recorded stacks. Return EXIT_DONE or EXIT_FAILED. */
static int show_stacks(struct attached *a)
{
	char *name = a->list.programs[0].name, *names[2] = { name, NULL };
	const struct count_profile_origin origin = {
		.list = &a->list,
		.command = names,
		.elapsed_ns = a->report.elapsed_ns,
	};
	struct stacks *stacks = xcalloc(a->count, sizeof(*stacks));
	size_t count = 0;
	int r = 0, status = EXIT_FAILED;

	for (size_t i = 0; r == 0 && i < a->count; i++) {
		r = count_attach_read_stacks(a->items[i], &stacks[i]);
		count += r == 0;
	}
	if (r < 0)
		message("%d: the call stacks cannot be read: %s",
			a->list.programs[count].pid, strerror(-r));
	else
		status = count_profile_show_attached(a->session->options, stacks, count,
						     &origin);
	for (size_t i = 0; i < count; i++)
		stacks_release(&stacks[i]);
	free(stacks);
	return status;
}

/* Show the counts. Return EXIT_DONE or EXIT_FAILED. */
static int show(struct attached *a)
{
	const struct options *o = a->session->options;
	bool has_stacks = count_records_stacks(o);
	bool has_rows = o->format == FORMAT_CSV || o->format == FORMAT_JSON;

	if (read_counts(a) < 0)
		return EXIT_FAILED;
	report_missing(a);
	if (has_stacks && (has_rows || !count_show_has_report(o)))
		return show_stacks(a);
	if (has_rows)
		return write_rows(a) < 0 ? EXIT_FAILED : EXIT_DONE;
	terminal_fit(&a->report.options);
	a->report.origin.pid = a->count == 1 ? a->list.programs[0].pid : 0;
	a->report.origin.has_stacks = has_stacks;
	count_report_add_text(&a->out, &a->report);
	if (has_stacks)
		strbuf_add_char(&a->out, '\n');
	if (write_out(a) < 0)
		return EXIT_FAILED;
	return has_stacks ? show_stacks(a) : EXIT_DONE;
}

static int count(struct attached *a)
{
	const struct options *o = a->session->options;
	int status = EXIT_DONE;

	a->start_ns = clock_now_ns();
	a->list.programs = xcalloc(a->count, sizeof(*a->list.programs));
	a->list.count = a->list.capacity = a->count;
	a->report.list = &a->list;
	if (o->format == FORMAT_CSV && !o->no_headings && !count_records_stacks(o)) {
		csv_add_header(&a->out, a->columns);
		status = write_out(a) < 0 ? EXIT_FAILED : EXIT_DONE;
	}
	if (status == EXIT_DONE && watch(a) < 0)
		status = EXIT_FAILED;
	return status == EXIT_DONE ? show(a) : status;
}

static int run(struct attached *a, enum count_method method)
{
	struct snapshot snapshot;
	int status;

	snapshot_init(&snapshot);
	status = session_list(a->session, NEED_STAT, &snapshot);
	if (status == EXIT_DONE)
		status = attach_all(a, &snapshot, method);
	if (status == EXIT_DONE && a->count == 1)
		a->end_fd =
			(int)syscall(SYS_pidfd_open, snapshot.usages[0].process.pid, 0);
	snapshot_release(&snapshot);
	if (status == EXIT_DONE)
		status = count(a);
	detach_all(a);
	return status == EXIT_DONE && a->failed_count > 0 ? EXIT_PARTIAL : status;
}

int count_attached_run(struct options *o, const struct column_list *columns)
{
	struct session session;
	struct attached a = {
		.session = &session,
		.columns = columns,
		.end_fd = -1,
		.report = {
			.top = o->top ? (size_t)o->top : OPTIONS_TEXT_TOP,
			.options.exact_bytes = o->exact_bytes,
			.options.no_headings = o->no_headings,
		},
	};
	int status = session_begin(&session, o);

	if (status != EXIT_DONE)
		return status;
	signals_begin();
	status = run(&a, count_options(o)->method);
	if (a.end_fd >= 0)
		close(a.end_fd);
	count_list_release(&a.list);
	strbuf_release(&a.out);
	session_end(&session);
	if (a.stream_error == -EPIPE)
		stream_die_of_pipe();
	return status;
}
