/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/session/groups.h"

#include <errno.h>
#include <unistd.h>

#include "cmd/core/message.h"
#include "sample/process/cgroup_sampler.h"

int groups_check_options(const struct options *o)
{
	const char *problem = NULL;

	if (!o->cgroup)
		return EXIT_DONE;
	if (!targets_are_all(&o->targets))
		problem = "--cgroup and -p are mutually exclusive";
	else if (o->command)
		problem = "--cgroup and a command are mutually exclusive";
	else if (o->recording.replay)
		problem = "--cgroup and --replay are mutually exclusive";
	else if (o->heap == HEAP_HELPER)
		problem = "--heap helper injects a thread into processes: select them "
			  "with -p";
	if (!problem)
		return EXIT_DONE;
	message_usage(o->verb, "%s", problem);
	return EXIT_BAD_USAGE;
}

/*
 * Print a message that explains why the cgroup could not be opened. Return EXIT_FAILED.
 */
static int groups_report_open(const struct cgroup_target *target, int error)
{
	if (error == -EOPNOTSUPP)
		message("no memory controller is visible: it is disabled, or its files "
			"are not mounted");
	else if (target->name && (error == -ENOENT || error == -ESRCH))
		message("%s: no such cgroup; use its directory, its path as in "
			"/proc/PID/cgroup, or at least 12 digits of its container ID",
			target->name);
	else if (target->name && error == -EEXIST)
		message("%s: several cgroups match this ID; use a path", target->name);
	else if (target->name)
		message_error(target->name, error);
	else if (error == -EXDEV)
		message("%d: the cgroup of this process is not visible from this "
			"namespace",
			target->pid);
	else
		message_process_error(target->pid, error);
	return EXIT_FAILED;
}

int groups_begin(struct session *session)
{
	struct options *o = session->options;
	const struct cgroup_target target = { .name = o->cgroup };
	int r;

	if (!o->cgroup)
		return EXIT_DONE;
	if (!session->fs.is_live) {
		message("%s: a capture does not contain cgroups",
			session->options->procfs_root);
		return EXIT_FAILED;
	}
	cgroup_init(&session->cgroup);
	r = group_processes_open(&session->fs, &target, &o->targets.group);
	if (r == 0 && o->recording.record)
		r = cgroup_sampler_open(&session->fs, session->sampler, &target,
					&session->group);
	return r < 0 ? groups_report_open(&target, r) : EXIT_DONE;
}

void groups_end(struct session *session)
{
	cgroup_sampler_free(session->group);
	if (session->group)
		cgroup_release(&session->cgroup);
	group_processes_free(session->options->targets.group);
	session->group = NULL;
	session->options->targets.group = NULL;
}

const struct cgroup *groups_read(struct session *session)
{
	return session->group &&
			       cgroup_sampler_read(session->group, &session->cgroup) == 0
		       ? &session->cgroup
		       : NULL;
}

/*
 * Find the pid of the single target process, whose cgroup is requested. If there are no
 * targets, return the pid of memstate itself.
 */
static int find_pid(struct session *session, int *ret)
{
	struct targets *targets = &session->options->targets;
	struct snapshot list;
	int status;

	if (targets_are_all(targets)) {
		*ret = getpid();
		return EXIT_DONE;
	}
	snapshot_init(&list);
	status = session_list(session, NEED_STAT, &list);
	if (status == EXIT_DONE && list.count == 1) {
		*ret = list.usages[0].process.pid;
	} else if (status == EXIT_DONE) {
		status = session_report_missing(session, &list);
		if (status == EXIT_DONE) {
			message_usage(session->options->verb,
				      "%zu processes selected; select one process of "
				      "the cgroup with -p PID, or the cgroup with "
				      "--cgroup",
				      list.count);
			status = EXIT_BAD_USAGE;
		}
	}
	snapshot_release(&list);
	return status;
}

int groups_open(struct session *session, struct cgroup_sampler **ret)
{
	struct cgroup_target target = { .name = session->options->cgroup };
	int status = target.name ? EXIT_DONE : find_pid(session, &target.pid);
	int r;

	if (status != EXIT_DONE)
		return status;
	r = cgroup_sampler_open(&session->fs, session->sampler, &target, ret);
	return r < 0 ? groups_report_open(&target, r) : EXIT_DONE;
}
