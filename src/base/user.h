/* SPDX-License-Identifier: GPL-2.0-or-later */
/* user - find the names of users. */
#ifndef MS_BASE_USER_H
#define MS_BASE_USER_H

#include <stdint.h>

/*
 * Return the name of the user with the given ID, or NULL if there is no name for the ID.
 * The next call overwrites the name. A static program reads only /etc/passwd, because for
 * other sources the C library would load shared libraries, whose version must match that
 * of the C library.
 */
const char *user_find_name(uint32_t uid);

#endif
