/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * runtime_tools - recognize the language runtime of a process by the files that it has
 * mapped, and name the tool that shows the runtime's own heap. Pure.
 */
#ifndef MS_CLASSIFY_PROCESS_RUNTIME_TOOLS_H
#define MS_CLASSIFY_PROCESS_RUNTIME_TOOLS_H

#include "base/strbuf.h"
#include "model/usage.h"

/*
 * Append a sentence that names the runtime and its tool, and return true. Return false if
 * the process has mapped no code of a known runtime.
 */
bool runtime_tools_add(struct strbuf *out, const struct usage *u,
		       const struct mapping_list *mappings);

#endif
