// SPDX-License-Identifier: Apache-2.0

// Goroutines that wait in known places and measure for how long, for goroutines_watched_test.py.
//
// mixed: for each line of input, prints how many seconds goroutines have waited so far, by what for.
// convoy: a service whose requests take one lock, and hold it while they nap; ends never.
// many NUMBER: so many wait to receive.
//
// Between its waits a goroutine is in a system call (nanosleep), in which it counts as no goroutine
// that waits, and takes no CPU.
package main

import (
	"bufio"
	"fmt"
	"math/rand"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Waits of one kind. Those in progress count.
type clock struct {
	mutex   sync.Mutex
	ended   time.Duration
	number  int64
	started time.Duration // the sum over those in progress
}

var begin = time.Now()

func (c *clock) enter() time.Duration {
	now := time.Since(begin)
	c.mutex.Lock()
	c.number++
	c.started += now
	c.mutex.Unlock()
	return now
}

func (c *clock) leave(since time.Duration) {
	now := time.Since(begin)
	c.mutex.Lock()
	c.number--
	c.started -= since
	c.ended += now - since
	c.mutex.Unlock()
}

func (c *clock) total() float64 {
	now := time.Since(begin)
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return (c.ended + time.Duration(c.number)*now - c.started).Seconds()
}

var clocks = map[string]*clock{"lock": {}, "answer": {}, "timer": {}, "work": {}}

func busy(longest time.Duration) {
	nap := syscall.NsecToTimespec(rand.Int63n(int64(longest)))
	for syscall.Nanosleep(&nap, &nap) == syscall.EINTR {
	}
}

//go:noinline
func takeLock(lock *sync.Mutex) {
	since := clocks["lock"].enter()
	lock.Lock()
	clocks["lock"].leave(since)
	busy(100 * time.Millisecond)
	lock.Unlock()
}

//go:noinline
func put(queue chan int) {
	since := clocks["answer"].enter()
	queue <- 1
	clocks["answer"].leave(since)
}

//go:noinline
func take(queue chan int) {
	since := clocks["work"].enter()
	<-queue
	clocks["work"].leave(since)
}

//go:noinline
func nap() {
	since := clocks["timer"].enter()
	time.Sleep(time.Duration(rand.Int63n(int64(400 * time.Millisecond))))
	clocks["timer"].leave(since)
}

func repeat(number int, act func()) {
	for i := 0; i < number; i++ {
		go func() {
			for {
				act()
			}
		}()
	}
}

func mixed() {
	var lock sync.Mutex
	full, empty := make(chan int), make(chan int)
	repeat(20, func() { takeLock(&lock); busy(400 * time.Millisecond) })
	repeat(20, func() { put(full) })
	repeat(2, func() { <-full; busy(100 * time.Millisecond) })
	repeat(20, func() { take(empty) })
	repeat(1, func() { busy(100 * time.Millisecond); empty <- 1 })
	repeat(40, func() { nap(); busy(400 * time.Millisecond) })
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() {
		fmt.Printf("{\"seconds\": %f", time.Since(begin).Seconds())
		for name, each := range clocks {
			fmt.Printf(", %q: %f", name, each.total())
		}
		fmt.Println("}")
	}
}

var till sync.Mutex

//go:noinline
func chargeCard() {
	till.Lock()
	defer till.Unlock()
	time.Sleep(20 * time.Millisecond)
}

func convoy() {
	repeat(6, chargeCard)
	select {}
}

func many(number int) {
	var ready int64
	nothing := make(chan int)
	for i := 0; i < number; i++ {
		go func() { atomic.AddInt64(&ready, 1); <-nothing }()
	}
	for atomic.LoadInt64(&ready) < int64(number) {
		time.Sleep(time.Millisecond)
	}
	fmt.Println("ready")
	time.Sleep(time.Hour) // a program in which nobody can wake up any more would end
}

func main() {
	switch os.Args[1] {
	case "mixed":
		mixed()
	case "convoy":
		convoy()
	case "many":
		number, _ := strconv.Atoi(os.Args[2])
		many(number)
	}
}
