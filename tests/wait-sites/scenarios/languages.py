# SPDX-License-Identifier: Apache-2.0
"""One program of each language, with threads or processes that are named after what they wait for."""

import os

from scenario import PROGRAMS, scenario

# Who holds some of their locks waits for a server.
ASK_INSIDE = {"lock-*:network": "answer", "lock-*:poll": "answer"}


@scenario("C++", "g++", rules=False)
def cpp_threads(stage):
    stage.do("g++", "-O2", "-g0", "-std=c++20", "-pthread", "-o", "threads", PROGRAMS / "threads.cpp")
    stage.start("threads", stage.folder / "threads", stage.slow_server(0.2), truth=ASK_INSIDE)


@scenario("Java", "java")
def java_threads(stage):
    stage.do("javac", "-d", stage.folder, PROGRAMS / "Threads.java")
    stage.start("threads", "java", "-cp", stage.folder, "Threads", stage.slow_server(), truth=JAVA)


@scenario("Java with frame pointers", "java")
def java_threads_with_frame_pointers(stage):
    """As compiled code can be walked through."""
    stage.do("javac", "-d", stage.folder, PROGRAMS / "Threads.java")
    stage.start("threads", "java", "-XX:+PreserveFramePointer", "-cp", stage.folder, "Threads", stage.slow_server(),
                truth=JAVA)


# The virtual machine's own threads are idle; the main thread waits for the end of the program.
JAVA = {**ASK_INSIDE, "lock-*": "lock", "answer-*": "answer", "timer-*": "timer", "work-*": "work", "*": "idle"}


@scenario("Ruby", "ruby")
def ruby_threads(stage):
    stage.start("threads", "ruby", PROGRAMS / "threads.rb", stage.slow_server(0.2), truth=ASK_INSIDE)


GO = ("idle", "mutex", "ask", "channel", "exec")


@scenario("Go", "go")
def go_programs(stage):
    """Threads are told apart, not goroutines: parked ones wait for work. Who asks has one thread that
    waits for the network."""
    env = {"HOME": str(stage.folder), "PATH": "/usr/bin:/bin", "GOFLAGS": "-buildvcs=false"}
    stage.do("go", "build", "-o", "waits", PROGRAMS / "waits.go", env=env)
    port = stage.slow_server()
    for kind in GO:
        role = stage.start(kind, stage.folder / "waits", kind, port, truth="work").role
        if kind == "ask":
            role.truth = {"*:sleep": "timer", "*:poll": "answer", "*": "work"}
        if kind == "exec":
            role.truth = {"*:child": "timer", "*": "work"}


@scenario("Rust", "rustc")
def rust_threads(stage):
    stage.do("rustc", "-O", "-o", "threads", PROGRAMS / "threads.rs")
    stage.start("threads", stage.folder / "threads", stage.slow_server(0.2),
                truth={"threads": "work", **ASK_INSIDE})


@scenario("Node", "node")
def node_programs(stage):
    """Only the loop of who asks waits for an answer; the platform's threads are idle."""
    port = stage.slow_server()
    for kind in ("answer", "work", "timer"):
        process = stage.start(kind, "node", PROGRAMS / "waits.js", kind, port, truth="idle")
        process.role.numbers = {"answer": 1} if kind == "answer" else {}


@scenario("Node", "node")
def node_main_threads_that_block(stage):
    """Nothing else of the program runs meanwhile."""
    stage.start("child", "node", PROGRAMS / "waits.js", "child", truth={"sleep": "timer", "sh": "timer", "*": "idle"})
    stage.start("atomics", "node", PROGRAMS / "waits.js", "atomics", truth="idle")
    os.mkfifo(stage.folder / "fifo")
    fifo = stage.start("fifo", "node", PROGRAMS / "waits.js", "fifo", stage.folder / "fifo", truth="idle")
    fifo.role.numbers = {"answer": 1}


@scenario("Erlang", "erl")
def erlang_idle(stage):
    stage.start("work", "erl", "-noinput", "-eval", "gen_tcp:listen(0, []).")


