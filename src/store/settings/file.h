/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * file - the settings file of the user. The functions return these errors in addition to
 * those of system calls:
 *
 * -EPERM            the file or its directory belongs to another user, or memstate runs
 *                   with another user's privileges
 * -EINVAL           not a regular file
 * -EFBIG            too large for a settings file
 * -EBADMSG          not text
 * -EPROTONOSUPPORT  from another version of memstate
 * -EBUSY            another process has locked the directory for longer than a second
 */
#ifndef MS_STORE_SETTINGS_FILE_H
#define MS_STORE_SETTINGS_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"
#include "model/settings.h"

/*
 * Find the path of the settings file. config_home and home are the values of
 * XDG_CONFIG_HOME and HOME, or NULL; relative paths are ignored. Return false if neither
 * is usable.
 */
bool settings_file_find(const char *config_home, const char *home, struct strbuf *ret);

/*
 * Read the settings file as settings_text_parse() does. If the file does not exist, *ret
 * has no settings. Return 0 or -errno.
 */
int settings_file_read(const char *path, struct settings *ret, size_t *ret_bad_line);

/*
 * Change settings in the file as settings_text_change() does, or create the file. The
 * file is read again and replaced as a whole under a lock, so that several processes can
 * change different settings. A symlink to the file is preserved. The target of a dangling
 * symlink is created if its directory exists; other missing directories are created.
 * Return 0, or -errno with the file unchanged.
 */
int settings_file_change(const char *path, const struct settings *changes,
			 const bool is_rejected[SETTING_COUNT_]);

#endif
