/*
 * Draw a tree as a flame graph. The canvas is as large as the visible area, and only the
 * visible rows are drawn.
 *
 * A view is { layout, names, zoom, found, isInverted, selected, colourOf, labelOf }.
 * layout is the tree with the positions of its boxes, zoom the node that fills the width
 * of the canvas, and found says by name whether the search matches.
 */

const ROW_HEIGHT = 19, LABEL_INSET = 4, LABEL_WIDTH_MIN = 28, WIDTH_MIN = 0.4, FONT_SIZE = 12;

class FlameCanvas {
	/* scroller contains the canvas and the spacer, an element as high as all rows. */
	constructor(scroller, canvas, spacer) {
		this.scroller = scroller;
		this.canvas = canvas;
		this.spacer = spacer;
		this.context = canvas.getContext('2d');
		this.labelWidths = new Map();
		this.view = null;
	}

	/* Show a view. Unless keepScroll is set, scroll to the outermost row. */
	show(view, keepScroll) {
		this.view = view;
		this.resize();
		this.rows = this.countRows();
		this.spacer.style.height = this.rows * ROW_HEIGHT + 'px';
		if (!keepScroll)
			this.scroller.scrollTop = view.isInverted ? 0 : this.scroller.scrollHeight;
		this.draw();
	}

	/* Count the rows that have a box wide enough to be drawn. */
	countRows() {
		const { layout, zoom } = this.view;
		let depth = layout.depths[zoom];

		walkTree(layout, zoom, (node) => {
			if (this.widthOf(node) < WIDTH_MIN)
				return false;
			depth = Math.max(depth, layout.depths[node]);
			return true;
		});
		return depth + 1;
	}

	/* Return the row of a depth, counted from the top. */
	rowOf(depth) {
		return this.view.isInverted ? depth : this.rows - 1 - depth;
	}

	/*
	 * Return the y position of row 0. Rows that do not fill the area are placed at
	 * its bottom, like flames.
	 */
	top() {
		const free = this.scroller.clientHeight - this.rows * ROW_HEIGHT;

		return (this.view.isInverted ? 0 : Math.max(0, free)) - this.scroller.scrollTop;
	}

	yOf(depth) {
		return this.top() + this.rowOf(depth) * ROW_HEIGHT;
	}

	xOf(node) {
		const { layout, zoom } = this.view;
		const whole = layout.widths[zoom];

		return whole > 0 ? (layout.starts[node] - layout.starts[zoom]) / whole * this.width : 0;
	}

	widthOf(node) {
		const { layout, zoom } = this.view;
		const whole = layout.widths[zoom];

		return whole > 0 ? layout.widths[node] / whole * this.width : node === zoom ? this.width : 0;
	}

	resize() {
		const ratio = window.devicePixelRatio || 1;
		const width = this.scroller.clientWidth, height = this.scroller.clientHeight;

		this.width = width;
		this.height = height;
		this.canvas.style.height = height + 'px';
		this.canvas.width = Math.round(width * ratio);
		this.canvas.height = Math.round(height * ratio);
		this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
		this.context.font = FONT_SIZE + 'px ' + getComputedStyle(this.canvas).fontFamily;
		this.context.textBaseline = 'middle';
	}

	draw() {
		const { layout, zoom } = this.view;
		const style = getComputedStyle(this.canvas);

		this.resize();
		this.ink = style.getPropertyValue('--box-ink');
		this.foundColour = style.getPropertyValue('--found');
		this.outline = style.getPropertyValue('--ink');
		this.context.clearRect(0, 0, this.width, this.height);
		for (let at = layout.tree.parent[zoom]; at >= 0; at = layout.tree.parent[at])
			this.drawBox(at, 0, this.width, true);
		walkTree(layout, zoom, (node) => {
			const width = this.widthOf(node);

			if (width < WIDTH_MIN)
				return false;
			this.drawBox(node, this.xOf(node), width, false);
			return true;
		});
		this.drawOutline();
	}

