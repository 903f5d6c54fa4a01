/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The empty network: loopback works, nothing else is there. Runs as a command in a sandbox. tcp=PORT,
 * udp=PORT, abs=NAME and sock=PATH are live listeners of the host.
 */
#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include "tests/escape/esc.h"

static long inet_try(int type, const char *ip, int port)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);

	inet_pton(AF_INET, ip, &a.sin_addr);
	long rc = type == SOCK_STREAM ? connect(fd, (struct sockaddr *)&a, sizeof(a))
				      : sendto(fd, "x", 1, 0, (struct sockaddr *)&a, sizeof(a));
	int keep = errno;
	close(fd);
	errno = keep;
	return rc;
}

static long inet6_try(int type, const char *ip, int port)
{
	struct sockaddr_in6 a = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
	int fd = socket(AF_INET6, type | SOCK_CLOEXEC, 0);

	inet_pton(AF_INET6, ip, &a.sin6_addr);
	long rc = type == SOCK_STREAM ? connect(fd, (struct sockaddr *)&a, sizeof(a))
				      : sendto(fd, "x", 1, 0, (struct sockaddr *)&a, sizeof(a));
	int keep = errno;
	close(fd);
	errno = keep;
	return rc;
}

static long unix_try(const char *name, bool abstract)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(a.sun_path + abstract, sizeof(a.sun_path) - abstract, "%s", name);
	long rc = connect(fd, (struct sockaddr *)&a,
			  offsetof(struct sockaddr_un, sun_path) + abstract + strlen(name) + !abstract);
	int keep = errno;
	close(fd);
	errno = keep;
	return rc;
}

static void check_routes(struct esc *e)
{
	static const char *const v4[] = {"192.0.2.1", "8.8.8.8", "10.0.0.1", "169.254.169.254",
					 "255.255.255.255"};
	char name[64];

	for (size_t i = 0; i < sizeof(v4) / sizeof(*v4); i++) {
		snprintf(name, sizeof(name), "76+90:tcp_%s", v4[i]);
		esc_err2(e, name, inet_try(SOCK_STREAM, v4[i], 80), ENETUNREACH, i == 4 ? EACCES : 0);
		snprintf(name, sizeof(name), "90:udp_%s", v4[i]);
		esc_err2(e, name, inet_try(SOCK_DGRAM, v4[i], 53), ENETUNREACH, i == 4 ? EACCES : 0);
	}
	esc_err(e, "90:tcp6", inet6_try(SOCK_STREAM, "2001:db8::1", 80), ENETUNREACH);
	esc_err(e, "90:udp6", inet6_try(SOCK_DGRAM, "2001:db8::1", 53), ENETUNREACH);
	esc_err2(e, "90:multicast", inet_try(SOCK_DGRAM, "224.0.0.1", 53), ENETUNREACH, 0);
}

static void check_interfaces(struct esc *e)
{
	struct if_nameindex *ifs = if_nameindex();
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq r = {0};
	int n = 0;
	bool lo = false;

	for (struct if_nameindex *i = ifs; i && i->if_index; i++) {
		n++;
		lo |= !strcmp(i->if_name, "lo");
	}
	esc_is(e, "90:only_lo", n == 1 && lo, "%d interfaces", n);
	snprintf(r.ifr_name, sizeof(r.ifr_name), "lo");
	esc_need(e, "56:lo_up", ioctl(fd, SIOCGIFFLAGS, &r) == 0 && (r.ifr_flags & IFF_UP));
	r.ifr_flags = 0;
	esc_err(e, "56:lo_down", ioctl(fd, SIOCSIFFLAGS, &r), EPERM);
	close(fd);
}

static bool loopback(int family)
{
	struct sockaddr_in a4 = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr_in6 a6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	struct sockaddr *a = family == AF_INET ? (struct sockaddr *)&a4 : (struct sockaddr *)&a6;
	socklen_t len = family == AF_INET ? sizeof(a4) : sizeof(a6);
	int l = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0),
	    c = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char b = 0;

	if (l < 0 || c < 0 || bind(l, a, len) || listen(l, 1) || getsockname(l, a, &len) ||
	    connect(c, a, len))
		return false;
	int s = accept(l, NULL, NULL);
	return s >= 0 && write(s, "y", 1) == 1 && read(c, &b, 1) == 1 && b == 'y';
}

static void check_host(struct esc *e)
{
	const char *tcp = esc_arg(e, "tcp"), *udp = esc_arg(e, "udp"), *abs = esc_arg(e, "abs"),
		   *sock = esc_arg(e, "sock");

	if (tcp)
		esc_err(e, "91:host_tcp", inet_try(SOCK_STREAM, "127.0.0.1", esc_num(tcp)), ECONNREFUSED);
	if (udp)
		inet_try(SOCK_DGRAM, "127.0.0.1", esc_num(udp)); /* the listener says whether something came */
	if (abs)
		esc_err2(e, "91:host_abstract", unix_try(abs, true), ECONNREFUSED, EPERM);
	if (sock)
		esc_err2(e, "95:host_path_socket", unix_try(sock, false), ENOENT, EACCES);
}

int main(int argc, char **argv)
{
	struct esc e = esc_init(argc, argv);

	if (!esc_arg(&e, "hostnet")) {
		check_routes(&e);
		check_interfaces(&e);
		esc_need(&e, "56:loopback_v4", loopback(AF_INET));
		esc_need(&e, "56:loopback_v6", loopback(AF_INET6));
	}
	check_host(&e);
	return esc_end(&e);
}
