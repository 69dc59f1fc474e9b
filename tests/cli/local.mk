# Command-line tests
cli_tests = \
	%D%/doctor_capture.sh \
	%D%/read_cost.sh \
	%D%/guide.sh
TESTS += $(cli_tests)
EXTRA_DIST += $(cli_tests) tests/fixtures/demo

# Golden tests: output on captured trees, word for word; see golden.sh
golden_tests = \
	%D%/golden_broken.sh \
	%D%/golden_csv.sh \
	%D%/golden_exporter.sh \
	%D%/golden_json.sh \
	%D%/golden_kernels.sh \
	%D%/golden_map.sh \
	%D%/golden_names.sh \
	%D%/golden_stacks.sh \
	%D%/golden_text.sh \
	%D%/golden_usage.sh
TESTS += $(golden_tests)
EXTRA_DIST += \
	$(golden_tests) \
	$(golden_tests:.sh=.exp) \
	%D%/golden.sh \
	tests/fixtures/broken \
	tests/fixtures/broken-stat \
	tests/fixtures/names \
	tests/fixtures/newer-kernel \
	tests/fixtures/old-kernel \
	tests/fixtures/plain \
	tests/fixtures/profiles
