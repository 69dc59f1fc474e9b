/*
 * Charts of a recording: areas over time. The data is in the element "data". Times are in
 * ms since the start of the recording.
 */
(function () {
	const bytes = chartLib.bytes, add = chartLib.add;
	const data = JSON.parse(document.getElementById('data').textContent);
	const HEIGHT = 250, LEFT = 52, RIGHT = 8, TOP = 16, BOTTOM = 22;
	const views = [];
	/* start of the time range shown; its end is the end of the recording */
	let from = 0;

	/*
	 * Format a time as UTC, clamped because a damaged recording may
	 * contain invalid times.
	 */
	function utc(t) {
		return new Date(Math.min(data.begin + Math.round(t), 8.64e15)).toISOString();
	}

	/* Format a time for an axis, only as precisely as its labels need. */
	function shortTime(t) {
		const text = utc(t);

		return data.end - from > 172800e3 ? text.slice(5, 16).replace('T', ' ') : text.slice(11, 19);
	}

	function duration(ms) {
		const units = [[86400e3, 'd'], [3600e3, 'h'], [60e3, 'min'], [1e3, 's']];
		const unit = units.find(function (u) { return ms >= u[0]; }) || [1, 'ms'];
		const value = ms / unit[0];

		return (value < 10 ? Number(value.toFixed(1)) : Math.round(value)) + ' ' + unit[1];
	}

	function xOf(view, t) {
		return LEFT + (view.width - LEFT - RIGHT) * (t - from) / (data.end - from);
	}

	function yOf(view, value) {
		const top = view.chart.top;

		return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * Math.min(value, top) / top;
	}

	function at(view, t, value) {
		return xOf(view, t).toFixed(1) + ',' + yOf(view, value).toFixed(1);
	}

	/* Return the ranges of points without a gap, as [first, end). */
	function stretches(chart) {
		const found = [];
		let first = -1;

		chart.total.v.forEach(function (v, p) {
			if (v !== null && first < 0)
				first = p;
			if (v === null && first >= 0) {
				found.push([first, p]);
				first = -1;
			}
		});
		if (first >= 0)
			found.push([first, chart.t.length]);
		return found;
	}

	function drawAreas(view, plot) {
		const chart = view.chart;
		const below = chart.t.map(function () { return 0; });

		chart.areas.forEach(function (area) {
			const above = below.map(function (v, p) { return v + (area.v[p] || 0); });
			let d = '';

			view.stretches.forEach(function (s) {
				const up = [], down = [];

				for (let p = s[0]; p < s[1]; p++) {
					up.push(at(view, chart.t[p], above[p]));
					down.push(at(view, chart.t[p], below[p]));
				}
				d += 'M' + up.concat(down.reverse()).join('L') + 'Z';
			});
			if (area.v.some(function (v) { return v > 0; }))
				add(plot, 'path', { d: d, fill: 'var(--' + area.colour + ')' });
			above.forEach(function (v, p) { below[p] = v; });
		});
	}

	/*
	 * Return an SVG path. Unknown values leave a gap; a point between two gaps
	 * is drawn as a dot.
	 */
	function path(view, values) {
		let d = '', isDown = false;

		values.forEach(function (v, p) {
			if (v !== null)
				d += (isDown ? 'L' : 'M') + at(view, view.chart.t[p], v) + (isDown ? '' : 'h1');
			isDown = v !== null;
		});
		return d;
	}

	function drawGrid(view, svg) {
		for (let i = 0; i <= 4; i++) {
			const y = yOf(view, view.chart.top * i / 4);

			add(svg, 'line', { class: 'grid', x1: LEFT, x2: view.width - RIGHT, y1: y, y2: y });
		}
	}

	/*
	 * Draw the labels of the axes on a background that hides data from before
	 * the time range shown.
	 */
	function drawLabels(view, svg) {
		const top = view.chart.top;

		add(svg, 'rect', { class: 'ground', x: 0, y: 0, width: LEFT, height: HEIGHT });
		for (let i = 0; i <= 4; i++)
			add(svg, 'text', {
				x: LEFT - 5, y: yOf(view, top * i / 4) + 4, 'text-anchor': 'end',
			}, bytes(top * i / 4));
		[0, 0.5, 1].forEach(function (part) {
			const t = from + (data.end - from) * part;

			add(svg, 'text', {
				x: xOf(view, t), y: HEIGHT - BOTTOM + 15,
				'text-anchor': part === 0 ? 'start' : part === 1 ? 'end' : 'middle',
			}, shortTime(t));
		});
	}

	/* Draw the events. A label that would overlap the previous one is left out. */
	function drawEvents(view, svg) {
		let free = LEFT;

		data.events.forEach(function (event) {
			const x = xOf(view, event.t);
			const half = event.kind.length * 3.2;
			const middle = Math.min(Math.max(x, LEFT + half), view.width - RIGHT - half);

			if (event.t < from || event.t > data.end)
				return;
			add(svg, 'line', { class: 'mark', x1: x, x2: x, y1: TOP - 3, y2: HEIGHT - BOTTOM });
			if (middle - half < free)
				return;
			add(svg, 'text', { x: middle, y: TOP - 5, 'text-anchor': 'middle' }, event.kind);
			free = middle + half;
		});
	}

	function draw(view) {
		const old = view.plot.querySelector('svg');
		let svg;

		view.width = Math.max(view.plot.clientWidth, 160);
		svg = add(view.plot, 'svg', {
			viewBox: '0 0 ' + view.width + ' ' + HEIGHT, height: HEIGHT, tabindex: 0, role: 'img',
			'aria-label': view.chart.title + ' over time; the tables below have the values',
		});
		drawGrid(view, svg);
		drawAreas(view, svg);
		add(svg, 'path', { class: 'rss', d: path(view, view.chart.total.v) });
		view.chart.lines.forEach(function (line) {
			if (line.v.some(function (v) { return v !== null && v <= view.chart.top; }))
				add(svg, 'path', { class: line.colour, d: path(view, line.v) });
		});
		drawLabels(view, svg);
		drawEvents(view, svg);
		view.cursor = add(svg, 'line', { class: 'cursor', y1: TOP, y2: HEIGHT - BOTTOM });
		listen(view, svg);
		if (old)
			view.plot.replaceChild(svg, old);
		else
			view.plot.insertBefore(svg, view.plot.firstChild);
	}

	function row(table, kind, series, isArea) {
		const tr = add(table, 'tr', { class: kind });
		const th = add(tr, 'th', { scope: 'row', title: series.help || '' });

		if (isArea)
			add(th, 'span', { class: 'bar' }).style.background = 'var(--' + series.colour + ')';
		th.appendChild(document.createTextNode(series.name));
		return [add(tr, 'td', {}), series.v];
	}

	/*
	 * Create the table of values: its cells and their sources, with areas
	 * in stacking order.
	 */
	function makeValues(view) {
		const chart = view.chart;
		const table = add(view.plot, 'table', { class: 'values' });
		const head = add(table, 'tr', {});

		add(head, 'th', { scope: 'row' }, 'at');
		view.time = add(head, 'td', {});
		view.cells = chart.areas.slice().reverse().map(function (area) {
			return row(table, '', area, true);
		});
		view.cells.push(row(table, 'total', chart.total));
		chart.lines.forEach(function (line) { view.cells.push(row(table, 'line', line)); });
		chart.beside.forEach(function (series) {
			if (series.v.some(function (v) { return v > 0; }))
				view.cells.push(row(table, 'beside', series));
		});
	}

	/* Return the point to show for a time, as an index into the known points. */
	function nearest(view, t) {
		const known = view.known, times = view.chart.t;
		let low = 0, high = known.length - 1;

		while (low < high) {
			const middle = (low + high) >> 1;

			if (times[known[middle]] < t)
				low = middle + 1;
			else
				high = middle;
		}
		return low > 0 && t - times[known[low - 1]] < times[known[low]] - t ? low - 1 : low;
	}

	function show(view, place) {
		const point = view.known[place];
		const t = view.chart.t[point];
		const x = xOf(view, Math.max(t, from));

		view.place = place;
		view.cursor.setAttribute('x1', x);
		view.cursor.setAttribute('x2', x);
		view.time.textContent = utc(t).slice(0, 19).replace('T', ' ') + 'Z';
		view.cells.forEach(function (cell) { cell[0].textContent = bytes(cell[1][point]); });
	}

	/* Show the same time in all charts. */
	function showTime(t) {
		views.forEach(function (view) { show(view, nearest(view, t)); });
	}

	function listen(view, svg) {
		function follow(event) {
			const box = svg.getBoundingClientRect();
			const x = (event.clientX - box.left) * view.width / box.width;

			showTime(from + (x - LEFT) / (view.width - LEFT - RIGHT) * (data.end - from));
		}

		svg.addEventListener('pointermove', follow);
		svg.addEventListener('pointerdown', follow);
		svg.addEventListener('keydown', function (event) {
			const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
			let place = view.place, t;

			if (!step)
				return;
			event.preventDefault();
			/* if the clock stood still, several points have the same time */
			do {
				place += step;
				t = view.chart.t[view.known[place]];
			} while (t === view.chart.t[view.known[view.place]]);
			if (t !== undefined)
				showTime(t);
		});
	}

	function drawAll() {
		views.forEach(function (view) {
			draw(view);
			show(view, view.place);
		});
	}

	/*
	 * Create buttons for time ranges. Recordings have more points towards the end, so
	 * their last part can be enlarged.
	 */
	function makeRanges() {
		const place = document.getElementById('ranges');
		const buttons = [];

		[1, 10, 100, 1000].forEach(function (part) {
			let button;

			if (part > 1 && data.end / part < 1000)
				return;
			button = add(place, 'button', { type: 'button', 'aria-pressed': part === 1 },
				part === 1 ? 'all' : 'last ' + duration(data.end / part));
			buttons.push(button);
			button.addEventListener('click', function () {
				from = data.end - data.end / part;
				buttons.forEach(function (b) { b.setAttribute('aria-pressed', b === button); });
				drawAll();
			});
		});
	}

	/* Until the pointer moves, show the end of the recording. */
	document.querySelectorAll('.plot').forEach(function (plot, i) {
		const chart = data.charts[i];
		const view = { chart: chart, plot: plot };

		view.known = Array.from(chart.t.keys()).filter(function (p) { return chart.total.v[p] !== null; });
		view.place = view.known.length - 1;
		view.stretches = stretches(chart);
		draw(view);
		makeValues(view);
		show(view, view.place);
		views.push(view);
	});
	makeRanges();
	window.addEventListener('resize', drawAll);
}());
