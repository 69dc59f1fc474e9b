/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "store/exporter/web_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/num.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "store/exporter/yaml_pairs.h"

#define FILE_BYTES_MAX ((size_t)1 << 20)
#define USERS_MAX 64

void web_file_release(struct web_file *file)
{
	strbuf_release(&file->settings);
}

struct reading {
	const char *dir;
	struct web_file *file;
	struct strbuf *problem;
	size_t user_count;
	bool has_cert, has_key, has_ca, needs_cert;
	bool has_tls, is_tls13_only, is_tls12_only;
	/* true if the file contains client_allowed_sans, even as an empty list */
	bool has_client_names;
	size_t client_name_count;
	uint64_t rate_interval_ns, rate_burst;
};

static void add_setting(struct reading *reading, enum web_setting setting,
			const char *value)
{
	strbuf_add_char(&reading->file->settings, (char)('0' + (int)setting));
	strbuf_add(&reading->file->settings, value, strlen(value) + 1);
}

/*
 * Append a message to the error text that explains why the value of a key is invalid.
 * Return -EBADMSG.
 */
static int refuse(struct reading *reading, const char *key, const char *why)
{
	strbuf_addf(reading->problem, "%s: %s", key, why);
	return -EBADMSG;
}

/*
 * Mix the identity and the timestamps of a file into `stamp`, a hash that changes when
 * the file changes.
 */
static void add_stamp(uint64_t *stamp, const struct stat *st)
{
	const uint64_t words[] = {
		(uint64_t)st->st_dev,	       (uint64_t)st->st_ino,
		(uint64_t)st->st_size,	       (uint64_t)st->st_mtim.tv_sec,
		(uint64_t)st->st_mtim.tv_nsec, (uint64_t)st->st_ctim.tv_sec,
		(uint64_t)st->st_ctim.tv_nsec,
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		*stamp = (*stamp ^ words[i]) * UINT64_C(0x100000001b3);
}

/* Read a regular file. Its size is limited, and it must not contain NUL bytes. */
static int read_file(const char *path, uint64_t *stamp, struct strbuf *out)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	r = io_read_all(fd, FILE_BYTES_MAX, out);
	if (r == 0 && memchr(strbuf_text(out), '\0', out->length))
		r = -EBADMSG;
	if (r == 0)
		add_stamp(stamp, &st);
	return r;
}

/*
 * Add a certificate or private key. The configuration file contains it directly or names
 * the file that contains it.
 */
static int add_pem(struct reading *reading, enum web_setting setting, bool *has,
		   const char *key, const char *text)
{
	if (*has)
		return refuse(reading, key, "the file contains this and names a file");
	*has = true;
	add_setting(reading, setting, text);
	return 0;
}

static int add_file(struct reading *reading, enum web_setting setting, bool *has,
		    const char *key, const char *name)
{
	_cleanup_strbuf_ struct strbuf path = STRBUF_INIT, text = STRBUF_INIT;
	int r;

	if (name[0] != '/')
		strbuf_addf(&path, "%s/", reading->dir);
	strbuf_add_text(&path, name);
	r = read_file(path.text, &reading->file->stamp, &text);
	if (r < 0) {
		strbuf_addf(reading->problem, "%s: %s: %s", key, path.text, strerror(-r));
		return r;
	}
	return add_pem(reading, setting, has, key, strbuf_text(&text));
}

static int set_client_auth(struct reading *reading, const char *key, const char *value)
{
	if (strcmp(value, "NoClientCert") == 0)
		return 0;
	if (strcmp(value, "RequireAndVerifyClientCert") != 0)
		return refuse(reading, key,
			      "memstate supports only NoClientCert and "
			      "RequireAndVerifyClientCert");
	reading->needs_cert = true;
	add_setting(reading, WEB_NEEDS_CLIENT_CERT, "yes");
	return 0;
}

static int set_version(struct reading *reading, const char *key, const char *value)
{
	if (strcmp(value, "TLS12") == 0)
		return 0;
	if (strcmp(value, "TLS13") != 0)
		return refuse(reading, key, "memstate supports only TLS12 and TLS13");
	reading->is_tls13_only = true;
	add_setting(reading, WEB_TLS13_ONLY, "yes");
	return 0;
}

static int set_max_version(struct reading *reading, const char *key, const char *value)
{
	if (strcmp(value, "TLS13") == 0)
		return 0;
	if (strcmp(value, "TLS12") != 0)
		return refuse(reading, key, "memstate supports only TLS12 and TLS13");
	reading->is_tls12_only = true;
	add_setting(reading, WEB_TLS12_ONLY, "yes");
	return 0;
}

