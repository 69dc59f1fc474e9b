# Pictures for the documents, drawn from recorded screens: make pictures
PICTURES = \
	doc/pictures/group-dark.svg \
	doc/pictures/group-light.svg \
	doc/pictures/heap-dark.svg \
	doc/pictures/heap-light.svg \
	doc/pictures/process-dark.svg \
	doc/pictures/process-light.svg \
	doc/pictures/unknown-dark.svg \
	doc/pictures/unknown-light.svg
GALLERY = \
	doc/gallery/compare.png \
	doc/gallery/flame-graph.png \
	doc/gallery/recording.png
EXTRA_DIST += $(PICTURES) $(GALLERY) %D%/screen_svg.py %D%/unknown_svg.py %D%/draw.sh %D%/gallery.sh

pictures:
	$(SHELL) $(srcdir)/%D%/draw.sh $(srcdir)/doc/pictures

# Pictures of HTML pages with figures of a new run; requires Chromium
gallery: memstate$(EXEEXT)
	bash $(srcdir)/%D%/gallery.sh memstate$(EXEEXT) $(srcdir)/doc/tutorials/programs \
		$(srcdir)/doc/gallery
.PHONY: pictures gallery
