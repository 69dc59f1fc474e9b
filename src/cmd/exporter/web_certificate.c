/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/exporter/web_certificate.h"

#if HAVE_MICROHTTPD

#	include <arpa/inet.h>
#	include <netinet/in.h>
#	include <string.h>

#	include "cmd/exporter/web_library.h"
#	include "store/exporter/web_file.h"

/* Maximum number of names of a certificate that are checked. */
#	define NAMES_MAX 1000

static bool has_name(const char *settings, size_t length, const void *name, size_t size)
{
	const char *allowed = NULL;

	while ((allowed = web_settings_next(settings, length, WEB_CLIENT_NAME, allowed)))
		if (strlen(allowed) == size && memcmp(allowed, name, size) == 0)
			return true;
	return false;
}

/*
 * Return true if the settings allow the IP address, which is compared in its text form.
 * An IPv4-mapped address counts as IPv4.
 */
static bool has_address(const char *settings, size_t length, const void *bytes,
			size_t size)
{
	char text[INET6_ADDRSTRLEN];
	struct in6_addr address;
	int family = AF_INET;

	if (size == sizeof(address)) {
		memcpy(&address, bytes, sizeof(address));
		family = IN6_IS_ADDR_V4MAPPED(&address) ? AF_INET : AF_INET6;
		if (family == AF_INET)
			memmove(&address, address.s6_addr + 12, 4);
	} else if (size == sizeof(struct in_addr)) {
		memcpy(&address, bytes, size);
	} else {
		return false;
	}
	return inet_ntop(family, &address, text, sizeof(text)) &&
	       has_name(settings, length, text, strlen(text));
}

bool web_certificate_name_is_allowed(int type, const void *name, size_t size,
				     const char *settings, size_t length)
{
	switch (type) {
	case GNUTLS_SAN_DNSNAME:
	case GNUTLS_SAN_RFC822NAME:
	case GNUTLS_SAN_URI: return has_name(settings, length, name, size);
	case GNUTLS_SAN_IPADDRESS: return has_address(settings, length, name, size);
	default: return false;
	}
}

static bool has_allowed_name(gnutls_x509_crt_t certificate, const char *settings,
			     size_t length)
{
	/* with room for the NUL that GnuTLS adds */
	char name[WEB_CLIENT_NAME_MAX + 1];

	for (unsigned int i = 0; i < NAMES_MAX; i++) {
		size_t size = sizeof(name);
		int type = tls.gnutls_x509_crt_get_subject_alt_name2(certificate, i, name,
								     &size, NULL, NULL);

		/*
		 * a name that does not fit into the buffer is longer than
		 * any allowed name
		 */
		if (type == GNUTLS_E_SHORT_MEMORY_BUFFER)
			continue;
		if (type < 0)
			return false;
		if (web_certificate_name_is_allowed(type, name, size, settings, length))
			return true;
	}
	return false;
}

/* Check the names of the client's own certificate, which is the first of its chain. */
static bool has_allowed_peer(gnutls_session_t session, const char *settings,
			     size_t length)
{
	unsigned int count = 0;
	const gnutls_datum_t *chain = tls.gnutls_certificate_get_peers(session, &count);
	gnutls_x509_crt_t certificate;
	bool is_allowed;

	if (!chain || count == 0 || tls.gnutls_x509_crt_init(&certificate) < 0)
		return false;
	is_allowed = tls.gnutls_x509_crt_import(certificate, &chain[0],
						GNUTLS_X509_FMT_DER) == 0 &&
		     has_allowed_name(certificate, settings, length);
	tls.gnutls_x509_crt_deinit(certificate);
	return is_allowed;
}

bool web_certificate_is_allowed(gnutls_session_t session, const char *settings,
				size_t length)
{
	unsigned int status = 1;

	if (tls.gnutls_certificate_verify_peers2(session, &status) < 0 || status != 0)
		return false;
	return !web_settings_next(settings, length, WEB_CLIENT_NAME, NULL) ||
	       has_allowed_peer(session, settings, length);
}

#endif
