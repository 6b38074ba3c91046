// SPDX-License-Identifier: Apache-2.0

// Waits of one kind: waits KIND PORT, of a server that takes its time.
package main

import (
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"sync"
	"time"
)

func ask(port string) {
	for {
		answer, err := http.Get("http://127.0.0.1:" + port + "/")
		if err != nil {
			panic(err)
		}
		io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
	}
}

func convoy() {
	var mutex sync.Mutex
	for i := 0; i < 3; i++ {
		go func() {
			for {
				mutex.Lock()
				time.Sleep(60 * time.Millisecond)
				mutex.Unlock()
			}
		}()
	}
}

func main() {
	switch os.Args[1] {
	case "idle":
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			panic(err)
		}
		http.Serve(listener, nil)
	case "mutex":
		convoy()
	case "ask":
		go ask(os.Args[2])
	case "channel":
		jobs := make(chan int)
		go func() {
			for range jobs {
			}
		}()
		for range time.Tick(100 * time.Millisecond) {
			jobs <- 1
		}
	case "exec":
		for {
			exec.Command("sleep", "600").Run()
		}
	}
	time.Sleep(time.Hour)
}
