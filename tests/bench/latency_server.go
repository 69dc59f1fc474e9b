// SPDX-License-Identifier: GPL-2.0-or-later

// latency_server MIB is a server for tests/bench/latency.py: a table with this much data,
// and one answer per byte that a client sends. Each request reads the table and makes
// garbage. It prints "port N".
package main

import (
	"fmt"
	"net"
	"os"
	"strconv"
)

func main() {
	mib, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	count := mib * 1024
	table := make(map[int][]byte, count)
	for i := 0; i < count; i++ {
		table[i] = make([]byte, 1000)
	}
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Printf("port %d\n", server.Addr().(*net.TCPAddr).Port)
	client, err := server.Accept()
	if err != nil {
		panic(err)
	}
	request := make([]byte, 1)
	next := uint32(1)
	for {
		if n, err := client.Read(request); n != 1 || err != nil {
			return
		}
		key := int(next) % count
		value := append([]byte(nil), table[key]...)
		value[0]++
		table[key] = value
		next = (next*1103515245 + 12345) & 0x7fffffff
		client.Write(value[:1])
	}
}
