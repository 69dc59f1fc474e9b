/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "probe/agent_library.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/abi.h"
#include "base/strbuf.h"
#include "base/xalloc.h"

#ifndef PKGLIBDIR /* local.mk has it; what only reads the sources has not */
#define PKGLIBDIR "/usr/local/lib/memstate"
#endif

#define LIBRARY "libmemstate-agent.so"
#define PRELOAD "LD_PRELOAD="
#define FILTERS AGENT_FILTERS_VARIABLE "="
#define STATUS_BYTES_MAX (1 << 16)

static char *join(const char *folder, size_t length, const char *rest)
{
	struct strbuf path = STRBUF_INIT;

	strbuf_add(&path, folder, length);
	strbuf_add_text(&path, rest);
	return strbuf_take(&path);
}

/* Where it lies in a build tree; NULL if there is none. */
static char *find_beside_program(void)
{
	char program[PATH_MAX], *path;
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program));

	while (length > 0 && program[length - 1] != '/')
		length--;
	if (length <= 0)
		return NULL;
	path = join(program, (size_t)length, "src/agent/" LIBRARY);
	if (access(path, R_OK) == 0)
		return path;
	free(path);
	return NULL;
}

int agent_library_find(char **ret)
{
	*ret = NULL;
	if (!HAVE_AGENT)
		return -EOPNOTSUPP;
	*ret = find_beside_program();
	if (!*ret) {
		*ret = xstrdup(PKGLIBDIR "/" LIBRARY);
		if (access(*ret, R_OK) < 0)
			return -ENOENT;
	}
	return strpbrk(*ret, " :") ? -EINVAL : 0;
}

/* "Seccomp_filters:	1" of this process, since Linux 5.9: others that its children have are not memstate's. */
static char *filters_setting(const struct procfs *fs)
{
	static const char key[] = "\nSeccomp_filters:";
	struct strbuf status = STRBUF_INIT, setting = STRBUF_INIT;
	const char *line = NULL;

	if (procfs_read_file(fs, getpid(), "status", STATUS_BYTES_MAX, &status) == 0)
		line = strstr(strbuf_text(&status), key);
	strbuf_add_text(&setting, FILTERS);
	strbuf_add_u64(&setting, line ? strtoul(line + strlen(key), NULL, 10) : 0);
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

char **agent_environment(char *const *environment, const char *library, const struct procfs *fs)
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
