/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/units.h"
#include "render/profile/count_report.h"

static const struct count_program *program_of(const void *row)
{
	return ((const struct count_row *)row)->program;
}

static void get_time(const void *row, int arg, struct value *ret)
{
	(void)arg;
	value_set_amount(ret, ((const struct count_row *)row)->unix_ms);
}

static void get_elapsed(const void *row, int arg, struct value *ret)
{
	(void)arg;
	value_set_amount(ret, ((const struct count_row *)row)->elapsed_ns);
}

static void get_name(const void *row, int arg, struct value *ret)
{
	(void)arg;
	value_set_text(ret, program_of(row)->name);
}

static void get_allocator(const void *row, int arg, struct value *ret)
{
	(void)arg;
	value_set_text(ret, program_of(row)->allocator);
}

static void get_method(const void *row, int arg, struct value *ret)
{
	const struct count_means *means = program_of(row)->means;

	(void)arg;
	value_set_text(ret, means ? means->method : "preload");
}

static void get_state(const void *row, int arg, struct value *ret)
{
	(void)arg;
	value_set_text(ret, program_of(row)->has_ended ? "ended" : "running");
}

static void get_run_number(const void *row, int arg, struct value *ret)
{
	const struct count_run *run = ((const struct count_row *)row)->run;

	(void)arg;
	value_set_amount(ret, run ? run->number : BYTES_UNKNOWN);
}

static void get_size(const void *row, int arg, struct value *ret)
{
	const struct count_run *run = ((const struct count_row *)row)->run;

	(void)arg;
	value_set_amount(ret, run ? run->size : BYTES_UNKNOWN);
}

static void get_peak_rss(const void *row, int arg, struct value *ret)
{
	const struct count_run *run = ((const struct count_row *)row)->run;

	(void)arg;
	value_set_amount(ret, run ? run->peak_rss_bytes : BYTES_UNKNOWN);
}

enum program_number {
	PROGRAM_PID,
	PROGRAM_PARENT,
	PROGRAM_EXEC,
	PROGRAM_THREADS,
	PROGRAM_PEAK,
	PROGRAM_PEAK_ERROR
};

static void get_program(const void *row, int arg, struct value *ret)
{
	const struct count_program *p = program_of(row);
	const uint64_t numbers[] = {
		[PROGRAM_PID] = (uint64_t)p->pid,
		[PROGRAM_PARENT] = p->parent_pid > 0 ? (uint64_t)p->parent_pid : 0,
		[PROGRAM_EXEC] = p->generation,
		[PROGRAM_THREADS] = p->thread_count,
		[PROGRAM_PEAK] = p->peak_live_bytes,
		[PROGRAM_PEAK_ERROR] = p->peak_error_bytes,
	};

	value_set_amount(ret, numbers[arg]);
}

static void get_sum(const void *row, int arg, struct value *ret)
{
	value_set_amount(
		ret, count_sums_figure(&program_of(row)->sums, (enum counted_figure)arg));
}

static const struct count_thread *thread_of(const void *row)
{
	return row;
}

static void get_thread_sum(const void *row, int arg, struct value *ret)
{
	value_set_amount(
		ret, count_sums_figure(&thread_of(row)->sums, (enum counted_figure)arg));
}

static void get_tid(const void *row, int arg, struct value *ret)
{
	(void)arg;
	value_set_amount(ret, thread_of(row)->tid > 0 ? (uint64_t)thread_of(row)->tid
						      : BYTES_UNKNOWN);
}

static void get_thread_name(const void *row, int arg, struct value *ret)
{
	(void)arg;
	value_set_text(ret, thread_of(row)->tid > 0 ? thread_of(row)->name : "(ended)");
}

#define COLUMN(name, heading, kind, is_descending, get, arg, help)    \
	{                                                             \
		name, heading, help, kind, is_descending, 0, arg, get \
	}
#define PROGRAM(name, heading, kind, arg, help) \
	COLUMN(name, heading, kind, false, get_program, arg, help)
#define SUM(name, heading, kind, arg, help) \
	COLUMN(name, heading, kind, true, get_sum, arg, help)
#define CALLS(name, heading, arg) \
	SUM(name "_calls", heading, VALUE_COUNT, arg, "calls to " name)

/*
 * The columns for the counted functions. The macro calls() defines one of them, either
 * for programs or for threads.
 */
#define EACH_CALL(calls)                                                          \
	calls("malloc", "MALLOC", CALL_MALLOC), calls("free", "FREE", CALL_FREE), \
		calls("calloc", "CALLOC", CALL_CALLOC),                           \
		calls("realloc", "REALLOC", CALL_REALLOC),                        \
		calls("reallocarray", "REALLOCARRAY", CALL_REALLOCARRAY),         \
		calls("posix_memalign", "POSIX_MEMALIGN", CALL_POSIX_MEMALIGN),   \
		calls("aligned_alloc", "ALIGNED_ALLOC", CALL_ALIGNED_ALLOC),      \
		calls("memalign", "MEMALIGN", CALL_MEMALIGN),                     \
		calls("valloc", "VALLOC", CALL_VALLOC),                           \
		calls("pvalloc", "PVALLOC", CALL_PVALLOC)

