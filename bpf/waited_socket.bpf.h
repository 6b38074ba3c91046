/* SPDX-License-Identifier: GPL-2.0-only */
/* What a socket is to the process that waits on it. */
#ifndef OFFCPUD_WAITED_SOCKET_BPF_H
#define OFFCPUD_WAITED_SOCKET_BPF_H

#include "waited.h"
#include "waited_types.bpf.h"

/* Whether the peer has never sent anything. A client then waits for its server's greeting. */
static __always_inline bool tcp_has_never_heard(struct tcp_sock___waited *tcp)
{
	return bpf_core_field_exists(tcp->bytes_received) && !BPF_CORE_READ(tcp, bytes_received);
}

/* OFFCPUD_ON_FIRST if what nobody has read yet is all that the peer has ever sent. Both numbers
 * count the end of its data as a byte (net/ipv4/tcp_input.c, tcp_queue_rcv). */
static __always_inline __u32 tcp_first_data(struct tcp_sock___waited *tcp, __u32 unread)
{
	return bpf_core_field_exists(tcp->bytes_received) &&
			       BPF_CORE_READ(tcp, bytes_received) == unread
		       ? OFFCPUD_ON_FIRST
		       : 0;
}

/* What a connection is on which this side spoke last. In some protocols an idle client does so,
 * too: it acknowledges at once what the peer has said (HTTP/2's SETTINGS and PING, the PONG of
 * NATS). A client that asks its next question at once looks the same, but mostly has its answer
 * soon. */
static __always_inline __u32 waited_on_spoken_last(__u32 sent, __u32 heard)
{
	__u64 after = (__u32)(sent - heard), ago = (__u32)((__u32)bpf_jiffies64() - sent);

	return after * jiffy_ns <= AT_ONCE_NS && ago * jiffy_ns > A_WHILE_NS ? OFFCPUD_ON_REPLIED
									     : OFFCPUD_ON_ASKED;
}

/* False only if this side sent nothing within the same jiffy after the peer's last data. The kernel
 * counts such prompt answers, and forgets them when it has to send an acknowledgement of its own
 * because no data come (net/ipv4/tcp_output.c, tcp_event_data_sent; tcp_timer.c,
 * tcp_delack_timer_handler). */
static __always_inline bool tcp_sent_soon_after(struct inet_connection_sock___waited *connection)
{
	return !bpf_core_field_exists(connection->icsk_ack.pingpong) ||
	       BPF_CORE_READ(connection, icsk_ack.pingpong);
}

/*
 * Who spoke last on a connection made from here. If this side did, the wait is for an answer.
 *
 * Both times are in jiffies. Within one jiffy the sequence numbers tell: data that are not
 * acknowledged were sent last; and where the last window came with a segment at rcv_nxt, that was
 * an acknowledgement without data, which came after the peer's last data. The answer to a keepalive
 * is such a segment, too. That is why the times are compared first, and why tcp_sent_soon_after()
 * is asked.
 *
 * If data that nobody has read yet have ended the wait, they came last, of course. They are the
 * answer if the question was sent within the second before the wait began, or later.
 */
static __always_inline __u32 waited_on_connected(struct waited *waited, void *sk)
{
	struct inet_connection_sock___waited *connection = sk;
	struct tcp_sock___waited *tcp = sk;
	__u32 sent, heard, rcv_nxt, unread;
	__u64 ago;

	if (!bpf_core_field_exists(tcp->lsndtime) ||
	    !bpf_core_field_exists(connection->icsk_ack.lrcvtime) ||
	    !bpf_core_field_exists(tcp->snd_wl1))
		return OFFCPUD_ON_LINKED;
	sent = BPF_CORE_READ(tcp, lsndtime);
	heard = BPF_CORE_READ(connection, icsk_ack.lrcvtime);
	rcv_nxt = BPF_CORE_READ(tcp, rcv_nxt);
	if (tcp_has_never_heard(tcp))
		return OFFCPUD_ON_ASKED;
	if ((__s32)(sent - heard) > 0)
		return waited_on_spoken_last(sent, heard);
	unread = rcv_nxt - BPF_CORE_READ(tcp, copied_seq);
	if (waited->ended && unread) {
		ago = (__u32)((__u32)bpf_jiffies64() - sent);
		if (ago * jiffy_ns <= waited->now - waited->since_ns + ASKED_BEFORE_NS)
			return OFFCPUD_ON_ASKED | OFFCPUD_ON_CAME | tcp_first_data(tcp, unread);
		return OFFCPUD_ON_HEARD | OFFCPUD_ON_CAME;
	}
	if (sent == heard &&
	    (BPF_CORE_READ(tcp, snd_una) != BPF_CORE_READ(tcp, write_seq) ||
	     (BPF_CORE_READ(tcp, snd_wl1) == rcv_nxt && tcp_sent_soon_after(connection))))
		return waited_on_spoken_last(sent, heard);
	return OFFCPUD_ON_HEARD;
}

