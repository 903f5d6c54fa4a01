/* SPDX-License-Identifier: Apache-2.0 */
/* Is a year a leap year? */
#include "leap.h"

int is_leap(int year)
{
	return year % 4 == 0;
}
