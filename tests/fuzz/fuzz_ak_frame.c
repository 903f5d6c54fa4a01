/* SPDX-License-Identifier: Apache-2.0 */
/* Law: a packet of any bytes is a frame whose header says what it is, or malformed; a frame's bytes sent again are the same. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "executor/serve_int.h"
#include "executor/shared/ak_chan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(int ok)
{
	if (!ok)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t buf[AK_MSG_MAX], back[AK_MSG_MAX];
	static int sock[2] = { -1, -1 };
	struct ak_frame f;
	int r;

	if (sock[0] < 0)
		expect(ak_chan_pair(sock, NULL) == 0);
	if (size == 0 || size > AK_MSG_MAX || send(sock[0], data, size, MSG_DONTWAIT) != (ssize_t)size)
		return 0;
	r = ak_chan_recv(sock[1], buf, &f, MSG_DONTWAIT);
	expect(r == 1 || r == -EBADMSG);
	if (r != 1)
		return 0;
	expect(f.nfds == 0 && f.len == size - AK_HDR_BYTES);
	/* the table takes any frame without looking beyond its numbers */
	for (unsigned state = 0; state < CONN_STATES; state++)
		(void)dispatch_look((enum conn_state)state, f.op, f.len, f.nfds);
	expect(ak_chan_send(sock[0], f.op, f.seq, f.payload, f.len, NULL, 0, MSG_DONTWAIT) == 0);
	expect(recv(sock[1], back, sizeof(back), MSG_DONTWAIT) == (ssize_t)size);
	expect(memcmp(back, data, size) == 0);
	return 0;
}