/* A connection that was accepted has its listener's backlog, because the kernel copies that socket
 * (net/core/sock.c, sk_clone_lock). Others have none. */
static __always_inline __u32 waited_on_tcp(struct waited *waited, void *sk, __u32 state)
{
	struct sock___waited *sock = sk;

	if (state == TCP_LISTEN)
		return OFFCPUD_ON_LISTENER;
	if (state == TCP_SYN_SENT)
		return OFFCPUD_ON_ASKED;
	if (!bpf_core_field_exists(sock->sk_max_ack_backlog))
		return OFFCPUD_ON_OTHER;
	if (BPF_CORE_READ(sock, sk_max_ack_backlog))
		return OFFCPUD_ON_ACCEPTED;
	return waited_on_connected(waited, sk);
}

/* Whether both are ends of one socketpair(). The kernel notes at each end which process made the
 * other one; for a pair that is the same process (net/unix/af_unix.c, unix_socketpair). A
 * connection of a process to itself looks the same. */
static __always_inline bool unix_is_pair(void *own, void *peer)
{
	struct sock___waited *here = own, *there = peer;
	void *maker;

	if (!bpf_core_field_exists(here->sk_peer_pid))
		return false;
	maker = BPF_CORE_READ(here, sk_peer_pid);
	return maker && maker == BPF_CORE_READ(there, sk_peer_pid);
}

/* An accepted connection has the address of its listener. The other end has none, unless it was
 * bound to one. An end of a pair has none until it sends while its own SO_PASSCRED or SO_PASSPIDFD
 * is set: then the kernel gives it one (net/unix/af_unix.c, unix_dgram_sendmsg). */
static __always_inline __u32 waited_on_unix(void *sk, __u32 state, __u32 type)
{
	struct unix_sock___waited *own = sk, *peer;
	void *address;

	if (state == TCP_LISTEN)
		return OFFCPUD_ON_LISTENER;
	if (!bpf_core_field_exists(own->peer))
		return OFFCPUD_ON_OTHER;
	address = BPF_CORE_READ(own, addr);
	peer = BPF_CORE_READ(own, peer);
	if (!peer)
		return address && type != SOCK_STREAM && type != SOCK_SEQPACKET
			       ? OFFCPUD_ON_LISTENER
			       : OFFCPUD_ON_OTHER;
	if (unix_is_pair(own, peer))
		return OFFCPUD_ON_OTHER;
	if (BPF_CORE_READ(peer, addr))
		return address ? OFFCPUD_ON_OTHER : OFFCPUD_ON_LINKED;
	return address ? OFFCPUD_ON_ACCEPTED : OFFCPUD_ON_OTHER;
}

/* Nobody knows whether a socket without a peer has sent anything. But if bind() named its port,
 * others turn to it. */
static __always_inline __u32 waited_on_datagrams(struct sock *sk)
{
	struct sock___waited *sock = (void *)sk;

	if (BPF_CORE_READ(sk, __sk_common.skc_dport))
		return OFFCPUD_ON_LINKED;
	if (bpf_core_field_exists(sock->sk_userlocks) &&
	    (BPF_CORE_READ_BITFIELD_PROBED(sock, sk_userlocks) & SOCK_BINDPORT_LOCK))
		return OFFCPUD_ON_LISTENER;
	return OFFCPUD_ON_OTHER;
}

static __always_inline __u32 waited_on_socket(struct waited *waited, struct socket *socket)
{
	struct sock *sk = BPF_CORE_READ(socket, sk);
	__u32 family, state;

	if (!sk)
		return OFFCPUD_ON_OTHER;
	family = BPF_CORE_READ(sk, __sk_common.skc_family);
	state = BPF_CORE_READ(sk, __sk_common.skc_state);
	switch (family) {
	case AF_UNIX:
		return waited_on_unix(sk, state, BPF_CORE_READ(sk, sk_type));
	case AF_INET:
	case AF_INET6:
		if (BPF_CORE_READ(sk, sk_type) != SOCK_STREAM)
			return waited_on_datagrams(sk);
		if (BPF_CORE_READ(sk, sk_protocol) != IPPROTO_TCP)
			return OFFCPUD_ON_OTHER;
		return waited_on_tcp(waited, sk, state);
	case AF_NETLINK:
	case AF_PACKET:
		return OFFCPUD_ON_LISTENER;
	default:
		return OFFCPUD_ON_OTHER;
	}
}

#endif