@scenario("Perl", "perl", rules=False)
def perl_programs(stage):
    stage.start("answer", "perl", PROGRAMS / "waits.pl", "ask", stage.slow_server())
    stage.start("work", "perl", PROGRAMS / "waits.pl", "serve", 0)
    stage.start("work-select", "perl", PROGRAMS / "waits.pl", "select", 0)
    stage.start("timer", "perl", "-e", "select(undef, undef, undef, 0.1) while 1")
    stage.start("timer-sleep", "perl", "-e", "sleep 1 while 1")


@scenario("Lua", "lua5.1", rules=False)
def lua_programs(stage):
    connect = "s = require('socket').connect('127.0.0.1', {})"
    port = stage.slow_server()
    stage.start("answer", "lua5.1", "-e", connect.format(port) +
                " while true do s:send('GET / HTTP/1.1\\r\\n\\r\\n') for _ = 1, 4 do s:receive(1) end "
                "s:receive('*l') s:receive('*l') s:receive('*l') s:receive(2) end")
    stage.start("work", "lua5.1", "-e", "s = require('socket').bind('127.0.0.1', 0) s:accept()")
    stage.start("timer", "lua5.1", "-e", "while true do require('socket').sleep(0.2) end")


@scenario("Tcl", "tclsh", rules=False)
def tcl_programs(stage):
    stage.start("work", "tclsh", stage.file("serve.tcl", "socket -server accept -myaddr 127.0.0.1 0\nvwait forever\n"))
    stage.start("answer", "tclsh", stage.file("ask.tcl", f"set s [socket 127.0.0.1 {stage.silent_server()}]\n"
                'puts $s "GET / HTTP/1.0\\r\\n\\r\\n"\nflush $s\ngets $s\n'))
    stage.start("timer", "tclsh", stage.file("nap.tcl", "while 1 {after 300}\n"))


@scenario("OCaml", "ocaml", rules=False)
def ocaml_programs(stage):
    server = ("#load \"unix.cma\";;\nlet s = Unix.socket Unix.PF_INET Unix.SOCK_STREAM 0;;\n"
              "Unix.bind s (Unix.ADDR_INET (Unix.inet_addr_loopback, 0));;\nUnix.listen s 5;;\n"
              "Unix.select [s] [] [] (-1.);;\n")
    client = ("#load \"unix.cma\";;\nlet s = Unix.socket Unix.PF_INET Unix.SOCK_STREAM 0;;\n"
              f"Unix.connect s (Unix.ADDR_INET (Unix.inet_addr_loopback, {stage.silent_server()}));;\n"
              "Unix.write_substring s \"GET\" 0 3;;\nUnix.read s (Bytes.create 9) 0 9;;\n")
    stage.start("work", "ocaml", stage.file("serve.ml", server))
    stage.start("answer", "ocaml", stage.file("ask.ml", client))
    stage.start("timer", "ocaml", stage.file("nap.ml", "#load \"unix.cma\";;\nwhile true do Unix.sleepf 0.3 done;;\n"))


@scenario("Guile", "guile", rules=False)
def guile_programs(stage):
    stage.start("answer", "guile", "-c", "(let ((s (socket PF_INET SOCK_STREAM 0))) (connect s AF_INET "
                f"INADDR_LOOPBACK {stage.silent_server()}) (send s #vu8(71 69 84)) (read-char s))",
                truth={"guile": "answer", "*": "-"})
    stage.start("work", "guile", "-c", "(let ((s (socket PF_INET SOCK_STREAM 0))) (listen s 5) (accept s))",
                truth={"guile": "work", "*": "-"})


@scenario("SBCL", "sbcl", rules=False)
def sbcl_programs(stage):
    stage.start("threads", "sbcl", "--script", PROGRAMS / "threads.lisp",
                truth={"lock-*": "lock", "work-*": "work", "timer-*": "timer", "*": "-"})


@scenario("Mono", "mono", "mcs", rules=False)
def mono_threads(stage):
    stage.do("mcs", "-out:threads.exe", PROGRAMS / "Threads.cs")
    stage.start("threads", "mono", "threads.exe", stage.slow_server(), truth={
        "lock-*": "lock", "answer-*": "answer", "timer-*": "timer", "work-*": "work", "SGen worker": "idle",
        "Finalizer": "idle", "*": "-"})
