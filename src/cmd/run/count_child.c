/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/run/count_child.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "cmd/core/cmd.h"
#include "cmd/core/message.h"
#include "cmd/core/signals.h"
#include "cmd/run/count_families.h"
#include "cmd/run/program.h"
#include "cmd/run/variants.h"
#include "model/known_names.h"
#include "probe/count/stacks.h"
#include "proc/process/file.h"

/*
 * Before exec, the Rss of the forked copy of memstate grows by at most 1/COPY_GROWTH_PART
 * of memstate's Rss.
 */
#define COPY_GROWTH_PART 8

int count_child_check(const char *name)
{
	struct machine own, machine;
	int r = program_check(name, &machine);

	if (r == -ENOENT)
		return EXIT_NOT_FOUND;
	if (r == -EACCES || r == -ENOEXEC)
		return EXIT_NOT_EXECUTABLE;
	if (r < 0)
		return EXIT_NOT_COUNTED;
	if (machine_read(PROC_OWN_PROGRAM, &own) == 0 &&
	    !machine_is_same(&own, &machine)) {
		message("%s: cannot count calls: it is a %s program for a different "
			"machine type",
			name, machine_bits(&machine));
		return EXIT_NOT_COUNTED;
	}
	return EXIT_DONE;
}

static int find_library(const char *allocator, enum count_library which, char **ret)
{
	bool with_new = allocator && machine_exports(allocator, "_Znwm");
	int r = count_find_library(which, with_new, ret);

	if (r == -EOPNOTSUPP)
		message("cannot count calls: this memstate was built without the agent "
			"library");
	else if (r == -ENOENT)
		message("%s: not installed; required for counting", *ret);
	else if (r < 0)
		message("%s: cannot be preloaded: its path contains ':' or a space",
			*ret);
	return r < 0 ? EXIT_NOT_COUNTED : EXIT_DONE;
}

/*
 * Make the environment of the command. It preloads the counting library first, then the
 * requested allocator, then the libraries that are already in LD_PRELOAD.
 */
static char **make_environment(const struct variant *allocator, char *library,
			       const char *path, const char *stack_mode)
{
	_cleanup_strbuf_ struct strbuf folder = STRBUF_INIT, mode = STRBUF_INIT;
	char **base = environ, **made;

	strbuf_addf(&folder, "%s=%s", count_folder_variable, path);
	strbuf_addf(&mode, "%s=%s", stack_mode_variable, stack_mode ? stack_mode : "");
	if (allocator)
		base = variant_environment(allocator, environ);
	made = variant_environment(
		&(struct variant){ .library = library,
				   .settings =
					   (char *[]){ folder.text, mode.text, NULL } },
		base);
	if (base != environ)
		environment_free(base);
	return made;
}

int count_child_prepare(const struct variant *allocator, const struct count_what *what,
			struct count_folder *folder, char ***ret_environment)
{
	_cleanup_strbuf_ struct strbuf libraries = STRBUF_INIT;
	_cleanup_free_ char *library = NULL;
	const char *where = NULL;
	int r = find_library(allocator ? allocator->library : NULL, what->library,
			     &library);

	if (r != EXIT_DONE)
		return r;
	r = count_folder_create(folder, &where);
	if (r < 0) {
		message_error(where ? where
				    : "cannot create a temporary directory for counting",
			      r);
		return EXIT_NOT_COUNTED;
	}
	strbuf_add_text(&libraries, library);
	if (what->command)
		(void)count_families_find(
			what->command, allocator ? allocator->library : NULL, &libraries);
	*ret_environment = make_environment(allocator, libraries.text, folder->path,
					    what->stack_mode);
	return EXIT_DONE;
}

/*
 * Return the peak Rss in bytes of an idle copy of memstate, measured with a test fork.
 * The peak that wait4(2) reports for a command includes the time before exec, when the
 * command was such a copy. Return BYTES_UNKNOWN if the copy cannot be made or measured.
 */
