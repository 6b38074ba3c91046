// SPDX-License-Identifier: Apache-2.0
// Threads.exe PORT: a thread for each kind of wait, named after it.
using System;
using System.Collections.Concurrent;
using System.Net;
using System.Net.Sockets;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;

static class Threads {
  [DllImport("libc")]
  static extern int prctl(int what, byte[] name, int a, int b, int c);

  static void Start(string name, Action work) {
    new Thread(() => {
      prctl(15, Encoding.ASCII.GetBytes(name + "\0"), 0, 0, 0);
      while (true) work();
    }).Start();
  }

  static void Main(string[] arguments) {
    var mutex = new object();
    Start("timer-holder", () => {
      lock (mutex) Thread.Sleep(60);
      Thread.Sleep(6);
    });
    for (int i = 0; i < 2; i++) {
      Start("lock-monitor", () => {
        lock (mutex) { }
        Thread.Sleep(1);
      });
    }
    var fed = new BlockingCollection<int>();
    Start("timer-producer", () => {
      Thread.Sleep(60);
      fed.Add(1);
    });
    Start("work-queue", () => fed.Take());
    int port = int.Parse(arguments[0]);
    Start("answer-socket", () => {
      using (var client = new TcpClient("127.0.0.1", port)) {
        var stream = client.GetStream();
        stream.Write(Encoding.ASCII.GetBytes("GET / HTTP/1.1\r\n\r\n"), 0, 18);
        stream.Read(new byte[40], 0, 40);
      }
    });
    Start("work-accept", () => {
      var listener = new TcpListener(IPAddress.Loopback, 0);
      listener.Start();
      listener.AcceptTcpClient();
    });
    Start("timer-sleep", () => Thread.Sleep(100));
  }
}
