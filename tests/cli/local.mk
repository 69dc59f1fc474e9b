# tests/cli
cli_tests = \
	%D%/doctor_capture.sh \
	%D%/read_cost.sh \
	%D%/readme.sh
TESTS += $(cli_tests)
EXTRA_DIST += $(cli_tests) tests/fixtures/demo
