# tests/cli
TESTS += %D%/doctor_capture.sh %D%/readme.sh
EXTRA_DIST += \
	%D%/doctor_capture.sh \
	%D%/readme.sh \
	tests/fixtures/demo
