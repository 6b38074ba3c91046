// SPDX-License-Identifier: Apache-2.0
//! Threads that wait at known places until the standard input ends.
use std::io::Read;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Barrier, Condvar, Mutex};
use std::thread;
use std::time::Duration;

static SINK: AtomicU64 = AtomicU64::new(0);

fn count() {
    SINK.fetch_add(1, Ordering::Relaxed);
}

#[inline(never)]
fn wait_sleep() {
    loop {
        thread::sleep(Duration::from_millis(600));
        count();
    }
}

#[inline(never)]
fn wait_mutex(mutex: &Mutex<u64>) {
    *mutex.lock().unwrap() += 1;
    count();
}

#[inline(never)]
fn wait_condvar(mutex: &Mutex<u64>, condition: &Condvar) {
    let mut guard = mutex.lock().unwrap();
    loop {
        guard = condition.wait_timeout(guard, Duration::from_millis(600)).unwrap().0;
        count();
    }
}

#[inline(never)]
fn wait_receive(receiver: &mpsc::Receiver<u64>) {
    while receiver.recv().is_ok() {
        count();
    }
}

#[inline(never)]
fn wait_park() {
    loop {
        thread::park_timeout(Duration::from_millis(600));
        count();
    }
}

#[inline(never)]
fn wait_barrier(barrier: &Barrier) {
    barrier.wait();
    count();
}

#[inline(never)]
fn dive(depth: u64) -> u64 {
    if depth == 0 {
        wait_sleep();
        return 0;
    }
    let below = dive(depth - 1);
    count();
    below + depth
}

fn start(name: &str, work: impl FnOnce() + Send + 'static) {
    thread::Builder::new().name(name.to_string()).spawn(work).unwrap();
}

fn main() {
    let mutex = Arc::new(Mutex::new(0));
    let held = mutex.lock().unwrap();
    let (sender, receiver) = mpsc::channel();
    start("sleep", wait_sleep);
    let contended = mutex.clone();
    start("mutex", move || wait_mutex(&contended));
    start("condvar", || wait_condvar(&Mutex::new(0), &Condvar::new()));
    start("receive", move || wait_receive(&receiver));
    start("park", wait_park);
    start("barrier", || wait_barrier(&Barrier::new(2)));
    start("deep", || count_result(dive(60)));
    println!("ready");
    let _ = std::io::stdin().read(&mut [0]);
    drop(held);
    drop(sender);
    std::process::exit(0);
}

fn count_result(result: u64) {
    SINK.fetch_add(result, Ordering::Relaxed);
}
