#!/usr/bin/perl
# SPDX-License-Identifier: Apache-2.0
# Reads folded stacks on standard input by the rules of flamegraph.pl: the last number of a line is
# its value, one before it the earlier value of a difference. Prints what a test compares:
#   lines, ignored lines, lines with an earlier value, sum, sum of the earlier values, most frames
use strict;
use warnings;
use open qw(:std :utf8);

my $number = qr/^(.*)\s+?(\d+(?:\.\d*)?)$/;
my ($lines, $ignored, $differences, $sum, $earlier_sum, $most) = (0) x 6;
while (my $line = <STDIN>) {
    chomp $line;
    ++$lines;
    my ($stack, $value) = $line =~ $number;
    if (!defined $stack || $stack eq '') { ++$ignored; next; }
    if (my ($rest, $earlier) = $stack =~ $number) {
        ++$differences;
        $stack = $rest;
        $earlier_sum += $earlier;
    }
    $sum += $value;
    my $frames = () = split /;/, $stack, -1;
    $most = $frames if $frames > $most;
}
print "$lines $ignored $differences $sum $earlier_sum $most\n";
