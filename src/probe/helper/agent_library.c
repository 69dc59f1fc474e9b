/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/helper/agent_library.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/helper/abi.h"
#include "base/key_lines.h"
#include "base/strbuf.h"
#include "base/xalloc.h"
#include "proc/process/file.h"

/*
 * PKGLIBDIR is normally defined in local.mk. The definition here is for static analyzers,
 * which do not read makefiles.
 */
#ifndef PKGLIBDIR
#	define PKGLIBDIR "/usr/local/lib/memstate"
#endif

#define LIBRARY "libmemstate-agent.so"
#define PRELOAD "LD_PRELOAD="
#define FILTERS AGENT_FILTERS_VARIABLE "="

/*
 * Return the path of the file in the build tree, or NULL if memstate does not run from a
 * build tree.
 */
static char *find_beside_program(const char *name)
{
	struct strbuf path = STRBUF_INIT;
	char program[PATH_MAX];
	ssize_t length = readlink(PROC_OWN_PROGRAM, program, sizeof(program));

	while (length > 0 && program[length - 1] != '/')
		length--;
	if (length <= 0)
		return NULL;
	strbuf_add(&path, program, (size_t)length);
	strbuf_addf(&path, "src/agent/%s", name);
	if (access(path.text, R_OK) == 0)
		return strbuf_take(&path);
	strbuf_release(&path);
	return NULL;
}

int agent_library_find_named(const char *name, char **ret)
{
	struct strbuf path = STRBUF_INIT;

	*ret = NULL;
	if (!HAVE_AGENT)
		return -EOPNOTSUPP;
	*ret = find_beside_program(name);
	if (!*ret) {
		strbuf_addf(&path, PKGLIBDIR "/%s", name);
		*ret = strbuf_take(&path);
		if (access(*ret, R_OK) < 0)
			return -ENOENT;
	}
	return strpbrk(*ret, " :") ? -EINVAL : 0;
}

int agent_library_find(char **ret)
{
	return agent_library_find_named(LIBRARY, ret);
}

/*
 * Return an environment string that sets AGENT_FILTERS_VARIABLE to the number of seccomp
 * filters of this process ("Seccomp_filters:" in /proc/self/status, since Linux 5.9). If
 * a child process has more filters, memstate did not install them.
 */
static char *filters_setting(const struct procfs *fs)
{
	struct strbuf status = STRBUF_INIT, setting = STRBUF_INIT;
	uint64_t filters = 0;

	if (proc_file_read(fs, getpid(), PROC_STATUS, KEY_LINES_BYTES_MAX, &status) == 0)
		(void)key_lines_find_u64(strbuf_text(&status),
					 "Seccomp_filters:", &filters);
	strbuf_add_text(&setting, FILTERS);
	strbuf_add_u64(&setting, filters);
	strbuf_release(&status);
	return strbuf_take(&setting);
}

static char *preload_setting(const char *before, const char *library)
{
	struct strbuf setting = STRBUF_INIT;

	strbuf_add_text(&setting, PRELOAD);
	if (before && *before) {
		strbuf_add_text(&setting, before);
		strbuf_add_char(&setting, ':');
	}
	strbuf_add_text(&setting, library);
	return strbuf_take(&setting);
}

char **agent_environment(char *const *environment, const char *library,
			 const struct procfs *fs)
{
	const char *before = NULL;
	size_t count = 0, at = 0;
	char **made;

	while (environment[count])
		count++;
	made = xcalloc(count + 3, sizeof(*made));
	for (size_t i = 0; i < count; i++) {
		if (strncmp(environment[i], PRELOAD, strlen(PRELOAD)) == 0)
			before = environment[i] + strlen(PRELOAD);
		else if (strncmp(environment[i], FILTERS, strlen(FILTERS)) != 0)
			made[at++] = xstrdup(environment[i]);
	}
	made[at++] = preload_setting(before, library);
	made[at] = filters_setting(fs);
	return made;
}

void agent_environment_free(char **environment)
{
	for (size_t i = 0; environment && environment[i]; i++)
		free(environment[i]);
	free(environment);
}