static int set_rate_interval(struct reading *reading, const char *key, const char *value)
{
	return units_parse_duration(value, &reading->rate_interval_ns) == 0
		       ? 0
		       : refuse(reading, key, "not a duration, such as 500ms or 1s");
}

static int set_rate_burst(struct reading *reading, const char *key, const char *value)
{
	return num_parse_u64(value, &reading->rate_burst) == 0
		       ? 0
		       : refuse(reading, key, "not a number");
}

/* memstate serves only HTTP/1.1, so http2 must be off. */
static int set_http2(struct reading *reading, const char *key, const char *value)
{
	return strcmp(value, "false") == 0
		       ? 0
		       : refuse(reading, key, "memstate does not support HTTP/2");
}

/* Check that the text is a bcrypt hash of 60 characters: "$2y$10$…". */
static bool is_bcrypt(const char *hash)
{
	return strlen(hash) == 60 && hash[0] == '$' && hash[1] == '2' &&
	       strchr("aby", hash[2]) && hash[3] == '$' && hash[6] == '$';
}

static int add_user(struct reading *reading, const char *key, const char *name,
		    const char *hash)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (name[0] == '\0' || strchr(name, ':'))
		return refuse(reading, key, "not a valid user name");
	if (!is_bcrypt(hash))
		return refuse(reading, key, "not a bcrypt hash");
	if (++reading->user_count > USERS_MAX)
		return refuse(reading, key, "too many users");
	strbuf_addf(&text, "%s:%s", name, hash);
	add_setting(reading, WEB_USER, text.text);
	return 0;
}

/* The headers that exporter-toolkit allows the user to set. */
static const char *const headers[] = {
	"Content-Security-Policy", "Strict-Transport-Security", "X-Content-Type-Options",
	"X-Frame-Options",	   "X-XSS-Protection",
};

static int add_header(struct reading *reading, const char *key, const char *name,
		      const char *value)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (value[0] == '\0')
		return 0;
	for (const char *at = value; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			return refuse(reading, key, "control character in the value");
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
		if (strcmp(name, headers[i]) != 0)
			continue;
		strbuf_addf(&text, "%s: %s", name, value);
		add_setting(reading, WEB_HEADER, text.text);
		return 0;
	}
	return refuse(reading, key, "this header cannot be set");
}

#define CLIENT_NAMES "tls_server_config.client_allowed_sans"

/*
 * Handle one item of a list. The first call for a list, with the value NULL, announces
 * the list itself.
 */
static int add_item(struct reading *reading, const char *key, const char *value)
{
	if (strcmp(key, CLIENT_NAMES) != 0)
		return refuse(reading, key, "memstate does not support this list");
	reading->has_tls = reading->has_client_names = true;
	if (!value)
		return 0;
	if (value[0] == '\0' || strlen(value) > WEB_CLIENT_NAME_MAX)
		return refuse(reading, key, "a name is empty or too long");
	reading->client_name_count++;
	add_setting(reading, WEB_CLIENT_NAME, value);
	return 0;
}

/* Return the part of the key after the prefix, or NULL if the key has another prefix. */
static const char *skip(const char *key, const char *prefix)
{
	size_t length = strlen(prefix);

	return strncmp(key, prefix, length) == 0 ? key + length : NULL;
}

/*
 * Handle a key of tls_server_config and its value. `name` is the part of the
 * key after the dot.
 */
static int add_tls(struct reading *reading, const char *key, const char *name,
		   const char *value)
{
	reading->has_tls = true;
	if (strcmp(name, "cert") == 0)
		return add_pem(reading, WEB_CERT, &reading->has_cert, key, value);
	if (strcmp(name, "cert_file") == 0)
		return add_file(reading, WEB_CERT, &reading->has_cert, key, value);
	if (strcmp(name, "key") == 0)
		return add_pem(reading, WEB_KEY, &reading->has_key, key, value);
	if (strcmp(name, "key_file") == 0)
		return add_file(reading, WEB_KEY, &reading->has_key, key, value);
	if (strcmp(name, "client_ca") == 0)
		return add_pem(reading, WEB_CLIENT_CA, &reading->has_ca, key, value);
	if (strcmp(name, "client_ca_file") == 0)
		return add_file(reading, WEB_CLIENT_CA, &reading->has_ca, key, value);
	if (strcmp(name, "client_auth_type") == 0)
		return set_client_auth(reading, key, value);
	if (strcmp(name, "min_version") == 0)
		return set_version(reading, key, value);
	if (strcmp(name, "max_version") == 0)
		return set_max_version(reading, key, value);
	if (strcmp(key, CLIENT_NAMES) == 0)
		return refuse(reading, key, "not a list");
	return refuse(reading, key, "memstate does not support this key");
}

