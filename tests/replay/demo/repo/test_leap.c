/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "leap.h"

static int failed;

static void check(int year, int want)
{
	if (is_leap(year) != want) {
		printf("FAIL: is_leap(%d) is %d, want %d\n", year, is_leap(year), want);
		failed = 1;
	}
}

int main(void)
{
	check(2023, 0);
	check(2024, 1);
	check(1900, 0);
	check(2000, 1);
	puts(failed ? "some tests failed" : "all tests passed");
	return failed;
}
