# tests/live
check_PROGRAMS += %D%/capture_target
%C%_capture_target_LDADD = -lpthread
TESTS += \
	%D%/capture_redact.sh \
	%D%/capture_same_report.sh \
	%D%/capture_trouble.sh
EXTRA_DIST += \
	%D%/capture_lib.sh \
	%D%/capture_redact.sh \
	%D%/capture_same_report.sh \
	%D%/capture_trouble.sh
