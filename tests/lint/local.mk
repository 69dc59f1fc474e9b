# tests/lint
TESTS += \
	%D%/check-completion.sh \
	%D%/check-manpage.sh
EXTRA_DIST += \
	%D%/check-completion.sh \
	%D%/check-manpage.sh
