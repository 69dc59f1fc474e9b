/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * yaml_pairs - read a YAML document of nested maps as pairs: a path such as
 * "tls_server_config.cert_file", and a scalar value or a list of scalar values.
 */
#ifndef MS_STORE_EXPORTER_YAML_PAIRS_H
#define MS_STORE_EXPORTER_YAML_PAIRS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"

/*
 * Function that is called for each pair. If is_list is set, the value is an item of the
 * list of this key; the first call for a list has the value NULL. If the function returns
 * a negative value, yaml_pairs_read() stops and returns that value.
 */
typedef int (*yaml_pair_fn)(void *context, const char *key, const char *value,
			    bool is_list);

/*
 * Read the document. Return 0; -EBADMSG if it is not YAML, or contains lists of lists or
 * maps, anchors, duplicate keys, or more than three levels; -EOPNOTSUPP if libyaml is
 * missing; or the result of fn. On failure, *problem contains a message, unless the
 * returned error came from fn.
 */
int yaml_pairs_read(const char *text, size_t length, yaml_pair_fn fn, void *context,
		    struct strbuf *problem);

#endif
