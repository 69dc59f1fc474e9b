/* Functions shared by the pages with charts. */
'use strict';
const chartLib = (function () {
	const SVG = 'http://www.w3.org/2000/svg';

	/* Format bytes as "1.5M", in powers of 1024 like memstate's text reports. */
	function bytes(value) {
		const letters = ['', 'K', 'M', 'G', 'T', 'P'];
		let i = 0;

		if (value === null)
			return '-';
		while (value >= 1024 && i + 1 < letters.length) {
			value /= 1024;
			i++;
		}
		return (i ? value.toFixed(1) : value) + letters[i];
	}

	function add(parent, name, attributes, text) {
		const isSvg = parent.namespaceURI === SVG || name === 'svg';
		const e = isSvg ? document.createElementNS(SVG, name) : document.createElement(name);

		for (const key in attributes || {})
			e.setAttribute(key, attributes[key]);
		if (text !== undefined)
			e.textContent = text;
		parent.appendChild(e);
		return e;
	}

	return { bytes: bytes, add: add };
}());