static const struct column columns[] = {
	COLUMN("time", "TIME", VALUE_TIME, false, get_time, 0,
	       "when the counts were read, UTC"),
	COLUMN("elapsed_s", "ELAPSED", VALUE_SECONDS, false, get_elapsed, 0,
	       "time since the command was started, or the process was attached to"),
	PROGRAM("pid", "PID", VALUE_COUNT, PROGRAM_PID, "process id"),
	PROGRAM("parent_pid", "PARENT", VALUE_COUNT, PROGRAM_PARENT,
		"pid of the parent process"),
	PROGRAM("exec", "EXEC", VALUE_COUNT, PROGRAM_EXEC,
		"0: the first program with that pid; 1: the program that it executed; "
		"..."),
	COLUMN("program", "PROGRAM", VALUE_TEXT, false, get_name, 0, "its name"),
	COLUMN("state", "STATE", VALUE_WORD, false, get_state, 0, "running, or ended"),
	PROGRAM("threads", "THREADS", VALUE_COUNT, PROGRAM_THREADS,
		"threads that have called any of the functions so far"),
	EACH_CALL(CALLS),
	SUM("new_calls", "NEW", VALUE_COUNT, CALL_NEW,
	    "calls to C++'s new, if the allocator has its own"),
	SUM("delete_calls", "DELETE", VALUE_COUNT, CALL_DELETE,
	    "calls to delete, if the allocator has its own"),
	SUM("free_null_calls", "FREE NULL", VALUE_COUNT, COUNTED_FREE_NULL,
	    "calls to free and delete with NULL, which free nothing"),
	SUM("allocation_calls", "ALLOCATIONS", VALUE_COUNT, COUNTED_ALLOCATIONS,
	    "all of these calls except free and delete"),
	SUM("failed_calls", "FAILED", VALUE_COUNT, COUNTED_FAILED,
	    "allocation calls that returned no block"),
	SUM("requested_bytes", "REQUESTED", VALUE_BYTES, COUNTED_REQUESTED,
	    "bytes that the successful allocation calls requested"),
	SUM("temporary_blocks", "TEMPORARY", VALUE_COUNT, COUNTED_TEMPORARY,
	    "blocks freed with no other call in the thread since their allocation"),
	SUM("live_blocks", "BLOCKS LIVE", VALUE_COUNT, COUNTED_LIVE_BLOCKS,
	    "blocks allocated and not freed"),
	SUM("live_bytes", "BYTES LIVE", VALUE_BYTES, COUNTED_LIVE,
	    "usable bytes of the live blocks"),
	PROGRAM("peak_live_bytes", "PEAK", VALUE_BYTES, PROGRAM_PEAK,
		"the maximum of live_bytes"),
	PROGRAM("peak_error_bytes", "PEAK +-", VALUE_BYTES, PROGRAM_PEAK_ERROR,
		"maximum error of peak_live_bytes; 0 for one thread"),
	COLUMN("allocator", "ALLOCATOR", VALUE_TEXT, false, get_allocator, 0,
	       "file with the malloc that was used"),
	COLUMN("run", "RUN", VALUE_COUNT, false, get_run_number, 0,
	       "with --runs: number of the run"),
	COLUMN("size", "SIZE", VALUE_COUNT, false, get_size, 0,
	       "with --scale: the size, from --sizes"),
	COLUMN("peak_rss_bytes", "PEAK RSS", VALUE_BYTES, true, get_peak_rss, 0,
	       "with --runs: peak resident memory according to the kernel"),
	COLUMN("method", "METHOD", VALUE_WORD, false, get_method, 0,
	       "how the calls were counted: preload; or inject, bpf or perf "
	       "for a running process"),
};

const struct column_set count_columns = {
	.columns = columns,
	.count = sizeof(columns) / sizeof(columns[0]),
	.csv_default =
		"time,elapsed_s,pid,exec,program,state,threads,malloc_calls,free_calls,"
		"calloc_calls,realloc_calls,reallocarray_calls,posix_memalign_calls,"
		"aligned_alloc_calls,memalign_calls,valloc_calls,pvalloc_calls,new_calls,"
		"delete_calls,allocation_calls,failed_calls,requested_bytes,"
		"temporary_blocks,live_blocks,live_bytes,peak_live_bytes,peak_error_bytes,"
		"free_null_calls",
	.table_default =
		"pid,exec,allocation_calls,free_calls,requested_bytes,temporary_blocks,"
		"live_blocks,live_bytes,peak_live_bytes,program",
};

#define THREAD(name, heading, kind, arg, help) \
	COLUMN(name, heading, kind, true, get_thread_sum, arg, help)
#define THREAD_CALLS(name, heading, arg) \
	THREAD(name "_calls", heading, VALUE_COUNT, arg, "calls to " name)

static const struct column thread_columns[] = {
	COLUMN("tid", "THREAD", VALUE_COUNT, false, get_tid, 0,
	       "its thread ID; unknown: many threads that have ended"),
	COLUMN("name", "NAME", VALUE_TEXT, false, get_thread_name, 0,
	       "its name at its first allocation"),
	EACH_CALL(THREAD_CALLS),
	THREAD_CALLS("new", "NEW", CALL_NEW),
	THREAD_CALLS("delete", "DELETE", CALL_DELETE),
	THREAD("free_null_calls", "FREE NULL", VALUE_COUNT, COUNTED_FREE_NULL,
	       "calls to free and delete with NULL"),
	THREAD("allocation_calls", "ALLOCATIONS", VALUE_COUNT, COUNTED_ALLOCATIONS,
	       "all of these calls except free and delete"),
	THREAD("failed_calls", "FAILED", VALUE_COUNT, COUNTED_FAILED,
	       "allocation calls that returned no block"),
	THREAD("requested_bytes", "REQUESTED", VALUE_BYTES, COUNTED_REQUESTED,
	       "bytes that the successful allocation calls requested"),
	THREAD("temporary_blocks", "TEMPORARY", VALUE_COUNT, COUNTED_TEMPORARY,
	       "blocks freed with no other call since their allocation"),
};

const struct column_set count_thread_columns = {
	.columns = thread_columns,
	.count = sizeof(thread_columns) / sizeof(thread_columns[0]),
	.table_default =
		"tid,allocation_calls,free_calls,requested_bytes,temporary_blocks,name",
};
