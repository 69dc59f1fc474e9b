/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "cmd/exporter/web_library.h"

#if HAVE_MICROHTTPD

struct mhd_functions mhd;
struct gnutls_functions tls;

static const char *const mhd_names[] = { MHD_FUNCTIONS(LIBRARY_NAME) };
static const char *const tls_names[] = { GNUTLS_FUNCTIONS(LIBRARY_NAME) };
static struct library mhd_library = LIBRARY_INIT("libmicrohttpd.so.12", mhd_names, mhd);
static struct library tls_library = LIBRARY_INIT("libgnutls.so.30", tls_names, tls);

bool web_library_load(void)
{
	return library_load(&mhd_library) && library_load(&tls_library);
}

#endif
