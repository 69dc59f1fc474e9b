/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/diff/moments.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/num.h"
#include "base/text.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "cmd/core/cmd.h"
#include "cmd/core/message.h"
#include "cmd/core/stream.h"
#include "cmd/core/terminal.h"
#include "cmd/session/recordings.h"
#include "render/process/moment_report.h"
#include "sample/process/captured_moment.h"
#include "sample/recording/replay_moment.h"

struct side {
	char *path;	/* path of the file or folder, without "@TIME" */
	const char *at; /* time in the argument; NULL: the last sample */
	struct moment moment;
	/*
	 * If the selected sample contains no process: the time of the last earlier sample
	 * that contains one, in ms since 1970. Otherwise 0.
	 */
	uint64_t last_ms;
	/*
	 * If the last sample contains no process, an earlier sample is compared instead,
	 * and this member is the time of the last sample in ms since 1970. Otherwise 0.
	 */
	uint64_t ended_ms;
};

/*
 * Split an argument of the form "FILE" or "FILE@TIME" into a path and a time. If a file
 * with the name of the whole argument exists, the argument does not contain a time.
 */
static void split(const char *argument, struct side *ret)
{
	const char *at = strrchr(argument, '@');

	if (!at || access(argument, F_OK) == 0) {
		ret->path = xstrdup(argument);
		ret->at = NULL;
	} else {
		ret->path = xstrndup(argument, (size_t)(at - argument));
		ret->at = at + 1;
	}
}

/* Return true if the path is a folder, as created by memstate capture. */
static bool is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool has_moments(const char *argument)
{
	/* 16 bytes, because the magic string of SQLite includes the terminating NUL */
	static const char magic[16] = "SQLite format 3";
	_cleanup_free_ char *path = NULL;
	char head[sizeof(magic)];
	struct side side;
	int fd;
	bool is_one;

	if (is_folder(argument))
		return true;
	split(argument, &side);
	path = side.path;
	fd = open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return side.at && access(path, F_OK) == 0;
	is_one = io_read_at(fd, head, sizeof(head), 0) == 0 &&
		 memcmp(head, magic, sizeof(head)) == 0;
	close(fd);
	return is_one;
}

bool diff_moments_are_given(const struct options *o)
{
	return has_moments(o->args[0]) || has_moments(o->args[1]);
}

static int check_options(const struct options *o, uint64_t *ret_limit)
{
	const char *of_profiles = options_find_given(
		o, "depth min keep-generics metric transform transforms flame-graph");
	const char *limit = diff_options(o)->fail_above;

	if (of_profiles) {
		message_usage("diff",
			      "--%s requires profiles; these are recordings or "
			      "captures",
			      of_profiles);
		return EXIT_BAD_USAGE;
	}
	*ret_limit = BYTES_UNKNOWN;
	if (!limit || num_parse_u64(limit, ret_limit) == 0 ||
	    units_parse_bytes(limit, ret_limit) == 0)
		return EXIT_DONE;
	message_usage(
		"diff",
		"--fail-above: '%s' is not a number of bytes, such as 512, 64K, 1.5M "
		"or 2G",
		limit);
	return EXIT_BAD_USAGE;
}

/*
 * If the selected sample contains no process, find the last earlier sample that
 * contains one. Compare that sample instead, unless the argument contains a time.
 * Return 0 or -errno.
 */
static int replace_empty(const struct options *o, struct replay *replay, size_t index,
			 struct side *side)
{
	uint64_t unix_ms = side->moment.unix_ms;

	if (side->moment.processes.count > 0 ||
	    replay_find_last(replay, &o->targets, &index) < 0)
		return 0;
	side->last_ms = replay_unix_ms(replay, index);
	if (side->at)
		return 0;
	side->ended_ms = unix_ms;
	moment_release(&side->moment);
	moment_init(&side->moment);
	return replay_read_moment(replay, index, &o->targets, &side->moment);
}

static int load(struct options *o, struct side *side)
{
	struct replay *replay;
	size_t index;
	int status, r;

	if (is_folder(side->path)) {
		r = captured_moment_read(side->path, &o->targets, &side->moment);
	} else {
		status = recordings_open_file("diff", side->path, side->at, &replay,
					      &index);
		if (status != EXIT_DONE)
			return status;
		r = replay_read_moment(replay, index, &o->targets, &side->moment);
		if (r == 0)
			r = replace_empty(o, replay, index, side);
		replay_close(replay);
		if (r < 0)
			return recordings_report(side->path, r);
	}
	if (r == 0)
		return EXIT_DONE;
	message_error(side->path, r);
	return EXIT_FAILED;
}

