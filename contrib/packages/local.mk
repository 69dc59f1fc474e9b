# One file that needs no shared library, and packages, which start from the tarball of
# `make dist`.
STATIC_BUILD = $(abs_top_builddir)/build-static
# musl makes a smaller file: make static STATIC_CC=musl-gcc STATIC_FLAGS=--without-ncurses
STATIC_CC = $(CC)
STATIC_FLAGS =
static:
	$(MKDIR_P) $(STATIC_BUILD)
	cd $(STATIC_BUILD) && $(abs_top_srcdir)/configure -q --enable-static-program \
		CC='$(STATIC_CC)' $(STATIC_FLAGS)
	$(MAKE) -C $(STATIC_BUILD) memstate
	$(STRIP) -o memstate-static $(STATIC_BUILD)/memstate
	@! $(OBJDUMP) -p memstate-static | grep NEEDED
	./memstate-static --version
# The static program in an empty root, and the packages in roots of their own.
check-static: static
	$(SHELL) $(srcdir)/%D%/check-static.sh ./memstate-static
check-deb: dist
	$(SHELL) $(srcdir)/%D%/check-deb.sh $(distdir).tar.xz
check-rpm: dist
	$(SHELL) $(srcdir)/%D%/check-rpm.sh $(distdir).tar.xz
check-oci: dist
	$(SHELL) $(srcdir)/%D%/check-oci.sh $(distdir).tar.xz
check-packages: check-static check-deb check-rpm check-oci
.PHONY: static check-static check-deb check-rpm check-oci check-packages
CLEANFILES += memstate-static
clean-local:
	rm -rf build-static
EXTRA_DIST += %D%/check-static.sh %D%/check-deb.sh %D%/check-rpm.sh %D%/check-oci.sh %D%/check_lib.sh
EXTRA_DIST += contrib/rpm/memstate.spec contrib/oci/Containerfile
EXTRA_DIST += debian/changelog debian/control debian/copyright \
	debian/memstate-exporter.install \
	debian/memstate-exporter.lintian-overrides debian/memstate.install \
	debian/memstate.lintian-overrides debian/rules debian/source/format \
	debian/source/lintian-overrides debian/watch
