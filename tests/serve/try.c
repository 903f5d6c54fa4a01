/* SPDX-License-Identifier: Apache-2.0 */
/* By hand: serve-try [EXEC OPTIONS] -- TEXT... runs each text as a call of one session. */
#include <stdio.h>
#include <string.h>

#include "tests/serve/drv.h"

int main(int argc, char *argv[])
{
	static struct drv d;
	int n = 1;

	while (n < argc && strcmp(argv[n], "--") != 0)
		n++;
	drv_start(&d, n - 1, argv + 1);
	for (n++; n < argc; n++) {
		struct call *c = drv_text(&d, argv[n], INIT_EXEC_SESSION);

		printf("code %d flags %x user %llu us %s %s\nout: %s\nerr: %s\n", drv_code(c), c->end.flags,
		       (unsigned long long)c->end.user_ns / 1000, c->text, c->hint, c->data[0], c->data[1]);
		drv_free(c);
	}
	drv_stats(&d);
	printf("procs %u fds %u spares %u commands %llu\n", d.stats.processes, d.stats.fds, d.stats.spares,
	       (unsigned long long)d.stats.commands);
	printf("stopped in %d ms\n", drv_stop(&d));
	return 0;
}
