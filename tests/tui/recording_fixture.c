/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "recording_fixture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/units.h"
#include "group_fixture.h"
#include "sample/process/sampler.h"
#include "store/recording/recording.h"

_Noreturn void broken(const char *what, const char *which)
{
	fprintf(stderr, "show_screens: %s: %s\n", what, which);
	exit(99);
}

#define EVENTS_AT 35 /* before that sample; process 201 is gone afterwards */
#define FIRST_UNIX_MS UINT64_C(1795248000000) /* 2026-11-21T08:00:00Z */

/* Record a group of all processes. Its figures do not grow. */
static int record_group(struct recording *recording, unsigned int number)
{
	struct snapshot nobody;
	struct cgroup cgroup;
	int r;

	snapshot_init(&nobody);
	cgroup_init(&cgroup);
	r = group_fixture_make("growing", number, &cgroup, &nobody);
	if (r == 0)
		r = recording_add_cgroup(recording, &cgroup);
	cgroup_release(&cgroup);
	snapshot_release(&nobody);
	return r;
}

static void record_sample(struct recording *recording, struct sampler *sampler,
			  unsigned int number)
{
	const struct recording_moment moment = { FIRST_UNIX_MS + number * 500,
						 number * NS_PER_S / 2,
						 RECORDED_COST_NS };
	struct mapping_list mappings = MAPPING_LIST_INIT;
	struct targets all = { .pid_count = 0 };
	struct snapshot sample;
	int r = recording_begin(recording);

	snapshot_init(&sample);
	if (sampler_take(sampler, &all, NEED_STAT | NEED_UID | NEED_COMMAND | NEED_SMAPS,
			 &sample) < 0)
		broken("cannot read", "a tree");
	for (size_t i = 0; i < sample.count && r == 0; i++) {
		struct usage *u = &sample.usages[i];

		if (u->error || number % 10 == 9 ||
		    sampler_read_mappings(sampler, u, &mappings) < 0)
			r = recording_add_usage(recording, u);
		else
			r = recording_add_mappings(recording, u, &mappings);
	}
	if (r == 0)
		r = record_group(recording, number);
	if (r < 0 || recording_end(recording, &moment) < 0)
		broken("cannot record", "a sample");
	mapping_list_release(&mappings);
	snapshot_release(&sample);
}

static void record_events(struct recording *recording)
{
	const struct recorded_event events[] = {
		{ FIRST_UNIX_MS + EVENTS_AT * 500 - 300, "limit", NULL, 0 },
		{ FIRST_UNIX_MS + EVENTS_AT * 500 - 200, "oom_kill",
		  "Killed\x1b[2J process 201 (evil)\nmore", 201 },
	};

	for (size_t i = 0; i < 2; i++)
		if (recording_add_event(recording, &events[i]) < 0)
			broken("cannot record", events[i].kind);
}

/* Read one of the trees below `fixtures` and record it. */
static void record_tree(struct recording *recording, const char *fixtures,
			unsigned int number)
{
	const char *name = number < RECORDED_SAMPLES / 2 ? "system" : "system-later";
	_cleanup_strbuf_ struct strbuf path = STRBUF_INIT;
	struct procfs fs = PROCFS_INIT;
	struct sampler *sampler;

	strbuf_addf(&path, "%s/%s", fixtures, name);
	if (procfs_open(&fs, path.text) < 0)
		broken("cannot open", path.text);
	sampler = sampler_new(&fs, false);
	record_sample(recording, sampler, number);
	sampler_free(sampler);
	procfs_release(&fs);
}

void recording_fixture_make(const char *fixtures, bool has_events,
			    char folder[RECORDING_FOLDER_SIZE])
{
	static const struct recording_bounds none;
	_cleanup_strbuf_ struct strbuf path = STRBUF_INIT;
	struct recording *recording;
	int r;

	if (!mkdtemp(folder))
		broken("cannot make", folder);
	strbuf_addf(&path, "%s/r", folder);
	r = recording_open(path.text, &none, &recording);
	if (r == -EOPNOTSUPP) {
		rmdir(folder);
		fprintf(stderr, "there is no SQLite\n");
		exit(77);
	}
	if (r < 0)
		broken("cannot record", path.text);
	for (unsigned int i = 0; i < RECORDED_SAMPLES; i++) {
		if (i == EVENTS_AT && has_events)
			record_events(recording);
		record_tree(recording, fixtures, i);
	}
	recording_close(recording);
}

void recording_fixture_remove(const char *folder)
{
	_cleanup_strbuf_ struct strbuf command = STRBUF_INIT;

	strbuf_addf(&command, "rm -rf '%s'", folder);
	if (system(command.text) != 0) /* NOLINT(cert-env33-c) */
		broken("cannot remove", folder);
}
