/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/exporter/web_users.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "store/exporter/web_file.h"

#define CHECKS_PER_SECOND 4

/*
 * A hash that matches no password. It is checked for unknown user names, so that the
 * response time does not reveal whether a name exists.
 */
#define NO_HASH "$2b$10$......................................................"

#if HAVE_CRYPT

#	include <crypt.h>

#	include "base/library.h"

/* clang-format off */
#	define CRYPT_FUNCTIONS(X) X(crypt_r)
/* clang-format on */

LIBRARY_DEFINE(libcrypt, "libcrypt.so.1", CRYPT_FUNCTIONS);

bool web_users_load(void)
{
	return library_load(&libcrypt_library);
}

/* Compare two strings in a time that does not depend on where they differ. */
static bool is_equal(const char *a, const char *b)
{
	size_t length = strlen(a);
	unsigned char difference = 0;

	if (length != strlen(b))
		return false;
	for (size_t i = 0; i < length; i++)
		difference |= (unsigned char)(a[i] ^ b[i]);
	return difference == 0;
}

static bool matches(const char *password, const char *hash)
{
	struct crypt_data *data = xcalloc(1, sizeof(*data));
	const char *result = libcrypt.crypt_r(password, hash, data);
	bool is_right = result && is_equal(result, hash);

	explicit_bzero(data, sizeof(*data));
	free(data);
	return is_right;
}

#else

bool web_users_load(void)
{
	return false;
}

static bool is_equal(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

static bool matches(const char *password, const char *hash)
{
	(void)password;
	(void)hash;
	return false;
}

#endif

static bool is_known(const struct web_users *users, const char *user,
		     const char *password)
{
	bool is_found = false;

	for (size_t i = 0; i < users->known_count; i++)
		is_found |= strcmp(users->known[i].user, user) == 0 &&
			    is_equal(users->known[i].password, password);
	return is_found;
}

static void remember(struct web_users *users, const char *user, const char *password)
{
	struct known_user *known = &users->known[users->next++ % WEB_USERS_KNOWN_MAX];

	if (users->known_count < WEB_USERS_KNOWN_MAX)
		users->known_count++;
	else if (known->password)
		explicit_bzero(known->password, strlen(known->password));
	free(known->user);
	free(known->password);
	known->user = xstrdup(user);
	known->password = xstrdup(password);
}

static bool is_busy(struct web_users *users)
{
	uint64_t now_ns = clock_now_ns();

	if (now_ns - users->second_ns >= NS_PER_S) {
		users->second_ns = now_ns;
		users->check_count = 0;
	}
	return ++users->check_count > CHECKS_PER_SECOND;
}

static const char *find(const char *settings, size_t length, const char *name)
{
	size_t name_length = strlen(name);
	const char *user = NULL;

	while ((user = web_settings_next(settings, length, WEB_USER, user)))
		if (strncmp(user, name, name_length) == 0 && user[name_length] == ':')
			return user;
	return NULL;
}

enum web_user_result web_users_check(struct web_users *users, const char *settings,
				     size_t length, const char *name,
				     const char *password)
{
	const char *user = find(settings, length, name);
	const char *hash = user ? user + strlen(name) + 1 : NO_HASH;

	if (user && is_known(users, user, password))
		return WEB_USER_RIGHT;
	if (is_busy(users))
		return WEB_USER_BUSY;
	if (!matches(password, hash) || !user)
		return WEB_USER_WRONG;
	remember(users, user, password);
	return WEB_USER_RIGHT;
}

void web_users_clear(struct web_users *users)
{
	for (size_t i = 0; i < users->known_count; i++) {
		explicit_bzero(users->known[i].password,
			       strlen(users->known[i].password));
		free(users->known[i].user);
		free(users->known[i].password);
	}
	memset(users, 0, sizeof(*users));
}
