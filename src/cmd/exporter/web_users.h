/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * web_users - check passwords against bcrypt hashes. A check takes about 70 ms of CPU
 * time, so memstate remembers successful checks and limits the rate of the others.
 */
#ifndef MS_CMD_EXPORTER_WEB_USERS_H
#define MS_CMD_EXPORTER_WEB_USERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WEB_USERS_KNOWN_MAX 16

struct web_users {
	/* Users and passwords that were accepted: "NAME:HASH" and the password; owned. */
	struct known_user {
		char *user, *password;
	} known[WEB_USERS_KNOWN_MAX];
	size_t known_count, next;
	/* The current second, and the number of password checks in it. */
	uint64_t second_ns;
	unsigned int check_count;
};

enum web_user_result {
	WEB_USER_RIGHT,
	WEB_USER_WRONG,
	WEB_USER_BUSY, /* too many password checks in this second */
};

/* Load libcrypt. Return false if it is missing. */
bool web_users_load(void);

/* Check the password of a user against the settings, as read by web_settings_next(). */
enum web_user_result web_users_check(struct web_users *users, const char *settings,
				     size_t length, const char *name,
				     const char *password);

/* Forget the passwords that were accepted. */
void web_users_clear(struct web_users *users);

#endif
