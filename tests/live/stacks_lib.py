# SPDX-License-Identifier: GPL-2.0-or-later
"""Reader for the file in which stacks are counted, from its layout
(src/agent/count/stack_abi.h), without memstate's code."""

import mmap
import struct

HEAD = struct.Struct("<4I2Qi I Q 2I 5Q 32x 2I 2qQ")
NODE = struct.Struct("<4Q Q 3q")
MODULE = struct.Struct("<3Q I H 2B 32s")
CUT = 1
BY_FRAME = 1 << 63
PARENT_BITS = 24


class Node:
    def __init__(self, number, words):
        self.number = number
        self.pc, self.parent, self.calls, self.bytes, self.temporary = words[:5]
        self.is_by_frame, self.pc = bool(self.pc & BY_FRAME), self.pc & ~BY_FRAME
        self.generation = self.parent >> PARENT_BITS
        self.parent &= (1 << PARENT_BITS) - 1
        self.live_blocks, self.live_bytes = self.calls - words[5], self.bytes - words[6]
        self.noted_peak = words[7]


class Module:
    def __init__(self, fields, path):
        self.start, self.end, self.load_bias, self.first_node, _, length, _, build_id = fields
        self.build_id, self.path = build_id[:length], path


class StackFile:
    """`nodes` by number; `modules` in the file's order."""

    def __init__(self, path):
        # the file is sparse and has a size of 1 GiB: only the used pages are read
        with open(path, "rb") as file:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        (magic, version, head_bytes, node_bytes, modules_offset, nodes_offset, self.pid, self.flags,
         self.sample_bytes, self.scale_bits, module_bytes, self.sample_count, self.lost_count,
         self.lost_module_count, self.checked_count, self.mismatch_count, self.node_count, _,
         self.head_live_bytes, self.peak_bytes, self.generation) = HEAD.unpack_from(data)
        assert (magic, version, head_bytes, node_bytes) == (0x4b53534d, 2, 4096, 64), path
        self.nodes = {}
        for number in range(1, self.node_count):
            at = nodes_offset + number * node_bytes
            if at + node_bytes > len(data):
                break
            node = Node(number, NODE.unpack_from(data, at))
            if node.pc:
                self.nodes[number] = node
        self.modules = []
        at = modules_offset
        while at < modules_offset + module_bytes:
            fields = MODULE.unpack_from(data, at)
            record_bytes = fields[4]
            text = data[at + MODULE.size:at + record_bytes].split(b"\0")[0].decode()
            self.modules.append(Module(fields, text))
            at += record_bytes
        self.live_bytes = self.total("live_bytes")
        for node in self.nodes.values():
            is_noted = self.live_bytes <= self.peak_bytes and node.generation == self.generation
            node.peak = node.noted_peak if is_noted else node.live_bytes

    def total(self, what):
        return sum(getattr(node, what) for node in self.nodes.values())

    def frames(self, node):
        """Yield the nodes of a stack, innermost first."""
        while node:
            yield node
            node = self.nodes.get(node.parent)

    def place(self, node):
        """Return the module of a frame, and the call's address within the module."""
        found = None
        for module in self.modules:
            if module.start <= node.pc < module.end and module.first_node <= node.number:
                found = module
        return (found, node.pc - 1 - found.load_bias) if found else (None, node.pc)
