%% SPDX-License-Identifier: Apache-2.0
%% An idle service: a listener, a process with a timer and one that waits for messages.
-module(app).
-export([start/1]).

start([Port]) ->
    spawn(fun tick/0),
    Sink = spawn(fun drain/0),
    Options = [binary, {active, false}, {reuseaddr, true}, {ip, {127, 0, 0, 1}}],
    {ok, Listener} = gen_tcp:listen(list_to_integer(Port), Options),
    accept(Listener, Sink).

accept(Listener, Sink) ->
    {ok, Connection} = gen_tcp:accept(Listener),
    spawn(fun() -> receive go -> answer(Connection, Sink) end end) ! go,
    accept(Listener, Sink).

answer(Connection, Sink) ->
    {ok, _} = gen_tcp:recv(Connection, 0),
    Sink ! job,
    gen_tcp:send(Connection, "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok"),
    timer:sleep(100),
    gen_tcp:close(Connection).

tick() -> timer:sleep(3000), tick().

drain() -> receive _ -> drain() end.
