/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the default profile's filter as bwrap --seccomp wants it: plain struct sock_filter. A tool of the
 * bench only. */
#include <stdio.h>

#include "seccomp/filters.h"

int main(void)
{
	const struct seccomp_filter *f = seccomp_profile("default");

	return !f || fwrite(f->insns, 8, f->count, stdout) != f->count;
}
