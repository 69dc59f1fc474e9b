/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * runtime_tools - identify the language runtime of a process from its mapped files, and
 * name the tool that shows the runtime's heap. The functions are pure.
 */
#ifndef MS_CLASSIFY_PROCESS_RUNTIME_TOOLS_H
#define MS_CLASSIFY_PROCESS_RUNTIME_TOOLS_H

#include "base/strbuf.h"
#include "model/usage.h"

/*
 * Append a sentence that names the language runtime and its tool, and return true. Return
 * false if the process does not map a known runtime.
 */
bool runtime_tools_add(struct strbuf *out, const struct usage *u,
		       const struct mapping_list *mappings);

#endif
