/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * web_file - read the web configuration file of the exporter, which has the format of
 * Prometheus' exporter-toolkit: TLS, passwords and headers. A key that memstate does not
 * support is an error, because ignoring it could weaken the protection.
 */
#ifndef MS_STORE_EXPORTER_WEB_FILE_H
#define MS_STORE_EXPORTER_WEB_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

/* Maximum length of a name in client_allowed_sans. */
#define WEB_CLIENT_NAME_MAX 2048

enum web_setting {
	WEB_CERT, /* contents of tls_server_config.cert_file, in PEM */
	WEB_KEY,
	WEB_CLIENT_CA,
	WEB_NEEDS_CLIENT_CERT, /* value "yes" */
	WEB_TLS13_ONLY,	       /* value "yes" */
	WEB_TLS12_ONLY,	       /* value "yes" */
	/* "INTERVAL_NS:BURST", in decimal digits */
	WEB_RATE_LIMIT,
	WEB_USER,   /* "NAME:HASH", a user of basic_auth_users with the bcrypt hash */
	WEB_HEADER, /* "NAME: VALUE" */
	WEB_CLIENT_NAME, /* a name of tls_server_config.client_allowed_sans */
	WEB_SETTING_COUNT_
};

/*
 * The settings as a sequence of pairs, the form in which they are passed to the serving
 * process. A pair is the byte '0' + enum web_setting, and a value that ends with NUL.
 */
struct web_file {
	struct strbuf settings;
	/*
	 * Hash of the identities and timestamps of all files that were read, for
	 * detecting changes.
	 */
	uint64_t stamp;
};

#define WEB_FILE_INIT          \
	{                      \
		STRBUF_INIT, 0 \
	}

void web_file_release(struct web_file *file);

/*
 * Read the file, and the certificates and keys that it names, relative to its directory.
 * Return 0; -EOPNOTSUPP if memstate was built without libyaml or libyaml is not
 * installed; or -EBADMSG or another -errno. On failure, *ret is unchanged, and *problem
 * contains a one-line message.
 */
int web_file_read(const char *path, struct web_file *ret, struct strbuf *problem);

/*
 * Parse the text of a file that is in the directory dir. Return the same values
 * as web_file_read().
 */
int web_file_parse(const char *text, size_t length, const char *dir, struct web_file *ret,
		   struct strbuf *problem);

/*
 * Return the value that follows `after` among the values of a setting, or the first value
 * if `after` is NULL. Return NULL if there are no more values. `settings` and `length`
 * are the bytes of a struct web_file.
 */
const char *web_settings_next(const char *settings, size_t length,
			      enum web_setting setting, const char *after);

#endif
