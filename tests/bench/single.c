/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * single PID ROUNDS - measure the cost of one sample of one process, relative to a bare
 * loop that reads smaps with a 3 KiB buffer and does not parse. All methods run in turn,
 * ROUNDS times. Prints the median CPU time of each method, and the median over the rounds
 * of its ratio to the bare loop.
 *
 * The program also compares the parser alone, on the same text in memory,
 * with a parser based on sscanf.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "bench.h"
#include "proc/smaps/smaps.h"
#include "render/table/output.h"
#include "sample/process/sampler.h"

#define METHOD_COUNT 5

struct single {
	int pid;
	char *buffer; /* 64 KiB */
	struct procfs fs;
	struct sampler *sampler;
	struct targets targets;
	struct target_pid target;
	struct snapshot snapshot;
	struct mapping_list mappings;
	struct column_list process_columns, mapping_columns;
	struct strbuf out;
};

static void read_bare_3k(struct single *s)
{
	bench_read_bare(s->pid, "smaps", s->buffer, 3072);
}

static void read_bare_64k(struct single *s)
{
	bench_read_bare(s->pid, "smaps", s->buffer, 65536);
}

static void read_usage(struct single *s)
{
	if (sampler_read_usage(s->sampler, &s->snapshot.usages[0], NEED_SMAPS) < 0)
		bench_die("smaps");
}

static void make_row(struct single *s)
{
	const struct process_row row = { &s->snapshot, &s->snapshot.usages[0] };

	read_usage(s);
	strbuf_clear(&s->out);
	csv_add_row(&s->out, &s->process_columns, &row);
}

static void make_map_rows(struct single *s)
{
	if (sampler_read_mappings(s->sampler, &s->snapshot.usages[0], &s->mappings) < 0)
		bench_die("smaps");
	strbuf_clear(&s->out);
	for (size_t i = 0; i < s->mappings.count; i++)
		csv_add_row(&s->out, &s->mapping_columns, &s->mappings.items[i]);
}

static const struct method {
	const char *name;
	void (*run)(struct single *s);
} methods[METHOD_COUNT] = {
	{ "bare loop, 3 KiB", read_bare_3k },
	{ "bare loop, 64 KiB", read_bare_64k },
	{ "read, parse, classify", read_usage },
	{ "the same and a CSV row", make_row },
	{ "the same, a CSV row per mapping", make_map_rows },
};

static void measure_methods(struct single *s, size_t rounds)
{
	double *ms[METHOD_COUNT], *ratio[METHOD_COUNT];

	for (size_t m = 0; m < METHOD_COUNT; m++) {
		ms[m] = xcalloc(rounds, sizeof(double));
		ratio[m] = xcalloc(rounds, sizeof(double));
		methods[m].run(s); /* warm up */
	}
	for (size_t round = 0; round < rounds; round++) {
		for (size_t m = 0; m < METHOD_COUNT; m++) {
			uint64_t before_ns = bench_cpu_ns();

			methods[m].run(s);
			ms[m][round] = (double)(bench_cpu_ns() - before_ns) / 1e6;
			ratio[m][round] = ms[m][round] / ms[0][round];
		}
	}
	for (size_t m = 0; m < METHOD_COUNT; m++) {
		printf("%9.3f ms CPU %8.3f x  %s\n", bench_median(ms[m], rounds),
		       bench_median(ratio[m], rounds), methods[m].name);
		free(ms[m]);
		free(ratio[m]);
	}
}

static int add_rss(void *context, struct mapping *m)
{
	*(uint64_t *)context += m->counters.bytes[SMAPS_RSS];
	return 0;
}

static uint64_t parse_ours(struct smaps_reader *reader, const char *text, size_t length)
{
	uint64_t rss_bytes = 0;
	size_t line;

	if (smaps_parse(reader, text, length, add_rss, &rss_bytes, &line) < 0)
		bench_die("parse");
	return rss_bytes;
}

