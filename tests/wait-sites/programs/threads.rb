# SPDX-License-Identifier: Apache-2.0
# threads.rb PORT: a thread for each kind of wait, named after it.
require 'net/http'
require 'socket'

def start(name)
  Thread.new do
    Thread.current.name = name
    loop { yield }
  end
end

port = ARGV[0].to_i
mutex = Mutex.new
start('timer-holder') { mutex.synchronize { sleep 0.06 }; sleep 0.006 }
2.times { start('lock-mutex') { mutex.synchronize {}; sleep 0.001 } }
shared = Mutex.new
3.times do
  start('lock-ask') do
    shared.synchronize { Net::HTTP.get(URI("http://127.0.0.1:#{port}/")) }
    sleep 0.001
  end
end
fed = Queue.new
start('timer-producer') { sleep 0.06; fed << 1 }
start('work-queue') { fed.pop }
never = Queue.new
start('work-never') { never.pop }
start('answer-http') { Net::HTTP.get(URI("http://127.0.0.1:#{port}/")) }
start('answer-thread') { Thread.new { Thread.current.name = 'timer-joined'; sleep 0.3 }.join }
start('timer-sleep') { sleep 0.1 }
start('timer-child') { system('sleep', '2') }
start('work-accept') { TCPServer.new('127.0.0.1', 0).accept }
Thread.current.name = 'work-main'
Thread.new { Thread.current.name = '-joined'; Thread.stop }.join
