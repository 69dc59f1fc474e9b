# Tests by kind. Exit status 77 means skipped, with the reason on stderr; 99 is
# a broken harness.
TEST_EXTENSIONS = .sh .py .keys
SH_LOG_COMPILER = $(SHELL)
PY_LOG_COMPILER = $(SHELL) $(srcdir)/tests/live/python
KEYS_LOG_COMPILER = $(SHELL) $(srcdir)/tests/tui/run-keys
AM_TESTS_ENVIRONMENT = \
	LC_ALL=C; TZ=UTC0; COLUMNS=100; export LC_ALL TZ COLUMNS; unset NO_COLOR || :; \
	srcdir='$(abs_srcdir)'; builddir='$(abs_builddir)'; export srcdir builddir; \
	MEMSTATE='$(abs_builddir)/memstate$(EXEEXT)'; export MEMSTATE; \
	LINKED='memstate$(EXEEXT) $(agent_PROGRAMS)'; export LINKED; \
	LAYERS='$(noinst_LIBRARIES)'; export LAYERS; \
	PYTHONDONTWRITEBYTECODE=1; export PYTHONDONTWRITEBYTECODE; \
	CC='$(CC)'; CPPFLAGS='$(CPPFLAGS)'; MAKE='$(MAKE)'; export CC CPPFLAGS MAKE;

EXTRA_DIST += %D%/README.md

include tests/unit/local.mk
include tests/targets/local.mk
include tests/cli/local.mk
include tests/live/local.mk
include tests/tui/local.mk
include tests/fuzz/local.mk
include tests/lint/local.mk
include tests/bench/local.mk
include tests/qemu/local.mk

# Run the unit tests under valgrind, except those that stop, hang or compare their own children: valgrind
# would run the children too, slowly, gives threads other states and registers than the kernel does,
# maps memory of its own in them, and makes system calls that a filter forbids.
VALGRIND = valgrind -q --error-exitcode=1 --leak-check=full
check-valgrind: $(check_PROGRAMS)
	@units=; for t in $(TESTS); do \
		case $$t in *.sh|*.py|*.keys|*/ptrace/test_*|*/heap/test_moment|*/smaps/test_maps|*/test_lister_live|*/test_sandbox) ;; *) units="$$units $$t" ;; esac; \
	done; \
	$(MAKE) check TESTS="$$units" LOG_COMPILER='$(VALGRIND)'
.PHONY: check-valgrind

# All checks of clang-tidy, among them clang's analyzer: takes about 10 minutes. Some parts of
# the agent are built only with COUNT_WITH_STACKS.
TIDY_FLAGS =
check-tidy:
	@cd $(abs_srcdir) && find src -name '*.c' -print0 | xargs -0 -n 8 -P "$$(nproc)" sh -c ' \
		clang-tidy --quiet --warnings-as-errors="*" $(TIDY_FLAGS) "$$@" -- -DCOUNT_WITH_STACKS \
			-I $(abs_builddir) -I $(abs_builddir)/src -I src -std=gnu11 $(NCURSESW_CFLAGS)' sh
.PHONY: check-tidy

# Line coverage by layer: a build of its own, and most tests in it. A test that fails there
# still leaves counts. Code for other processes is built without counts, because it must
# not write files in them.
COVERAGE_BUILD = $(abs_top_srcdir)/build-coverage
COVERAGE_TESTS = unit|cli|tui|live
COVERAGE_MAKE = $(MAKE) -C $(COVERAGE_BUILD) SAN_CFLAGS='--coverage -fprofile-update=prefer-atomic'
coverage:
	$(MKDIR_P) $(COVERAGE_BUILD)
	test -e $(COVERAGE_BUILD)/Makefile || { cd $(COVERAGE_BUILD) && \
		$(abs_top_srcdir)/configure CC='$(CC)' CXX='$(CXX)' CFLAGS='-O0 -g'; }
	find $(COVERAGE_BUILD)/src -name '*.gcda' -delete
	$(COVERAGE_MAKE)
	-$(COVERAGE_MAKE) -k check TESTS="$$($(MAKE) -s --no-print-directory list-tests | \
		grep -E '^tests/($(COVERAGE_TESTS))/' | tr '\n' ' ')"
	$(SHELL) $(srcdir)/%D%/coverage.sh $(COVERAGE_BUILD)
.PHONY: coverage
EXTRA_DIST += %D%/coverage.sh

# List the files of the release, and all tests: for tests/lint/check-lists.sh. List the tests
# of this configuration: for .ci/run.
list-dist:
	@for f in $(DISTFILES); do echo "$$f"; done | sed 's|^$(srcdir)/||'
list-tests:
	@for t in $(TESTS) $(screen_tests); do echo "$$t"; done
list-own-tests:
	@for t in $(TESTS); do echo "$$t"; done
.PHONY: list-dist list-tests list-own-tests

# Re-record the expected output of memstate; a person must review the difference.
bless: memstate$(EXEEXT) $(check_PROGRAMS)
	MEMSTATE_BLESS=yes $(MAKE) check TESTS='$(golden_tests) $(screen_cases)'
	MEMSTATE_BLESS=yes $(MAKE) check TESTS='tests/cli/guide.sh tests/live/doc_commands.py tests/lint/check-modules.sh'
	$(MAKE) pictures
	git -C '$(srcdir)' --no-pager diff --stat -- tests doc README.md
.PHONY: bless
