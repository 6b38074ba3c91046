# SPDX-License-Identifier: Apache-2.0
# waits.pl ask|serve|select PORT: waits for one thing.
use strict;
use warnings;
use IO::Select;
use IO::Socket::INET;

my ($kind, $port) = @ARGV;
if ($kind eq 'ask') {
    my $server = IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port") or die $!;
    while (1) {
        syswrite $server, "GET / HTTP/1.1\r\n\r\n";
        sysread $server, my $answer, 40;
    }
}
my $listener = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 5) or die $!;
$kind eq 'serve' ? $listener->accept : IO::Select->new($listener)->can_read;
