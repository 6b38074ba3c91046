// SPDX-License-Identifier: Apache-2.0

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.locks.LockSupport;

/** Threads that wait at known places until the standard input ends. */
public final class Waits {
  private static volatile long sink;

  static void waitSleep() throws Exception {
    for (;;) {
      Thread.sleep(600);
      sink++;
    }
  }

  static void waitMonitor(Object monitor) {
    synchronized (monitor) {
      sink++;
    }
  }

  static void waitObject(Object object) throws Exception {
    synchronized (object) {
      for (;;) {
        object.wait(600);
        sink++;
      }
    }
  }

  static void waitPark() {
    for (;;) {
      LockSupport.parkNanos(600_000_000L);
      sink++;
    }
  }

  static void waitQueue() throws Exception {
    new SynchronousQueue<Integer>().take();
  }

  static void dive(int depth) throws Exception {
    if (depth == 0) {
      waitSleep();
    }
    dive(depth - 1);
    sink++;
  }

  /** Compiled while it sleeps again and again: the last callers are frames of compiled code. */
  static int compute(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) {
      sum += Integer.bitCount(i ^ sum);
    }
    return sum;
  }

  static void waitCompiled() throws Exception {
    for (;;) {
      sink += napAfter(200);
    }
  }

  static int napAfter(int n) throws Exception {
    int sum = compute(n);
    if (sink > 30_000) {
      Thread.sleep(500);
    }
    return sum > 0 ? 1 : 2;
  }

  interface Work {
    void run() throws Exception;
  }

  static void start(String name, Work work) {
    Thread thread =
        new Thread(
            () -> {
              try {
                work.run();
              } catch (Exception failure) {
                failure.printStackTrace();
                System.exit(1);
              }
            },
            name);
    thread.setDaemon(true);
    thread.start();
  }

  public static void main(String[] arguments) throws Exception {
    Object held = new Object();
    synchronized (held) {
      start("sleep", Waits::waitSleep);
      start("monitor", () -> waitMonitor(held));
      start("object", () -> waitObject(new Object()));
      start("park", Waits::waitPark);
      start("queue", Waits::waitQueue);
      start("latch", () -> new CountDownLatch(1).await());
      start("deep", () -> dive(30));
      start("compiled", Waits::waitCompiled);
      Thread.sleep(1500);
      System.gc();
      System.out.println("ready");
      System.in.read();
    }
    System.exit(0);
  }
}
