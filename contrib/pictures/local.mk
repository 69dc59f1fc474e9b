# Pictures for the documents, drawn from recorded screens: make pictures
PICTURES = \
	doc/pictures/group-dark.svg \
	doc/pictures/group-light.svg \
	doc/pictures/heap-dark.svg \
	doc/pictures/heap-light.svg \
	doc/pictures/process-dark.svg \
	doc/pictures/process-light.svg
EXTRA_DIST += $(PICTURES) %D%/screen_svg.py %D%/draw.sh

pictures:
	$(SHELL) $(srcdir)/%D%/draw.sh $(srcdir)/doc/pictures
.PHONY: pictures
