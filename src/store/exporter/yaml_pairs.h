/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * yaml_pairs - flatten a YAML document of nested maps into pairs of a path, such as
 * "tls_server_config.cert_file", and a scalar value.
 */
#ifndef MS_STORE_EXPORTER_YAML_PAIRS_H
#define MS_STORE_EXPORTER_YAML_PAIRS_H

#include <stddef.h>

#include "base/strbuf.h"

/*
 * Called for each pair. A negative return value stops yaml_pairs_read(), which
 * returns the value.
 */
typedef int (*yaml_pair_fn)(void *context, const char *key, const char *value);

/*
 * Read the document. Return 0; -EBADMSG if it is not YAML, or contains lists, anchors,
 * duplicate keys, or more than three levels; -EOPNOTSUPP if libyaml is missing; or the
 * result of fn. On failure, *problem contains a message, unless fn failed.
 */
int yaml_pairs_read(const char *text, size_t length, yaml_pair_fn fn, void *context,
		    struct strbuf *problem);

#endif
