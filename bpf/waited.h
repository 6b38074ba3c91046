/* SPDX-License-Identifier: (Apache-2.0 OR GPL-2.0-only) */
/* What the files on which a thread waits are to its process: bits of offcpud_sample.waited_on. 0:
 * nothing is known, or the wait is for no file. */
#ifndef OFFCPUD_WAITED_H
#define OFFCPUD_WAITED_H

/* The kinds of files among them. */
/* A socket to which others connect or send: listening, or bound without a peer. */
#define OFFCPUD_ON_LISTENER 0x001
/* A connection that was accepted, by this process or by one that passed it on. */
#define OFFCPUD_ON_ACCEPTED 0x002

/* Connections that were made from here. */
#define OFFCPUD_ON_ASKED  0x004 /* this side spoke last */
#define OFFCPUD_ON_HEARD  0x008 /* the peer spoke last */
#define OFFCPUD_ON_LINKED 0x010 /* nobody knows who spoke last */
/* This side spoke last, but at once after the peer, and a while ago. */
#define OFFCPUD_ON_REPLIED 0x400
/* Data of the peer have ended the wait; with ASKED, the answer. */
#define OFFCPUD_ON_CAME 0x800
/* With CAME: the peer has sent nothing else on the connection before. */
#define OFFCPUD_ON_FIRST 0x8000

#define OFFCPUD_ON_PIPE	 0x020
#define OFFCPUD_ON_EVENT 0x040 /* an eventfd */
#define OFFCPUD_ON_TIMER 0x080 /* a timerfd */
#define OFFCPUD_ON_OTHER 0x100 /* anything else, socket pairs included */

/* The thread reads a pipe to which its own process can write, too. */
#define OFFCPUD_ON_OWN 0x200

/* No file but a mutex or a semaphore of the kernel, as the kernel itself says. Set only for blocks
 * that a walk finds. */
#define OFFCPUD_ON_LOCK 0x10000

/* How much of the set is known. */
#define OFFCPUD_ON_ALONE 0x1000 /* there is one file only */
#define OFFCPUD_ON_READY 0x2000 /* the file that became ready first; others are not looked at */
#define OFFCPUD_ON_MORE	 0x4000 /* there are further files, which were not looked at */

#endif
