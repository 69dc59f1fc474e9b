/* SPDX-License-Identifier: GPL-2.0-or-later */
/* web_library - the functions of libmicrohttpd and GnuTLS, loaded on demand. */
#ifndef MS_CMD_EXPORTER_WEB_LIBRARY_H
#define MS_CMD_EXPORTER_WEB_LIBRARY_H

#if HAVE_MICROHTTPD

#	include <gnutls/gnutls.h>
#	include <gnutls/x509.h>
#	include <microhttpd.h>

#	include "base/library.h"

/* clang-format off */
#	define MHD_FUNCTIONS(X) \
		X(MHD_start_daemon) X(MHD_stop_daemon) X(MHD_quiesce_daemon) X(MHD_run) \
		X(MHD_get_daemon_info) X(MHD_get_connection_info) X(MHD_get_timeout) \
		X(MHD_create_response_from_buffer) \
		X(MHD_create_response_from_buffer_with_free_callback_cls) \
		X(MHD_add_response_header) X(MHD_queue_response) X(MHD_destroy_response) \
		X(MHD_lookup_connection_value) X(MHD_get_connection_values) \
		X(MHD_basic_auth_get_username_password) \
		X(MHD_queue_basic_auth_fail_response) X(MHD_free)
#	define GNUTLS_FUNCTIONS(X) \
		X(gnutls_certificate_verify_peers2) X(gnutls_certificate_get_peers) \
		X(gnutls_x509_crt_init) X(gnutls_x509_crt_import) \
		X(gnutls_x509_crt_get_subject_alt_name2) X(gnutls_x509_crt_deinit)
/* clang-format on */

struct mhd_functions {
	MHD_FUNCTIONS(LIBRARY_POINTER)
};
struct gnutls_functions {
	GNUTLS_FUNCTIONS(LIBRARY_POINTER)
};

extern struct mhd_functions mhd;
extern struct gnutls_functions tls;

/* Load libmicrohttpd and GnuTLS. Return false if one of them is missing. */
bool web_library_load(void);

#endif
#endif
