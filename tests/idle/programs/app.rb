# SPDX-License-Identifier: Apache-2.0
# An idle service: an HTTP server, a queue with workers, and a condition with a deadline. arguments: PORT
require "webrick"

jobs = Queue.new
3.times { Thread.new { loop { jobs.pop } } }
Thread.new do
  mutex, condition = Mutex.new, ConditionVariable.new
  loop { mutex.synchronize { condition.wait(mutex, 3) } }
end
Thread.new { loop { sleep 4 } }

server = WEBrick::HTTPServer.new(BindAddress: "127.0.0.1", Port: ARGV[0].to_i, AccessLog: [],
                                 Logger: WEBrick::Log.new(File::NULL))
server.mount_proc("/") do |_, response|
  jobs << "job"
  response.body = "ok"
end
server.start
