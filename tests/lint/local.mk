# Rules for the sources, and for what memstate prints about itself, that a
# program can check.
lint_tests = \
	%D%/check-ci.sh \
	%D%/check-columns.sh \
	%D%/check-completion-fish.sh \
	%D%/check-completion-zsh.sh \
	%D%/check-completion.sh \
	%D%/check-docs.sh \
	%D%/check-format.sh \
	%D%/check-hardening.sh \
	%D%/check-headers.sh \
	%D%/check-kubernetes.sh \
	%D%/check-layers.sh \
	%D%/check-lists.sh \
	%D%/check-manpage.sh \
	%D%/check-metrics.sh \
	%D%/check-mixin.sh \
	%D%/check-modules.sh \
	%D%/check-procfs.sh \
	%D%/check-schema.sh \
	%D%/check-scripts.sh \
	%D%/check-style.sh \
	%D%/check-systemd.sh \
	%D%/check-units.sh \
	%D%/check-usage.sh \
	%D%/check-width.sh \
	%D%/check-words.sh
TESTS += $(lint_tests)
EXTRA_DIST += $(lint_tests) %D%/words.txt %D%/words-allowed.txt

check_PROGRAMS += %D%/list_columns
%C%_list_columns_LDADD = $(RENDER_LIBS) -lm

# Write the schema of the columns anew, after a change of their tables.
schema: %D%/list_columns$(EXEEXT)
	%D%/list_columns$(EXEEXT) >$(srcdir)/doc/schema/columns.json
.PHONY: schema

if HAVE_NCURSES
check_PROGRAMS += %D%/list_keys
%C%_list_keys_SOURCES = %D%/list_keys.c
%C%_list_keys_LDADD = src/ui/libui.a $(BASE_LIBS)
else
EXTRA_DIST += %D%/list_keys.c
endif
