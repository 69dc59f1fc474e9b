# Cgroup version 2 and soft-dirty bits, tested in a qemu guest. Not part of "make check".
EXTRA_DIST += %D%/guest.sh %D%/soft_dirty.sh %D%/init %D%/hold_perf_event.py
CLEANFILES += %D%/guest.log %D%/guest.trs %D%/soft_dirty.log %D%/soft_dirty.trs
.PHONY: check-qemu check-qemu-swapped
check-qemu:
	$(MAKE) check TESTS=%D%/guest.sh
	$(MAKE) check TESTS=%D%/soft_dirty.sh

# Heaps of which random pages are swapped out; takes some minutes.
check-qemu-swapped:
	MEMSTATE_QEMU_SWAPPED=yes $(MAKE) check TESTS=%D%/guest.sh
	cat %D%/guest.log

mostlyclean-local:
	rm -rf qemu
