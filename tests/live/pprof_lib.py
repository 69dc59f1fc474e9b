# SPDX-License-Identifier: GPL-2.0-or-later
"""Reader for profiles in pprof's format, without memstate and without a library:
fields by number."""

import collections
import gzip

Frame = collections.namedtuple("Frame", "name file line is_inlined module")


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    """Yield number and value of each field: an integer, or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            length, at = varint(data, at)
            value = data[at:at + length]
            assert len(value) == length, "is cut short"
            at += length
        else:
            raise AssertionError(f"a field of type {key & 7}")
        yield key >> 3, value


def numbers(value):
    """Return the numbers of a field that may be packed."""
    if isinstance(value, int):
        return [value]
    found, at = [], 0
    while at < len(value):
        number, at = varint(value, at)
        found.append(number)
    return found


def one(data):
    """Return a dict with the last value of each field."""
    return collections.defaultdict(int, fields(data))


class Profile:
    """`types`: [(name, unit)]; `samples`: [([Frame, innermost first], {name: value})]; `mappings`:
    {path: build-id}, in the file's order; `comments`; `period`."""

    def __init__(self, path):
        with open(path, "rb") as f:
            data = f.read()
        self.is_gzipped = data[:2] == b"\x1f\x8b"
        whole = list(fields(gzip.decompress(data) if self.is_gzipped else data))
        self._strings = [value.decode() for number, value in whole if number == 6]
        assert self._strings[0] == ""
        self.types = [(self._text(t[1]), self._text(t[2])) for t in self._all(whole, 1)]
        self._mappings = {m[1]: (self._text(m[5]), self._text(m[6])) for m in self._all(whole, 3)}
        self._functions = {f[1]: (self._text(f[2]), self._text(f[4])) for f in self._all(whole, 5)}
        self._locations = {}
        for number, value in whole:
            if number == 4:
                self._add_location(value)
        self.mappings = dict(self._mappings.values())
        self.samples = [self._sample(value) for number, value in whole if number == 2]
        self.comments = [self._text(n) for number, value in whole if number == 13
                         for n in numbers(value)]
        self.period = next((value for number, value in whole if number == 12), 0)

    @staticmethod
    def _all(whole, wanted):
        return [one(value) for number, value in whole if number == wanted]

    def _text(self, number):
        return self._strings[number]

    def _add_location(self, data):
        location = one(data)
        lines = [one(value) for number, value in fields(data) if number == 4]
        module = self._mappings[location[2]][0] if location[2] else None
        assert location[1] not in self._locations, "an id is there twice"
        self._locations[location[1]] = [
            Frame(*(self._functions[line[1]] if line[1] else ("", "")), line[2],
                  i + 1 < len(lines), module)
            for i, line in enumerate(lines)] or [Frame("", "", 0, False, module)]

    def _sample(self, data):
        ids, values = [], []
        for number, value in fields(data):
            if number == 1:
                ids += numbers(value)
            elif number == 2:
                values += numbers(value)
        assert len(values) == len(self.types)
        return ([frame for i in ids for frame in self._locations[i]],
                {name: value for (name, _), value in zip(self.types, values)})

    def sum(self, name):
        return sum(values[name] for _, values in self.samples)

    def find(self, names):
        """Return the sum over all stacks that end in these functions, outermost first,
        and their frames."""
        names = list(reversed(names))
        found, frames = collections.Counter(), None
        for stack, values in self.samples:
            if [frame.name for frame in stack[:len(names)]] == names:
                found.update(values)
                frames = stack[:len(names)]
        return found, frames
