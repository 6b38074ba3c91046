// SPDX-License-Identifier: Apache-2.0

import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URL;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SelectionKey;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/** A thread for each kind of wait, named after it; the port is of a server that takes its time. */
public final class Threads {
  interface Work {
    void run() throws Exception;
  }

  static void start(String name, Work work) {
    new Thread(() -> {
      try {
        for (;;) {
          work.run();
        }
      } catch (Exception exception) {
        exception.printStackTrace();
      }
    }, name).start();
  }

  static ExecutorService pool(String name, int threads) {
    return Executors.newFixedThreadPool(threads, runnable -> new Thread(runnable, name));
  }

  static void hold(Lock lock) throws Exception {
    lock.lock();
    Thread.sleep(60);
    lock.unlock();
    Thread.sleep(6);
  }

  static void use(Lock lock) throws Exception {
    lock.lock();
    lock.unlock();
    Thread.sleep(1);
  }

  static void startLocks() {
    Object monitor = new Object();
    start("timer-monitor", () -> {
      synchronized (monitor) {
        Thread.sleep(60);
      }
      Thread.sleep(6);
    });
    Lock lock = new ReentrantLock();
    ReentrantReadWriteLock readWrite = new ReentrantReadWriteLock();
    Semaphore semaphore = new Semaphore(1);
    start("timer-lock", () -> hold(lock));
    start("timer-write", () -> hold(readWrite.writeLock()));
    start("timer-permit", () -> {
      semaphore.acquire();
      Thread.sleep(60);
      semaphore.release();
      Thread.sleep(6);
    });
    for (int i = 0; i < 2; i++) {
      start("lock-monitor", () -> {
        synchronized (monitor) {
        }
        Thread.sleep(1);
      });
      start("lock-lock", () -> use(lock));
      start("lock-read", () -> use(readWrite.readLock()));
      start("lock-permit", () -> {
        semaphore.acquire();
        semaphore.release();
        Thread.sleep(1);
      });
    }
  }

  static void ask(int port) throws Exception {
    HttpURLConnection connection =
        (HttpURLConnection) new URL("http://127.0.0.1:" + port + "/").openConnection();
    try (InputStream input = connection.getInputStream()) {
      input.readAllBytes();
    }
  }

  /** As those who share what only one may use at a time. */
  static void startShared(int port) {
    Lock lock = new ReentrantLock();
    Semaphore semaphore = new Semaphore(1);
    Object monitor = new Object();
    for (int i = 0; i < 3; i++) {
      start("lock-ask", () -> {
        lock.lock();
        ask(port);
        lock.unlock();
        Thread.sleep(1);
      });
      start("lock-ask-permit", () -> {
        semaphore.acquire();
        ask(port);
        semaphore.release();
        Thread.sleep(1);
      });
      start("lock-ask-mon", () -> {
        synchronized (monitor) {
          ask(port);
        }
        Thread.sleep(1);
      });
    }
  }

  static void startQueues() {
    LinkedBlockingQueue<Integer> fed = new LinkedBlockingQueue<>();
    LinkedBlockingQueue<Integer> never = new LinkedBlockingQueue<>();
    start("timer-producer", () -> {
      Thread.sleep(60);
      fed.put(1);
    });
    start("work-queue", fed::take);
    start("work-never", never::take);
    ExecutorService idle = pool("work-pool", 3);
    for (int i = 0; i < 3; i++) {
      idle.submit(() -> {});
    }
    // More jobs at once than one thread takes: whoever takes one wakes the next.
    ExecutorService bursts = pool("work-bursts", 4);
    start("timer-bursts", () -> {
      for (int i = 0; i < 12; i++) {
        bursts.submit(() -> {});
      }
      Thread.sleep(60);
    });
    ScheduledExecutorService scheduled =
        Executors.newScheduledThreadPool(1, runnable -> new Thread(runnable, "timer-schedule"));
    scheduled.scheduleAtFixedRate(() -> {}, 0, 100, TimeUnit.MILLISECONDS);
    Object notified = new Object();
    start("work-object", () -> {
      synchronized (notified) {
        notified.wait();
      }
    });
    start("timer-object", () -> {
      synchronized (Threads.class) {
        Threads.class.wait(200);
      }
    });
  }

  static void startAnswers(int port) {
    ExecutorService workers = pool("timer-worker", 1);
    start("answer-future", () -> workers.submit(() -> {
      Thread.sleep(60);
      return 1;
    }).get());
    ExecutorService others = pool("timer-other", 1);
    start("answer-complete", () -> CompletableFuture.runAsync(() -> {
      try {
        Thread.sleep(60);
      } catch (InterruptedException exception) {
        throw new IllegalStateException(exception);
      }
    }, others).get());
    ExecutorService third = pool("timer-third", 1);
    start("answer-latch", () -> {
      CountDownLatch latch = new CountDownLatch(1);
      third.submit(() -> {
        Thread.sleep(60);
        latch.countDown();
        return 1;
      });
      latch.await();
    });
    start("answer-http", () -> ask(port));
    start("answer-socket", () -> {
      try (Socket socket = new Socket("127.0.0.1", port)) {
        socket.getOutputStream().write("GET / HTTP/1.1\r\n\r\n".getBytes());
        socket.getInputStream().read();
      }
    });
    start("answer-join", () -> {
      Thread thread = new Thread(() -> {
        try {
          Thread.sleep(300);
        } catch (InterruptedException exception) {
          throw new IllegalStateException(exception);
        }
      }, "timer-joined");
      thread.start();
      thread.join();
    });
  }

  static void startServers() {
    start("work-accept", () -> new ServerSocket(0, 5, InetAddress.getLoopbackAddress()).accept());
    start("work-select", () -> {
      ServerSocketChannel channel = ServerSocketChannel.open();
      channel.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      channel.configureBlocking(false);
      Selector selector = Selector.open();
      channel.register(selector, SelectionKey.OP_ACCEPT);
      selector.select();
    });
    start("timer-sleep", () -> Thread.sleep(100));
  }

  public static void main(String[] arguments) {
    startLocks();
    startShared(Integer.parseInt(arguments[0]));
    startQueues();
    startAnswers(Integer.parseInt(arguments[0]));
    startServers();
  }
}
