/* SPDX-License-Identifier: Apache-2.0 */
/* Socket families and types that a command may have, and the upper half of the arguments. Runs as a command
 * in a sandbox. */
#include <sys/socket.h>
#include "tests/escape/esc.h"

#define HIGH 0x1234567800000000L

struct arg3 {
	long a, b, c;
};

static long try_socket(const void *p)
{
	const struct arg3 *s = p;

	return syscall(SYS_socket, s->a, s->b, s->c);
}

static long try_pair(const void *p)
{
	const struct arg3 *s = p;
	int sv[2];

	return syscall(SYS_socketpair, s->a, s->b, s->c, sv);
}

static void deny(struct esc *e, const char *name, struct arg3 a, int want)
{
	int sig;
	long rc = esc_forked(try_socket, &a, &sig);

	if (sig)
		esc_is(e, name, false, "killed by signal %d", sig);
	else
		esc_err(e, name, rc, want);
}

static void allow(struct esc *e, const char *name, struct arg3 a)
{
	int sig;

	esc_need(e, name, esc_forked(try_socket, &a, &sig) == 0);
}

static bool family_allowed(int f)
{
	return f == AF_UNIX || f == AF_INET || f == AF_INET6 || f == AF_NETLINK;
}

int main(int argc, char **argv)
{
	struct esc e = esc_init(argc, argv);
	char name[64];
	int sig;

	for (int f = 3; f <= 46; f++) {
		if (family_allowed(f))
			continue;
		snprintf(name, sizeof(name), "65:family_%d", f);
		deny(&e, name, (struct arg3){f, SOCK_DGRAM, 0}, EAFNOSUPPORT);
		snprintf(name, sizeof(name), "65:family_%d_high_bits", f);
		deny(&e, name, (struct arg3){HIGH | f, SOCK_DGRAM, 0}, EAFNOSUPPORT);
	}
	deny(&e, "65:packet_raw", (struct arg3){AF_PACKET, SOCK_RAW, 0x0300}, EAFNOSUPPORT);
	deny(&e, "65:alg_seqpacket", (struct arg3){AF_ALG, SOCK_SEQPACKET, 0}, EAFNOSUPPORT);
	deny(&e, "65:vsock_stream_high_bits", (struct arg3){HIGH | AF_VSOCK, SOCK_STREAM, 0}, EAFNOSUPPORT);
	for (int p = 1; p <= 22; p++) {
		snprintf(name, sizeof(name), "65:netlink_%d", p);
		deny(&e, name, (struct arg3){AF_NETLINK, SOCK_RAW, p}, EAFNOSUPPORT);
	}
	deny(&e, "65:netlink_9_high_bits", (struct arg3){HIGH | AF_NETLINK, SOCK_RAW, HIGH | 9},
	     EAFNOSUPPORT);
	deny(&e, "66:inet_raw", (struct arg3){AF_INET, SOCK_RAW, 1}, EPERM);
	deny(&e, "66:inet6_raw", (struct arg3){AF_INET6, SOCK_RAW, 58}, EPERM);
	deny(&e, "66:inet_raw_flags", (struct arg3){AF_INET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 255},
	     EPERM);
	deny(&e, "66:inet_raw_high_bits", (struct arg3){HIGH | AF_INET, HIGH | SOCK_RAW, 1}, EPERM);
	deny(&e, "66:inet_packet", (struct arg3){AF_INET, SOCK_PACKET, 0x0300}, EPERM);
	struct arg3 inet_pair = {AF_INET, SOCK_STREAM, 0};
	long rc = esc_forked(try_pair, &inet_pair, &sig);
	esc_err2(&e, "65:socketpair_inet", rc, EAFNOSUPPORT, EOPNOTSUPP);

	struct arg3 unix_pair = {AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0};
	esc_need(&e, "65:socketpair_unix", esc_forked(try_pair, &unix_pair, &sig) == 0);
	allow(&e, "65:unix", (struct arg3){AF_UNIX, SOCK_STREAM, 0});
	allow(&e, "65:inet_tcp", (struct arg3){AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0});
	allow(&e, "65:inet_udp", (struct arg3){AF_INET, SOCK_DGRAM, 17});
	allow(&e, "65:inet6_tcp", (struct arg3){AF_INET6, SOCK_STREAM, 6});
	allow(&e, "65:netlink_route", (struct arg3){AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0});
	return esc_end(&e);
}
