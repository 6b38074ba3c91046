// SPDX-License-Identifier: Apache-2.0
//! threads PORT: a thread for each kind of wait, named after it.
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{mpsc, Arc, Condvar, Mutex, RwLock};
use std::thread;
use std::time::Duration;

const HOLD: Duration = Duration::from_millis(60);
const REST: Duration = Duration::from_millis(6);
const SHORT: Duration = Duration::from_millis(1);

fn start(name: &str, mut work: impl FnMut() + Send + 'static) {
    let body = move || loop {
        work()
    };
    thread::Builder::new().name(name.to_string()).spawn(body).unwrap();
}

fn locks() {
    let mutex = Arc::new(Mutex::new(0));
    let lock = Arc::new(RwLock::new(0));
    let (m, l) = (mutex.clone(), lock.clone());
    start("timer-mutex", move || {
        let held = m.lock().unwrap();
        thread::sleep(HOLD);
        drop(held);
        thread::sleep(REST);
    });
    start("timer-rwlock", move || {
        let held = l.write().unwrap();
        thread::sleep(HOLD);
        drop(held);
        thread::sleep(REST);
    });
    for _ in 0..2 {
        let (m, l) = (mutex.clone(), lock.clone());
        start("lock-mutex", move || {
            drop(m.lock().unwrap());
            thread::sleep(SHORT);
        });
        start("lock-rwlock", move || {
            drop(l.read().unwrap());
            thread::sleep(SHORT);
        });
    }
}

fn ask(port: u16) {
    let mut server = TcpStream::connect(("127.0.0.1", port)).unwrap();
    server.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    server.read(&mut [0; 9]).unwrap();
}

/// As those who share what only one may use at a time.
fn shared(port: u16) {
    let mutex = Arc::new(Mutex::new(0));
    for _ in 0..3 {
        let m = mutex.clone();
        start("lock-ask", move || {
            let held = m.lock().unwrap();
            ask(port);
            drop(held);
            thread::sleep(SHORT);
        });
    }
}

fn queues() {
    let (sender, receiver) = mpsc::channel();
    start("work-channel", move || receiver.recv().unwrap());
    start("timer-producer", move || {
        thread::sleep(HOLD);
        sender.send(()).unwrap();
    });
    let (kept, never) = mpsc::channel::<()>();
    start("work-never", move || {
        let _ = never.recv();
    });
    std::mem::forget(kept);
    let idle = Arc::new((Mutex::new(false), Condvar::new()));
    start("work-condition", move || {
        let held = idle.0.lock().unwrap();
        drop(idle.1.wait(held).unwrap());
    });
    let (ask, asked) = mpsc::channel();
    let (answer, answered) = mpsc::channel();
    start("answer-channel", move || {
        ask.send(()).unwrap();
        answered.recv().unwrap();
    });
    start("timer-answers", move || {
        asked.recv().unwrap();
        thread::sleep(HOLD);
        answer.send(()).unwrap();
    });
}

fn main() {
    let port: u16 = std::env::args().nth(1).unwrap().parse().unwrap();
    locks();
    shared(port);
    queues();
    start("answer-socket", move || ask(port));
    start("answer-join", || {
        let body = || thread::sleep(Duration::from_millis(300));
        thread::Builder::new().name("timer-joined".into()).spawn(body).unwrap().join().unwrap()
    });
    start("work-accept", || {
        TcpListener::bind("127.0.0.1:0").unwrap().accept().unwrap();
    });
    start("timer-sleep", || thread::sleep(Duration::from_millis(100)));
    let body = || loop {
        thread::park()
    };
    thread::Builder::new().name("work-main".into()).spawn(body).unwrap().join().unwrap();
}
