# Rules that a program can check, of the sources and of what memstate says about itself.
lint_tests = \
	%D%/check-columns.sh \
	%D%/check-completion.sh \
	%D%/check-headers.sh \
	%D%/check-layers.sh \
	%D%/check-lists.sh \
	%D%/check-manpage.sh \
	%D%/check-style.sh \
	%D%/check-units.sh \
	%D%/check-usage.sh
TESTS += $(lint_tests)
EXTRA_DIST += $(lint_tests)