static uint64_t find_copy_rss_bytes(void)
{
	struct rusage usage = { 0 };
	uint64_t bytes;
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	if (pid < 0 || wait4(pid, NULL, 0, &usage) != pid ||
	    units_bytes_from_kib((uint64_t)usage.ru_maxrss, &bytes) < 0)
		return BYTES_UNKNOWN;
	return bytes;
}

uint64_t count_child_peak_rss(const struct count_child *c)
{
	uint64_t bytes;

	if (!c->child.has_ended || !bytes_known(c->copy_rss_bytes) ||
	    units_bytes_from_kib((uint64_t)c->child.usage.ru_maxrss, &bytes) < 0 ||
	    bytes <= c->copy_rss_bytes + c->copy_rss_bytes / COPY_GROWTH_PART)
		return BYTES_UNKNOWN;
	return bytes;
}

int count_child_start(struct count_child *c)
{
	struct child_setup setup = { .input_fd = c->input_fd,
				     .output_fd = c->output_fd,
				     .error_fd = -1 };
	char **environment;
	int r;

	c->what.command = c->command[0];
	r = count_child_prepare(c->allocator, &c->what, &c->folder, &environment);

	if (r != EXIT_DONE)
		return r;
	setup.environment = environment;
	c->copy_rss_bytes = find_copy_rss_bytes();
	c->start_ns = clock_now_ns();
	r = child_start(&c->child, c->command, &setup);
	environment_free(environment);
	if (r == 0)
		return EXIT_DONE;
	message_error(c->command[0], r);
	return r == -ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

int count_child_read(struct count_child *c)
{
	int r;

	c->own = NULL; /* reading the counts replaces the entry to which c->own points */
	r = count_folder_read(&c->folder, &c->list);
	if (r < 0)
		return r;
	return count_list_find_command(&c->list, c->child.pid, &c->own);
}

int count_child_read_end(struct count_child *c)
{
	int r = count_child_read(c);

	if (r == -ENOENT) {
		message("%s: not counted: the counting library was not preloaded, or could not "
			"create its file in %s: %s",
			c->command[0], c->folder.path, count_folder_problem(&c->folder));
		return EXIT_NOT_COUNTED;
	}
	if (r < 0) {
		message_error(c->folder.path, r);
		return EXIT_NOT_COUNTED;
	}
	if (c->own && c->own->has_other_malloc) {
		message("%s: not counted: it has its own malloc", c->own->name);
		return EXIT_NOT_COUNTED;
	}
	return EXIT_DONE;
}

void count_child_hint(const struct count_child *c, bool with_children)
{
	const struct count_list *list = &c->list;
	const struct count_program *own = c->own;

	if (own && own->has_other_new)
		message("hint: this allocator has its own C++ new and delete, which "
			"are not counted; use --preload %s to count them",
			own->allocator);
	if (own && wrapper_name_is(own->name))
		message("hint: only %s itself was counted, not any program that it "
			"started",
			own->name);
	if (with_children || list->count == 1)
		return;
	if (!own)
		message("hint: %s started several programs; all are shown",
			c->command[0]);
	else
		message("hint: %zu other %s also counted (children, or programs before "
			"an exec); use -t to show them",
			list->count - 1,
			list->count == 2 ? "program was" : "programs were");
}

bool count_child_must_wait(struct count_child *c, int *stops)
{
	if (signals_stop_count() == *stops)
		return true;
	*stops = signals_stop_count();
	if (signals_last_stop() != SIGINT)
		child_signal(&c->child, signals_last_stop());
	return *stops < 2;
}

int count_child_status(const struct count_child *c)
{
	int status = c->child.wait_status;

	if (!c->child.has_ended)
		return EXIT_BY_SIGNAL + signals_last_stop();
	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	child_report(&c->child, c->command[0]);
	return EXIT_BY_SIGNAL + WTERMSIG(status);
}

void count_child_release(struct count_child *c)
{
	count_list_release(&c->list);
	count_folder_release(&c->folder);
	c->own = NULL;
}