/* The usual implementation: split the text into lines, then match each with sscanf. */
static uint64_t parse_with_sscanf(const char *text, size_t length)
{
	unsigned long start, end, offset, inode, kib, rss_kib = 0;
	unsigned int major, minor;
	char line[8192], perms[5], key[64];
	const char *newline;

	for (const char *at = text; at < text + length; at = newline + 1) {
		size_t size;

		newline = memchr(at, '\n', (size_t)(text + length - at));
		size = newline ? (size_t)(newline - at) : 0;
		if (!newline || size >= sizeof(line))
			bench_die("sscanf parser: line");
		memcpy(line, at, size);
		line[size] = '\0';
		if (sscanf(line, "%63[^:]: %lu kB", key, &kib) == 2) {
			if (strcmp(key, "Rss") == 0)
				rss_kib += kib;
		} else if (strncmp(line, "VmFlags:", 8) != 0 &&
			   sscanf(line, "%lx-%lx %4s %lx %x:%x %lu", &start, &end, perms,
				  &offset, &major, &minor, &inode) != 7) {
			bench_die("sscanf parser: header");
		}
	}
	return rss_kib * 1024;
}

static void measure_parsers(int pid, size_t rounds)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	double *ratio = xcalloc(rounds, sizeof(*ratio));
	double *speed = xcalloc(rounds, sizeof(*speed));
	struct smaps_reader reader;
	struct procfs fs = PROCFS_INIT;

	if (procfs_open(&fs, "/proc") < 0 ||
	    procfs_read_file(&fs, pid, "smaps", (size_t)1 << 30, &text) < 0)
		bench_die("smaps");
	smaps_reader_init(&reader);
	for (size_t round = 0; round < rounds; round++) {
		uint64_t start_ns = bench_cpu_ns(), middle_ns, end_ns, ours, theirs;

		ours = parse_ours(&reader, text.text, text.length);
		middle_ns = bench_cpu_ns();
		theirs = parse_with_sscanf(text.text, text.length);
		end_ns = bench_cpu_ns();
		if (ours != theirs)
			bench_die("the parsers do not agree");
		ratio[round] =
			(double)(end_ns - middle_ns) / (double)(middle_ns - start_ns);
		speed[round] = (double)text.length / (double)(middle_ns - start_ns);
	}
	printf("%9.1f times as fast as sscanf, %.1f GB/s: the parser alone\n",
	       bench_median(ratio, rounds), bench_median(speed, rounds));
	smaps_reader_release(&reader);
	procfs_release(&fs);
	free(ratio);
	free(speed);
}

static void begin(struct single *s, int pid)
{
	char *bad = NULL;

	*s = (struct single){ .pid = pid, .target = { .pid = pid } };
	s->buffer = xmalloc(65536);
	s->targets = (struct targets){ .pids = &s->target, .pid_count = 1 };
	snapshot_init(&s->snapshot);
	if (procfs_open(&s->fs, "/proc") < 0)
		bench_die("/proc");
	s->sampler = sampler_new(&s->fs, false);
	if (sampler_list(s->sampler, &s->targets, NEED_STAT, &s->snapshot) < 0 ||
	    s->snapshot.count != 1)
		bench_die("process");
	if (column_list_parse(&process_columns, NULL, process_columns.csv_default,
			      &s->process_columns, &bad) < 0 ||
	    column_list_parse(&mapping_columns, NULL, mapping_columns.csv_default,
			      &s->mapping_columns, &bad) < 0)
		bench_die("columns");
}

static void end(struct single *s)
{
	free(s->buffer);
	snapshot_release(&s->snapshot);
	mapping_list_release(&s->mappings);
	column_list_release(&s->process_columns);
	column_list_release(&s->mapping_columns);
	strbuf_release(&s->out);
	sampler_free(s->sampler);
	procfs_release(&s->fs);
}

int main(int argc, char **argv)
{
	struct single s;
	size_t rounds;

	if (argc != 3) {
		fputs("usage: single PID ROUNDS\n", stderr);
		return 2;
	}
	rounds = bench_number(argv[2]);
	begin(&s, (int)bench_number(argv[1]));
	measure_methods(&s, rounds);
	end(&s);
	measure_parsers((int)bench_number(argv[1]), rounds);
	return 0;
}