/* Handle one pair of the file, such as "tls_server_config.cert_file" and "a.pem". */
static int add_pair(void *context, const char *key, const char *value, bool is_list)
{
	struct reading *reading = context;
	const char *rest;

	if (is_list)
		return add_item(reading, key, value);
	rest = skip(key, "tls_server_config.");
	if (rest)
		return add_tls(reading, key, rest, value);
	if (strcmp(key, "rate_limit.interval") == 0)
		return set_rate_interval(reading, key, value);
	if (strcmp(key, "rate_limit.burst") == 0)
		return set_rate_burst(reading, key, value);
	if (strcmp(key, "http_server_config.http2") == 0)
		return set_http2(reading, key, value);
	rest = skip(key, "basic_auth_users.");
	if (rest)
		return add_user(reading, key, rest, value);
	rest = skip(key, "http_server_config.headers.");
	if (rest)
		return add_header(reading, key, rest, value);
	return refuse(reading, key, "memstate does not support this key");
}

/* Check the rate limit, and add it to the settings. An interval of 0 means no limit. */
static int check_rate(struct reading *reading)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (reading->rate_interval_ns == 0)
		return 0;
	if (reading->rate_burst == 0)
		return refuse(reading, "rate_limit",
			      "with a burst of 0, no request would be answered");
	strbuf_addf(&text, "%" PRIu64 ":%" PRIu64, reading->rate_interval_ns,
		    reading->rate_burst);
	add_setting(reading, WEB_RATE_LIMIT, text.text);
	return 0;
}

static int check(struct reading *reading)
{
	if (reading->has_cert != reading->has_key)
		return refuse(reading, "tls_server_config",
			      "a certificate and a key require each other");
	if (reading->has_ca && !reading->has_cert)
		return refuse(reading, "tls_server_config",
			      "a client CA requires a certificate and a key");
	if (reading->needs_cert != reading->has_ca)
		return refuse(reading, "tls_server_config",
			      "a client CA and the client_auth_type "
			      "RequireAndVerifyClientCert require each other");
	if (reading->has_client_names && !reading->needs_cert)
		return refuse(reading, CLIENT_NAMES,
			      "requires the client_auth_type "
			      "RequireAndVerifyClientCert");
	if (reading->has_client_names && reading->client_name_count == 0)
		return refuse(reading, CLIENT_NAMES,
			      "with an empty list, no client would be allowed");
	if (reading->has_tls && !reading->has_cert)
		return refuse(reading, "tls_server_config",
			      "there is no certificate, so that TLS would be off");
	if (reading->is_tls13_only && reading->is_tls12_only)
		return refuse(reading, "tls_server_config",
			      "max_version is below min_version");
	return check_rate(reading);
}

int web_file_parse(const char *text, size_t length, const char *dir, struct web_file *ret,
		   struct strbuf *problem)
{
	struct web_file file = WEB_FILE_INIT;
	struct reading reading = { .dir = dir, .file = &file, .problem = problem };
	int r = yaml_pairs_read(text, length, add_pair, &reading, problem);

	if (r == 0)
		r = check(&reading);
	if (r < 0) {
		web_file_release(&file);
		return r;
	}
	file.stamp ^= ret->stamp;
	web_file_release(ret);
	*ret = file;
	return 0;
}

int web_file_read(const char *path, struct web_file *ret, struct strbuf *problem)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	_cleanup_free_ char *dir = xstrdup(path);
	struct web_file file = WEB_FILE_INIT;
	char *slash = strrchr(dir, '/');
	int r = read_file(path, &file.stamp, &text);

	if (r < 0) {
		strbuf_add_text(problem, strerror(-r));
		return r;
	}
	if (slash)
		slash[slash == dir] = '\0';
	r = web_file_parse(strbuf_text(&text), text.length, slash ? dir : ".", &file,
			   problem);
	if (r < 0) {
		web_file_release(&file);
		return r;
	}
	web_file_release(ret);
	*ret = file;
	return 0;
}

const char *web_settings_next(const char *settings, size_t length,
			      enum web_setting setting, const char *after)
{
	const char *at = after ? after + strlen(after) + 1 : settings;

	while (at < settings + length) {
		if (*at == '0' + (int)setting)
			return at + 1;
		at += strlen(at) + 1;
	}
	return NULL;
}
