// SPDX-License-Identifier: Apache-2.0
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.util.concurrent.*;

// An idle service: an HTTP server, pools, a queue and a schedule. arguments: PORT
class App {
  static final BlockingQueue<String> jobs = new LinkedBlockingQueue<>();

  static void work() {
    try {
      while (true) jobs.take();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  public static void main(String[] arguments) throws Exception {
    HttpServer server = HttpServer.create(
        new InetSocketAddress("127.0.0.1", Integer.parseInt(arguments[0])), 0);
    server.createContext("/", exchange -> {
      jobs.add("job");
      byte[] answer = "ok".getBytes();
      exchange.sendResponseHeaders(200, answer.length);
      exchange.getResponseBody().write(answer);
      exchange.close();
    });
    server.setExecutor(Executors.newFixedThreadPool(4));
    server.start();
    Thread[] workers = new Thread[3];
    for (int i = 0; i < workers.length; i++) {
      workers[i] = new Thread(App::work, "job-worker-" + i);
      workers[i].start();
    }
    ScheduledExecutorService clock = Executors.newScheduledThreadPool(2);
    clock.scheduleAtFixedRate(System::nanoTime, 1, 1, TimeUnit.SECONDS);
    ForkJoinPool.commonPool().submit(System::nanoTime);
    for (Thread worker : workers) worker.join();
  }
}
