// A cache of 64 MiB, of which half is dropped again.
package main

import (
	"fmt"
	"runtime"
	"time"
)

func main() {
	cache := make(map[int][]byte)
	for i := 0; i < 1024; i++ {
		cache[i] = make([]byte, 64<<10)
		for j := range cache[i] {
			cache[i][j] = 1
		}
	}
	for i := 0; i < 512; i++ {
		delete(cache, i)
	}
	runtime.GC()
	fmt.Println("ready")
	time.Sleep(10 * time.Minute)
	fmt.Println(len(cache))
}
