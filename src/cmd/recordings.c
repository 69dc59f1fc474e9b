/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/recordings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/num.h"
#include "base/units.h"
#include "cmd/cmd.h"
#include "cmd/message.h"

/* Of one process at most so much of its time for mappings that nobody asked for but the file. */
#define RECORD_SHARE_PER_MILLE 10

int recordings_check_options(const struct options *o)
{
	const struct recording_options *r = &o->recording;
	const char *problem = NULL;

	if (r->record && r->replay)
		problem = "--record and --replay exclude each other";
	else if (r->replay && (o->command || o->preload))
		problem = "--replay and a command exclude each other";
	else if (r->replay && (o->heap == HEAP_WALK || o->heap == HEAP_HELPER))
		problem = "--replay reads no heap: it is not there any more";
	else if (r->at && !r->replay)
		problem = "--at goes with --replay";
	else if ((r->keep.ns > 0 || r->keep.bytes > 0) && !r->record)
		problem = "--keep goes with --record";
	else if (r->record && o->format != FORMAT_CSV && o->format != FORMAT_JSON)
		problem = "--record goes with --csv or --json";
	if (!problem)
		return EXIT_DONE;
	message_usage(NULL, "%s", problem);
	return EXIT_BAD_USAGE;
}

/* What a file is, where it cannot be what it should be. */
static int report(const char *path, int error)
{
	if (error == -EOPNOTSUPP)
		message("%s: recordings need SQLite (libsqlite3.so.0), which is not there", path);
	else if (error == -EEXIST)
		message("%s: is something else than a recording", path);
	else if (error == -ENOTSUP)
		message("%s: is a recording of a newer memstate", path);
	else if (error == -EBUSY)
		message("%s: another memstate records there", path);
	else if (error == -EBADMSG)
		message("%s: is damaged, or has no sample", path);
	else
		message_error(path, error);
	return EXIT_FAILED;
}

int recordings_begin(const struct options *o, struct sampler *sampler, struct recorder **ret)
{
	int r = recorder_open(o->recording.record, &o->recording.keep, RECORD_SHARE_PER_MILLE,
			      sampler, ret);

	return r < 0 ? report(o->recording.record, r) : EXIT_DONE;
}

/* "2026-11-21T08:15:30.250Z" */
static int parse_utc(const char *text, uint64_t *ret_unix_ms)
{
	struct tm tm = { 0 };
	const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
	uint64_t thousandths = 0;
	char fraction[8] = "0";
	time_t seconds;

	if (!rest)
		return -EINVAL;
	if (*rest == '.') {
		size_t digits = strspn(rest + 1, "0123456789");

		if (digits == 0 || digits > 3)
			return -EINVAL;
		memcpy(fraction + 1, rest, digits + 1);
		fraction[digits + 2] = '\0';
		rest += digits + 1;
	}
	seconds = timegm(&tm);
	if (strcmp(rest, "Z") != 0 || seconds < 0 ||
	    num_parse_thousandths(fraction, &thousandths) < 0)
		return -EINVAL;
	*ret_unix_ms = (uint64_t)seconds * 1000 + thousandths;
	return 0;
}

int recordings_parse_moment(const char *text, uint64_t first_unix_ms, uint64_t last_unix_ms,
			    uint64_t *ret_unix_ms)
{
	uint64_t ns;

	if (text[0] != '+' && text[0] != '-')
		return parse_utc(text, ret_unix_ms);
	if (units_parse_duration(text + 1, &ns) < 0)
		return -EINVAL;
	if (text[0] == '+')
		*ret_unix_ms = first_unix_ms + ns / NS_PER_MS;
	else
		*ret_unix_ms = last_unix_ms > ns / NS_PER_MS ? last_unix_ms - ns / NS_PER_MS : 0;
	return 0;
}

int recordings_open(const struct options *o, struct replay **ret, size_t *ret_index)
{
	const char *at = o->recording.at;
	struct replay *replay;
	uint64_t unix_ms;
	size_t last;
	int r = replay_open(o->recording.replay, &replay);

	if (r < 0)
		return report(o->recording.replay, r);
	last = replay_count(replay) - 1;
	unix_ms = replay_unix_ms(replay, last);
	if (at && recordings_parse_moment(at, replay_unix_ms(replay, 0), unix_ms, &unix_ms) < 0) {
		message_usage(NULL, "--at: '%s' is not a time, as 2026-11-21T08:15:30Z, +90s or -5m",
			      at);
		replay_close(replay);
		return EXIT_BAD_USAGE;
	}
	*ret = replay;
	*ret_index = at ? replay_find(replay, unix_ms) : last;
	return EXIT_DONE;
}
