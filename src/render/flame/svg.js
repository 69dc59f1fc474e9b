/*
 * Interaction with a flame graph in an SVG picture: zoom, search, invert. The fragment of
 * the address stores the state: #z=BOX&s=PATTERN&i=1.
 *
 * Each box has its position and width in units of the metric in data-x and data-w, and
 * its row in data-d. The script uses them to fit the graph to the width of the window.
 */
'use strict';
(function () {
	const WIDTH_MIN = 320, WIDTH_SHOWN = 0.3;
	const svg = document.documentElement;
	const [MARGIN, HEAD, FOOT, ROW, INSET, CHAR] = svg.dataset.measures.split(' ').map(Number);
	const rows = Number(svg.dataset.rows);
	const height = HEAD + rows * ROW + FOOT;
	const boxes = Array.from(document.querySelectorAll('#boxes > g')).map(readBox);
	const state = { zoom: boxes[0], pattern: '', isInverted: false };

	function readBox(g, number) {
		const title = g.querySelector('title').textContent;

		return {
			g: g, number: number,
			x: Number(g.dataset.x), width: Number(g.dataset.w), depth: Number(g.dataset.d),
			name: title.slice(0, title.indexOf('\n')), title: title.replace('\n', ': '),
			rect: g.querySelector('rect'), text: g.querySelector('text'),
		};
	}

	function byId(id) {
		return document.getElementById(id);
	}

	function isAround(box, inner) {
		return box.depth < inner.depth && box.x <= inner.x &&
			box.x + box.width >= inner.x + inner.width;
	}

	/* Return as much of a name as fits; some characters are two columns wide. */
	function cut(name, width) {
		const room = Math.floor((width - 2 * INSET) / CHAR);
		let used = 0, fits = '';

		if (room < 3)
			return '';
		for (const character of name) {
			used += character.codePointAt(0) < 0x1100 ? 1 : 2;
			if (used > room)
				return fits + '..';
			if (used + 2 <= room)
				fits += character;
		}
		return name;
	}

	function place(box, x, width) {
		const row = state.isInverted ? box.depth : rows - 1 - box.depth;
		const y = HEAD + row * ROW;

		box.rect.setAttribute('x', x.toFixed(2));
		box.rect.setAttribute('y', y);
		box.rect.setAttribute('width', width.toFixed(2));
		box.text.setAttribute('x', (x + INSET).toFixed(2));
		box.text.setAttribute('y', y + 12);
		box.text.textContent = cut(box.name, width);
	}

	/* Place the controls at the end of the graph where the flames start. */
	function placeControls() {
		const y = state.isInverted ? HEAD - 28 : height - FOOT + 18;

		for (const id of ['reset', 'invert', 'search', 'matched'])
			byId(id).setAttribute('y', y);
		byId('details').setAttribute('y', y + 18);
	}

	/* Lay out the boxes in the width of the window, without the scroll bar. */
	function layOut() {
		const full = Math.max(svg.getBoundingClientRect().width, WIDTH_MIN);
		const inner = full - 2 * MARGIN;
		const zoom = state.zoom;

		svg.setAttribute('viewBox', '0 0 ' + full + ' ' + height);
		placeControls();
		for (const box of boxes) {
			const isParent = isAround(box, zoom);
			const isInside = box.depth >= zoom.depth && box.x >= zoom.x &&
				box.x + box.width <= zoom.x + zoom.width;
			const width = isParent ? inner : zoom.width ? box.width / zoom.width * inner : inner;
			const isShown = isParent || box === zoom || isInside && width >= WIDTH_SHOWN;

			box.g.classList.toggle('outside', !isShown);
			box.g.classList.toggle('around', isParent);
			if (isShown)
				place(box, isParent || !zoom.width ? MARGIN :
					MARGIN + (box.x - zoom.x) / zoom.width * inner, width);
		}
	}

	/*
	 * Compile a search text. Text that is not a valid regular expression is
	 * searched literally.
	 */
	function compile(pattern) {
		try {
			return new RegExp(pattern);
		} catch (error) {
			return new RegExp(pattern.replace(/[^A-Za-z0-9_]/g, '\\$&'));
		}
	}

	/*
	 * Mark the matching boxes. A box inside another matching box is not
	 * added to the sum again.
	 */
	function mark() {
		const wanted = state.pattern ? compile(state.pattern) : null;
		const zoom = state.zoom;
		let found, sum = 0, end = -1;

		for (const box of boxes)
			box.g.classList.toggle('found', wanted !== null && wanted.test(box.name));
		found = boxes.filter(function (box) {
			return box.g.classList.contains('found') && box.depth >= zoom.depth &&
				box.x >= zoom.x && box.x + box.width <= zoom.x + zoom.width;
		});
		found.sort(function (a, b) { return a.x - b.x || a.depth - b.depth; });
		for (const box of found) {
			if (box.x < end)
				continue;
			sum += box.width;
			end = box.x + box.width;
		}
		byId('matched').textContent = wanted === null ? '' :
			'matched ' + (zoom.width ? 100 * sum / zoom.width : 0).toFixed(1) + '%';
	}

	function show(box) {
		byId('details').textContent = box ? box.title : '';
	}

	function draw() {
		layOut();
		mark();
		show(state.zoom.number ? state.zoom : null);
	}

	/* Store the state in the address, if the viewer permits that. */
	function remember() {
		const parts = [];

		if (state.zoom.number)
			parts.push('z=' + state.zoom.number);
		if (state.pattern)
			parts.push('s=' + encodeURIComponent(state.pattern));
		if (state.isInverted)
			parts.push('i=1');
		try {
			history.replaceState(null, '', '#' + parts.join('&'));
		} catch (error) {
			/* some viewers have no address */
		}
	}

	function recall() {
		const parts = new URLSearchParams(location.hash.slice(1));

		state.zoom = boxes[Number(parts.get('z'))] || boxes[0];
		state.pattern = parts.get('s') || '';
		state.isInverted = parts.get('i') === '1';
		draw();
	}

	const actions = {
		reset: function () {
			state.zoom = boxes[0];
			state.pattern = '';
		},
		invert: function () {
			state.isInverted = !state.isInverted;
		},
		search: function () {
			const pattern = prompt('Regular expression to search for in function names', state.pattern);

			if (pattern !== null)
				state.pattern = pattern;
		},
	};
	const keys = { Escape: 'reset', i: 'invert', '/': 'search' };

	function act(name) {
		actions[name]();
		remember();
		draw();
	}

	function findBox(target) {
		const g = target instanceof Element ? target.closest('#boxes > g') : null;

		return g ? boxes.find(function (box) { return box.g === g; }) : null;
	}

	function press(target) {
		const box = findBox(target);

		if (box) {
			state.zoom = box;
			remember();
			draw();
		} else if (target instanceof Element && actions[target.id]) {
			act(target.id);
		}
	}

	svg.addEventListener('click', function (event) { press(event.target); });
	svg.addEventListener('mouseover', function (event) {
		show(findBox(event.target) || (state.zoom.number ? state.zoom : null));
	});
	window.addEventListener('keydown', function (event) {
		if (event.ctrlKey || event.altKey || event.metaKey)
			return;
		if (event.key === 'Enter' || event.key === ' ') {
			press(event.target);
		} else if (keys[event.key]) {
			event.preventDefault();
			act(keys[event.key]);
		}
	});
	window.addEventListener('resize', layOut);
	window.addEventListener('hashchange', recall);
	svg.classList.add('alive');
	svg.setAttribute('width', '100%');
	recall();
	if (!state.isInverted)
		window.scrollTo(0, height);
}());
