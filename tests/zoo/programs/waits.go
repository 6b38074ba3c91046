// SPDX-License-Identifier: Apache-2.0

// Goroutines that wait at known places until the standard input ends: in system calls of their own,
// and in the scheduler, where threads of the runtime wait for them.
package main

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"
)

var sink int

//go:noinline
func sleepInSyscall() {
	for {
		ts := syscall.Timespec{Nsec: 600_000_000}
		_ = syscall.Nanosleep(&ts, nil)
		sink++
	}
}

//go:noinline
func readInSyscall(fd int) {
	one := make([]byte, 1)
	for {
		n, _ := syscall.Read(fd, one)
		sink += n
	}
}

//go:noinline
func dive(depth, fd int) int {
	if depth == 0 {
		readInSyscall(fd)
		return 0
	}
	below := dive(depth-1, fd)
	sink += depth
	return below + sink
}

func sleepInRuntime() {
	for {
		time.Sleep(350 * time.Millisecond)
	}
}

func wait(channel chan int) {
	for range channel {
		sink++
	}
}

func lock(mutex *sync.Mutex) {
	mutex.Lock()
	sink++
}

// A connection that never has anything to read: the network poller waits.
func readFromPeer(listener net.Listener) {
	peer, err := listener.Accept()
	if err != nil {
		panic(err)
	}
	_, _ = peer.Read(make([]byte, 1))
}

func pipe() int {
	ends := make([]int, 2)
	if err := syscall.Pipe(ends); err != nil {
		panic(err)
	}
	return ends[0]
}

func main() {
	go sleepInSyscall()
	go readInSyscall(pipe())
	go dive(60, pipe())
	go sleepInRuntime()
	go wait(make(chan int))
	held := new(sync.Mutex)
	held.Lock()
	go lock(held)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go readFromPeer(listener)
	if _, err := net.Dial("tcp", listener.Addr().String()); err != nil {
		panic(err)
	}
	go func() {
		for { // a collection wakes threads of the runtime, which wait again
			runtime.GC()
			time.Sleep(300 * time.Millisecond)
		}
	}()
	fmt.Println("ready")
	_, _ = syscall.Read(0, make([]byte, 1))
	os.Exit(0)
}
