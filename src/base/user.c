/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/user.h"

#include <pwd.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#ifdef STATIC_PROGRAM

const char *user_find_name(uint32_t uid)
{
	static char name[64];
	const struct passwd *user;
	FILE *file = fopen("/etc/passwd", "re");
	bool is_found = false;

	if (!file)
		return NULL;
	while (!is_found && (user = fgetpwent(file))) {
		is_found = user->pw_uid == uid;
		if (is_found)
			snprintf(name, sizeof(name), "%s", user->pw_name);
	}
	fclose(file);
	return is_found ? name : NULL;
}

#else

const char *user_find_name(uint32_t uid)
{
	const struct passwd *user = getpwuid(uid);

	return user ? user->pw_name : NULL;
}

#endif
