# tests/cli
TESTS += %D%/readme.sh
EXTRA_DIST += \
	%D%/readme.sh \
	tests/fixtures/demo
