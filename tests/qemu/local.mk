# Cgroup version 2, tested in a qemu guest. Not part of "make check".
EXTRA_DIST += %D%/guest.sh %D%/init
CLEANFILES += %D%/guest.log %D%/guest.trs
.PHONY: check-qemu
check-qemu:
	$(MAKE) check TESTS=%D%/guest.sh

mostlyclean-local:
	rm -rf qemu