/*
 * Return true if all processes together, or a single process, grew by more than
 * the limit.
 */
static bool is_above(const struct moment_diff *diff, uint64_t limit)
{
	char grown[UNITS_TEXT_SIZE], max[UNITS_TEXT_SIZE];

	for (size_t i = 0; i < diff->count; i++) {
		const struct moment_change *change = &diff->items[i];
		int64_t bytes = moment_change_bytes(change);
		bool is_limited =
			change->part == PART_PROCESS ||
			(change->part == PART_TOTAL && strcmp(change->name, "rss") == 0);

		if (!is_limited || bytes <= 0 || (uint64_t)bytes <= limit)
			continue;
		message("--fail-above: %s %s by %s, more than %s",
			change->part == PART_TOTAL ? "all processes together have"
						   : change->name,
			change->part == PART_TOTAL ? "grown" : "has grown",
			units_format_bytes((uint64_t)bytes, grown),
			units_format_bytes(limit, max));
		return true;
	}
	return false;
}

static int report_missing(const struct options *o, const struct side *sides)
{
	int status = EXIT_DONE;

	for (size_t i = 0; i < 2; i++)
		if (sides[i].moment.processes.count == 0 &&
		    !targets_are_all(&o->targets)) {
			message("%s: contains none of the selected processes at that "
				"time",
				o->args[i]);
			status = EXIT_PARTIAL;
		}
	return status;
}

/*
 * Append the options with which other commands show the same sample or capture, such as
 * "--replay FILE --at TIME".
 */
static void add_place(struct strbuf *out, const struct side *side)
{
	strbuf_add_text(out, is_folder(side->path) ? " --procfs " : " --replay ");
	text_add_shell_word(out, side->path);
	if (side->at) {
		strbuf_add_text(out, " --at ");
		text_add_shell_word(out, side->at);
	}
}

/*
 * Append a command that repeats the comparison with the last sample of the second file
 * that contains a process.
 */
static void add_next(struct strbuf *out, const struct options *o,
		     const struct side *after)
{
	char utc[CLOCK_TEXT_SIZE];

	strbuf_add_text(out, "memstate diff ");
	text_add_shell_word(out, o->args[0]);
	strbuf_add_char(out, ' ');
	text_add_shell_word(out, after->path);
	strbuf_addf(out, "@%s", clock_format_utc(after->last_ms, utc));
}

static int compare(const struct options *o, const struct side *sides, uint64_t limit)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT, place = STRBUF_INIT;
	_cleanup_strbuf_ struct strbuf next = STRBUF_INIT;
	struct moment_diff diff;
	struct moment_report report = {
		.diff = &diff,
		.before = { o->args[0], &sides[0].moment, sides[0].ended_ms },
		.after = { o->args[1], &sides[1].moment, sides[1].ended_ms },
		.is_selection = !targets_are_all(&o->targets),
		.top = o->top ? (size_t)o->top : OPTIONS_TEXT_TOP,
		.table.exact_bytes = o->exact_bytes,
		.table.no_headings = o->no_headings,
	};
	int status = report_missing(o, sides);

	moment_diff_make(report.before.moment, report.after.moment, &diff);
	if (o->format == FORMAT_CSV) {
		moment_report_add_csv(&out, &report);
	} else if (o->format == FORMAT_JSON) {
		moment_report_add_json(&out, &report);
	} else {
		add_place(&place, &sides[1]);
		report.after_place.options = place.text;
		if (sides[1].last_ms > sides[0].moment.unix_ms) {
			add_next(&next, o, &sides[1]);
			report.next = next.text;
		}
		terminal_fit(&report.table);
		moment_report_add_text(&out, &report);
	}
	if (bytes_known(limit) && is_above(&diff, limit))
		status = EXIT_ABOVE_LIMIT;
	moment_diff_release(&diff);
	return stream_finish(&out, status);
}

int diff_moments_run(struct options *o)
{
	struct side sides[2] = { 0 };
	uint64_t limit;
	int status = check_options(o, &limit);

	for (size_t i = 0; i < 2; i++) {
		moment_init(&sides[i].moment);
		split(o->args[i], &sides[i]);
	}
	for (size_t i = 0; i < 2 && status == EXIT_DONE; i++)
		status = load(o, &sides[i]);
	if (status == EXIT_DONE)
		status = compare(o, sides, limit);
	for (size_t i = 0; i < 2; i++) {
		moment_release(&sides[i].moment);
		free(sides[i].path);
	}
	return status;
}