	drawBox(node, x, width, isAround) {
		const { view, context } = this;
		const y = this.yOf(view.layout.depths[node]);
		const name = view.layout.tree.name[node];
		const gap = width > 2 ? 1 : 0;

		if (y > this.height || y + ROW_HEIGHT < 0)
			return;
		context.globalAlpha = isAround ? 0.45 : 1;
		context.fillStyle = view.found && view.found[name] ? this.foundColour : view.colourOf(node);
		context.fillRect(x, y, Math.max(width - gap, 0.5), ROW_HEIGHT - 1);
		context.globalAlpha = 1;
		context.fillStyle = isAround ? this.outline : this.ink;
		if (width >= LABEL_WIDTH_MIN)
			this.drawLabel(view.labelOf(node), x, y, width);
	}

	drawLabel(label, x, y, width) {
		const text = this.cut(label, width - 2 * LABEL_INSET);

		this.context.fillText(text, x + LABEL_INSET, y + ROW_HEIGHT / 2);
	}

	widthOfText(text) {
		return this.context.measureText(text).width;
	}

	/* Return as much of a label as fits, ending in dots if it is cut. */
	cut(label, room) {
		let shortest = 0, longest = label.length;

		if (longest * FONT_SIZE * 1.2 < room || this.widthOfText(label) <= room)
			return label;
		while (shortest < longest) {
			const middle = Math.ceil((shortest + longest) / 2);

			if (this.widthOfText(label.slice(0, middle) + '…') <= room)
				shortest = middle;
			else
				longest = middle - 1;
		}
		/* drop half of a surrogate pair at the cut */
		return shortest > 0 ? label.slice(0, shortest).replace(/[\ud800-\udbff]$/, '') + '…' : '';
	}

	drawOutline() {
		const { view, context } = this;
		const node = view.selected;
		const isAround = this.isAround(node);
		const x = isAround ? 0 : this.xOf(node), width = isAround ? this.width : this.widthOf(node);

		if (node === view.zoom && node === 0)
			return;
		context.strokeStyle = this.outline;
		context.lineWidth = 2;
		context.strokeRect(x + 1, this.yOf(view.layout.depths[node]) + 1, Math.max(width - 2, 1),
			ROW_HEIGHT - 3);
	}

	/* Return whether a node is an ancestor of the zoomed one. */
	isAround(node) {
		const { layout, zoom } = this.view;

		for (let at = layout.tree.parent[zoom]; at >= 0; at = layout.tree.parent[at])
			if (at === node)
				return true;
		return false;
	}

	/* Return the node at a position on the canvas, or -1. */
	nodeAt(x, y) {
		const { layout, zoom, isInverted } = this.view;
		const row = Math.floor((y - this.top()) / ROW_HEIGHT);
		const depth = isInverted ? row : this.rows - 1 - row;
		let node = zoom;

		if (depth < 0 || row < 0)
			return -1;
		while (layout.depths[node] > depth)
			node = layout.tree.parent[node];
		while (node >= 0 && layout.depths[node] < depth)
			node = this.childAt(node, x);
		return node;
	}

	childAt(node, x) {
		const { children, firsts } = this.view.layout;

		for (let c = firsts[node]; c < firsts[node + 1]; c++) {
			const left = this.xOf(children[c]), width = this.widthOf(children[c]);

			if (x >= left && x < left + width && width >= WIDTH_MIN)
				return children[c];
		}
		return -1;
	}

	/* Scroll until the node's row is visible. */
	reveal(node) {
		const y = this.yOf(this.view.layout.depths[node]);

		if (y < 0)
			this.scroller.scrollTop += y;
		else if (y + ROW_HEIGHT > this.scroller.clientHeight)
			this.scroller.scrollTop += y + ROW_HEIGHT - this.scroller.clientHeight;
	}
}
