/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/session/absent.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "base/similar.h"
#include "cmd/core/message.h"
#include "cmd/session/session.h"
#include "model/process_name.h"

/*
 * Return true if /proc hides the process. kill(2) then fails with EPERM, which shows that
 * the process exists.
 */
static bool is_hidden(const struct session *session, int pid)
{
	return session->fs.is_live && kill(pid, 0) < 0 && errno == EPERM;
}

static void report_pid(const struct session *session, int pid)
{
	if (session->replay)
		message("%d: no process in the recording has this PID at that time", pid);
	else if (is_hidden(session, pid))
		message("%d: hidden: /proc is mounted with hidepid; run memstate as "
			"root, or as a member of the group that /proc's mount option "
			"gid names",
			pid);
	else
		message_process_error(pid, -ESRCH);
}

static bool is_name_found(const struct targets *targets, size_t index,
			  const struct snapshot *snapshot)
{
	if (targets->names_found)
		return targets->names_found[index];
	for (size_t i = 0; i < snapshot->count; i++) {
		const struct usage *u = &snapshot->usages[i];

		if (process_names_match_line(u->process.comm, u->command,
					     targets->names[index]))
			return true;
	}
	return false;
}

static void report_name(const struct session *session, const char *name)
{
	const struct targets *targets = &session->options->targets;
	_cleanup_strbuf_ struct strbuf names = STRBUF_INIT, hint = STRBUF_INIT;
	struct similar similar = { .word = name };
	size_t count;

	if (session->replay) {
		message("%s: no process in the recording has this name at that time",
			name);
		return;
	}
	count = targets_list_names(&session->fs, targets->name_cache, &names);
	for (size_t at = 0; at < names.length; at += strlen(names.text + at) + 1)
		similar_add(&similar, names.text + at);
	if (targets->unread_count > 0)
		strbuf_addf(
			&hint,
			"; only comm was compared for %zu in state D, because reading "
			"their command lines may block",
			targets->unread_count);
	similar_add_hint(&similar, "", &hint);
	message("%s: none of the %zu processes has this name%s", name, count,
		strbuf_text(&hint));
}

size_t absent_report(const struct session *session, const struct snapshot *snapshot)
{
	const struct targets *targets = &session->options->targets;
	size_t missing = 0;

	for (size_t i = 0; i < targets->pid_count; i++) {
		int pid = targets->pids[i].pid;

		if (session->replay ? snapshot_find(snapshot, pid) != NULL
				    : !targets->pids[i].is_gone)
			continue;
		report_pid(session, pid);
		missing++;
	}
	for (size_t i = 0; i < targets->name_count; i++) {
		if (is_name_found(targets, i, snapshot))
			continue;
		report_name(session, targets->names[i]);
		missing++;
	}
	return missing;
}
