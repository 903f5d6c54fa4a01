/* SPDX-License-Identifier: Apache-2.0 */
int is_leap(int year);
