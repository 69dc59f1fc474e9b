// SPDX-License-Identifier: GPL-2.0-or-later

// Program go_target allocates objects of many sizes, keeps half of them, starts
// goroutines, prints figures of runtime.ReadMemStats, and waits for input.
package main

import (
	"runtime"
	"runtime/debug"
	"strconv"
	"syscall"
	"unsafe"
)

var keep [][]byte
var table = map[int]*[64]byte{}
var stats runtime.MemStats
var buffer [256]byte

func main() {
	for i := 0; i < 300000; i++ {
		keep = append(keep, make([]byte, 1+(i*7919)%3000/((i%7)+1)))
		if i%3 == 0 {
			table[i] = new([64]byte)
		}
	}
	for i := range keep {
		if i%2 == 0 {
			keep[i] = nil
		}
	}
	keep = append(keep, make([]byte, 20<<20))
	wait := make(chan int)
	for i := 0; i < 500; i++ {
		go func() { var b [3000]byte; <-wait; b[0] = 1 }()
	}
	runtime.GC()
	runtime.GC()
	debug.SetGCPercent(-1)
	// ReadMemStats restarts the world, which allocates a thread's structures if a processor
	// is idle and no thread is
	runtime.GOMAXPROCS(1)
	runtime.ReadMemStats(&stats)
	// from here on, nothing is allocated
	text := buffer[:0]
	for _, number := range [...]uint64{stats.HeapAlloc, stats.HeapObjects, stats.StackInuse,
		stats.HeapIdle} {
		text = append(strconv.AppendUint(text, number, 10), ' ')
	}
	text = append(text, '\n')
	// a raw call does not give the processor away, which could start a thread
	syscall.RawSyscall(syscall.SYS_WRITE, 1, uintptr(unsafe.Pointer(&text[0])), uintptr(len(text)))
	syscall.RawSyscall(syscall.SYS_READ, 0, uintptr(unsafe.Pointer(&buffer[0])), 1)
}
