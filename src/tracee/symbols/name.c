/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tracee/symbols/name.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/demangle.h"
#include "base/xalloc.h"

/* Suffixes that gcc and clang append to the names of parts and copies of functions. */
static const char *const suffixes[] = {
	".cold", ".part.", ".constprop.", ".isra.", ".lto_priv.", ".llvm.", ".localalias",
};

static size_t length_without_suffix(const char *name)
{
	size_t length = 1 + strcspn(name + 1, "@");

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		const char *found = strstr(name + 1, suffixes[i]);

		if (found && (size_t)(found - name) < length)
			length = (size_t)(found - name);
	}
	return length;
}

void symbol_name_add(struct strbuf *out, const char *name)
{
	_cleanup_free_ char *plain = NULL;

	if (name[0] == '\0')
		return;
	plain = xstrndup(name, length_without_suffix(name));
	if (!demangle_add(out, plain))
		strbuf_add_text(out, plain);
}
