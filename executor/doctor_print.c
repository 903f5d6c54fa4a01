/* SPDX-License-Identifier: Apache-2.0 */
/* Output of `ak doctor`: aligned text or one JSON document. Pure. Privilege: none. */
#include "executor/doctor_int.h"

#include <string.h>
#include <sys/utsname.h>

#include "executor/shared/ak_buf.h"
#include "executor/shared/ak_err.h"
#include "executor/shared/ak_json_out.h"

#define PRINT_COLUMNS 110

static const char *const result_names[] = {
	[DOCTOR_OK] = "ok",	[DOCTOR_FAIL] = "fail", [DOCTOR_WARN] = "warn",
	[DOCTOR_INFO] = "info", [DOCTOR_SKIP] = "skip",
};

static size_t count(const struct doctor_row *rows, size_t n, enum doctor_result r)
{
	size_t c = 0;

	for (size_t i = 0; i < n; i++)
		c += rows[i].result == r;
	return c;
}

bool doctor_ok(const struct doctor_row *rows, size_t n)
{
	return count(rows, n, DOCTOR_FAIL) == 0;
}

/* Words up to the right edge, further lines under the first. The text's first line starts at column @indent.
 */
static void put_wrapped(struct ak_buf *out, size_t indent, const char *text)
{
	size_t col = indent;

	while (*text) {
		size_t w = strcspn(text, " ");

		if (col > indent && col + 1 + w > PRINT_COLUMNS) {
			ak_buf_printf(out, "\n%*s", (int)indent, "");
			col = indent;
		} else if (col > indent) {
			ak_buf_str(out, " ");
			col++;
		}
		ak_buf_add(out, text, w);
		col += w;
		text += w + (text[w] == ' ');
	}
	ak_buf_str(out, "\n");
}

void doctor_print_text(const struct doctor_row *rows, size_t n, uid_t uid, struct ak_buf *out)
{
	struct utsname u = {0};
	size_t width = 0, warnings = count(rows, n, DOCTOR_WARN);

	(void)uname(&u);
	for (size_t i = 0; i < n; i++) {
		size_t w = strlen(rows[i].name);

		if (rows[i].result != DOCTOR_SKIP && w > width)
			width = w;
	}
	ak_buf_printf(out, "ak %s on Linux %s %s, as uid %u\n\n", AK_VERSION, u.release, u.machine,
		      (unsigned)uid);
	for (size_t i = 0; i < n; i++) {
		if (rows[i].result == DOCTOR_SKIP)
			continue;
		ak_buf_printf(out, "%-4s  %-*s  ", result_names[rows[i].result], (int)width, rows[i].name);
		put_wrapped(out, width + 8, rows[i].detail);
		if (!rows[i].fix[0])
			continue;
		ak_buf_printf(out, "%*s-> ", (int)width + 8, "");
		put_wrapped(out, width + 11, rows[i].fix);
	}
	ak_buf_printf(out, "\n%s: %zu ok, %zu failed, %zu warning%s\n",
		      doctor_ok(rows, n) ? "Sandboxes can be built here" : "Sandboxes cannot be built here",
		      count(rows, n, DOCTOR_OK), count(rows, n, DOCTOR_FAIL), warnings,
		      warnings == 1 ? "" : "s");
}

void doctor_print_json(const struct doctor_row *rows, size_t n, uid_t uid, struct ak_buf *out)
{
	struct utsname u = {0};
	struct ak_json j;

	(void)uname(&u);
	ak_json_init(&j, out);
	ak_json_obj(&j, NULL);
	ak_json_str(&j, "schema", "ak-doctor/1");
	ak_json_bool(&j, "ok", doctor_ok(rows, n));
	ak_json_str(&j, "version", AK_VERSION);
	ak_json_str(&j, "kernel", u.release);
	ak_json_str(&j, "machine", u.machine);
	ak_json_u64(&j, "uid", uid);
	ak_json_arr(&j, "checks");
	for (size_t i = 0; i < n; i++) {
		if (rows[i].result == DOCTOR_SKIP)
			continue;
		ak_json_obj(&j, NULL);
		ak_json_str(&j, "name", rows[i].name);
		ak_json_str(&j, "result", result_names[rows[i].result]);
		ak_json_str(&j, "errno", rows[i].code ? ak_errno_name(rows[i].code) : NULL);
		ak_json_str(&j, "detail", rows[i].detail);
		ak_json_str(&j, "fix", rows[i].fix[0] ? rows[i].fix : NULL);
		ak_json_obj_end(&j);
	}
	ak_json_arr_end(&j);
	ak_json_obj_end(&j);
	ak_buf_str(out, "\n");
}
