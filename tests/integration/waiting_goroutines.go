// SPDX-License-Identifier: Apache-2.0

// Goroutines that wait at known places, for goroutines_test.py.
//
// places: some wait in each of these functions for ever. The output is the runtime's own account of
// them, which runtime.Stack gives.
// rounds: pairs hand a value back and forth, and others sleep for a moment, again and again.
// many NUMBER: so many wait, two thirds of them to receive, the others in a select.
//
// Each goroutine begins in a function of this file: of a function with arguments, the compiler makes
// another one, which runtime.Stack does not show.
package main

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"
)

var (
	held    sync.Mutex
	shared  sync.RWMutex
	group   sync.WaitGroup
	changed = sync.NewCond(&sync.Mutex{})
	nothing = make(chan int)
	more    = make(chan int)
)

//go:noinline
func waitForMutex() { held.Lock() }

//go:noinline
func waitToWrite() { shared.Lock() }

//go:noinline
func waitToReceive() { <-nothing }

//go:noinline
func waitToSend() { more <- 1 }

//go:noinline
func waitForAny() {
	select {
	case <-nothing:
	case <-time.After(time.Hour):
	}
}

//go:noinline
func waitForTime() { time.Sleep(time.Hour) }

//go:noinline
func waitForGroup() { group.Wait() }

//go:noinline
func waitForChange() {
	changed.L.Lock()
	changed.Wait()
}

//go:noinline
func waitForAnswer(connection net.Conn) {
	var answer [1]byte
	connection.Read(answer[:])
}

//go:noinline
func waitForClients(listener net.Listener) {
	var connections []net.Conn
	for {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		connections = append(connections, connection)
	}
}

//go:noinline
func waitDeep(depth int) int {
	if depth == 0 {
		waitToReceive()
		return 0
	}
	var room [512]byte
	room[depth] = byte(waitDeep(depth - 1))
	return int(room[depth]) + 1
}

type till struct{ name string }

//go:noinline
func (t *till) pay() { waitToReceive() }

func start(number int, wait func()) {
	for i := 0; i < number; i++ {
		go wait()
	}
}

func tell() {
	account := make([]byte, 1<<20)
	fmt.Printf("%s\nend\n", account[:runtime.Stack(account, true)])
}

func places() {
	held.Lock()
	shared.RLock()
	group.Add(1)
	start(3, waitForMutex)
	start(1, waitToWrite)
	start(2, waitToReceive)
	start(1, waitToSend)
	start(4, waitForAny)
	start(1, waitForTime)
	start(1, waitForGroup)
	start(2, waitForChange)
	start(1, func() { waitDeep(60) })
	first := &till{"first"}
	start(2, func() { first.pay() })
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go func() { waitForClients(listener) }()
	for i := 0; i < 2; i++ {
		connection, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			panic(err)
		}
		go func() { waitForAnswer(connection) }()
	}
	go func() {
		time.Sleep(time.Second)
		runtime.GC()
		tell()
	}()
	select {}
}

//go:noinline
func handOver(from, to chan int) {
	for value := range from {
		to <- value
	}
}

//go:noinline
func sleepAgain() {
	for {
		time.Sleep(3 * time.Millisecond)
	}
}

func rounds() {
	for i := 0; i < 2; i++ {
		one, other := make(chan int), make(chan int)
		go func() { handOver(one, other) }()
		go func() { handOver(other, one) }()
		one <- 1
	}
	start(20, sleepAgain)
	fmt.Println("end")
	select {}
}

func many(number int) {
	for i := 0; i < number; i++ {
		if i%3 < 2 {
			go waitToReceive()
		} else {
			go waitForAny()
		}
	}
	time.Sleep(time.Second)
	fmt.Println("end")
	select {}
}

func main() {
	switch os.Args[1] {
	case "places":
		places()
	case "rounds":
		rounds()
	case "many":
		number, _ := strconv.Atoi(os.Args[2])
		many(number)
	}
}
