/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * negotiate - choose the format and the encoding of a response from the headers Accept
 * and Accept-Encoding (RFC 9110, 12.5). The functions are pure.
 */
#ifndef MS_RENDER_EXPORTER_NEGOTIATE_H
#define MS_RENDER_EXPORTER_NEGOTIATE_H

#include "render/exporter/exposition.h"

/*
 * Return OpenMetrics if the client accepts its version 1.0.0 with at least the quality
 * value of the text format. Otherwise return the text format. accept may be NULL.
 */
enum exposition_format negotiate_format(const char *accept);

/* Return true if the client accepts gzip. accept_encoding may be NULL. */
bool negotiate_gzip(const char *accept_encoding);

#endif
