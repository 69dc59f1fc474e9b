/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/session/recordings.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "cmd/core/cmd.h"
#include "cmd/core/message.h"

/*
 * Maximum share of the elapsed time, in thousandths, that memstate spends on reading one
 * process's mappings only for the recording.
 */
#define RECORD_SHARE_PER_MILLE 10

int recordings_check_options(const struct options *o)
{
	const struct recording_options *r = &o->recording;
	const char *problem = NULL;

	if (r->record && r->replay)
		problem = "--record and --replay are mutually exclusive";
	else if (r->replay && (o->command || o->preload))
		problem = "--replay and a command are mutually exclusive";
	else if (r->replay && (o->heap == HEAP_WALK || o->heap == HEAP_HELPER))
		problem = "--replay cannot read heaps: the processes' memory is not in "
			  "the recording";
	if (!problem)
		return EXIT_DONE;
	message_usage(NULL, "%s", problem);
	return EXIT_BAD_USAGE;
}

int recordings_report(const char *path, int error)
{
	if (error == -EOPNOTSUPP)
		message("%s: recordings require SQLite (libsqlite3.so.0), which is not installed",
			path);
	else if (error == -EEXIST)
		message("%s: not a memstate recording", path);
	else if (error == -ENOTSUP)
		message("%s: recorded by a newer version of memstate", path);
	else if (error == -EBUSY)
		message("%s: in use by another memstate", path);
	else if (error == -EBADMSG)
		message("%s: damaged: %s", path, recording_damage());
	else if (error == -ENODATA)
		message("%s: the recording has no samples", path);
	else
		message_error(path, error);
	return EXIT_FAILED;
}

size_t recordings_find_moment(const char *path)
{
	const char *at = strrchr(path, '@');
	_cleanup_free_ char *file = NULL;

	if (!at || access(path, F_OK) == 0)
		return 0;
	file = xstrndup(path, (size_t)(at - path));
	return access(file, F_OK) == 0 ? (size_t)(at + 1 - path) : 0;
}

int recordings_begin(const struct options *o, struct sampler *sampler,
		     struct recorder **ret)
{
	int r = recorder_open(o->recording.record, &o->recording.keep,
			      RECORD_SHARE_PER_MILLE, sampler, ret);

	return r < 0 ? recordings_report(o->recording.record, r) : EXIT_DONE;
}

int recordings_finish(const struct options *o, const struct recorder *recorder,
		      int status)
{
	int r = recorder ? recorder_error(recorder) : 0;

	if (r == 0)
		return status;
	message_error(o->recording.record, r);
	return status == EXIT_DONE ? EXIT_PARTIAL : status;
}

int recordings_open_file(const char *verb, const char *path, const char *at,
			 struct replay **ret, size_t *ret_index)
{
	struct replay *replay;
	size_t index;
	int r = replay_open(path, &replay);

	if (r < 0)
		return recordings_report(path, r);
	index = replay_count(replay) - 1;
	if (at && replay_find_moment(replay, at, &index) < 0) {
		message_usage(
			verb,
			"%s: '%s' is not a time such as 2026-11-21T08:15:30Z, +90s, "
			"-5m, first or last",
			path, at);
		replay_close(replay);
		return EXIT_BAD_USAGE;
	}
	*ret = replay;
	*ret_index = index;
	return EXIT_DONE;
}

int recordings_open(const struct options *o, struct replay **ret, size_t *ret_index)
{
	const char *path = o->recording.replay;
	size_t moment = recordings_find_moment(path);

	if (moment > 0) {
		message("%s: no such file; select a moment with --replay %.*s --at %s",
			path, (int)moment - 1, path, path + moment);
		return EXIT_FAILED;
	}
	return recordings_open_file(o->verb, path, o->recording.at, ret, ret_index);
}
