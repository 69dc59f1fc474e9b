# tests/unit
if HAVE_CMOCKA
check_PROGRAMS += %D%/test_watch
TESTS += %D%/test_watch
%C%_test_watch_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
%C%_test_watch_LDADD = $(SAMPLE_LIBS) $(CMOCKA_LIBS)
endif
