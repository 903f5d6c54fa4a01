/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What docker and a script in a container say. Laws: a complaint is one line without controls; a number that was read was there; an
 * owner that was read is written the same.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "executor/docker/docker_text.h"
#include "executor/shared/ak_err.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool ok)
{
	if (!ok)
		abort();
}

static void complaint(const char *text)
{
	char line[100];
	struct ak_err err = {0};
	enum docker_why why = docker_complaint(text, line, sizeof(line));

	expect(why >= DOCKER_WHY_OTHER && why < DOCKER_WHY_MAX && strlen(line) < sizeof(line));
	for (const char *p = line; *p; p++)
		expect((unsigned char)*p >= 0x20 && *p != 0x7f);
	expect(docker_start_failed(125, false, text, "image", &err) == why && err.code > 0 && err.msg[0]);
}

static void owner(const char *text)
{
	struct docker_owner o, again;
	char written[DOCKER_OWNER_BYTES];

	if (!docker_owner_read(text, &o))
		return;
	docker_owner_write(&o, written);
	expect(docker_owner_read(written, &again));
	expect(again.pid == o.pid && again.start == o.start && again.pidns == o.pidns && strcmp(again.boot, o.boot) == 0);
	expect(!docker_owner_dead(&o, &o, o.start) && strlen(o.boot) < sizeof(o.boot));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct docker_facts f;

	expect(text != NULL);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	complaint(text);
	docker_facts_read(text, &f);
	expect(f.has_memory || f.memory_bytes == 0);
	expect(f.has_pids || f.pids == 0);
	expect(f.has_cpu || f.cpu_milli == 0);
	expect(f.seccomp <= 2 && f.nnp <= 1);
	owner(text);
	free(text);
	return 0;
}
