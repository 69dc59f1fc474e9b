/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * web_certificate - check a client's certificate against the names in the web file
 * (client_allowed_sans). As with exporter-toolkit, a subject alternative name of the
 * certificate must be equal to one of these names, including case.
 */
#ifndef MS_CMD_EXPORTER_WEB_CERTIFICATE_H
#define MS_CMD_EXPORTER_WEB_CERTIFICATE_H

#include <stdbool.h>
#include <stddef.h>

#if HAVE_MICROHTTPD

#	include <gnutls/gnutls.h>

/*
 * Return true if the client's certificate is valid and has an allowed name. If the
 * settings do not restrict the names, every valid certificate is allowed. The settings
 * are read with web_settings_next().
 */
bool web_certificate_is_allowed(gnutls_session_t session, const char *settings,
				size_t length);

/*
 * Return true if the settings allow the name, which has the given type and `size` bytes.
 * An IP address has 4 or 16 bytes in network byte order. Only DNS names, e-mail
 * addresses, URIs and IP addresses can be allowed.
 */
bool web_certificate_name_is_allowed(int type, const void *name, size_t size,
				     const char *settings, size_t length);

#endif
#endif
