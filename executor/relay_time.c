/* SPDX-License-Identifier: Apache-2.0 */
/* The relay's deadlines. Process: executor. Privilege: none. */
#include "executor/relay_priv.h"
#include "executor/shared/ak_clock.h"

#define NS_PER_MS 1000000u
#define NS_PER_S 1000000000u

uint64_t relay_now(void)
{
	return ak_now_ns();
}

/* From now; a deadline that would be centuries away is as good as none */
void relay_set(struct relay *r, enum relay_timer t, uint64_t after_ms)
{
	uint64_t now = relay_now();

	r->at[t] = after_ms < (INT64_MAX - now) / NS_PER_MS ? now + after_ms * NS_PER_MS : INT64_MAX;
}

/* Return: 1 with the time until the next deadline, 0 when there is none */
int relay_wait_time(const struct relay *r, struct timespec *ret)
{
	uint64_t next = UINT64_MAX, now, wait;

	for (int t = 0; t < TIMER_COUNT; t++)
		if (r->at[t] && r->at[t] < next)
			next = r->at[t];
	if (next == UINT64_MAX)
		return 0;
	now = relay_now();
	wait = next > now ? next - now : 0;
	*ret = (struct timespec){ .tv_sec = (time_t)(wait / NS_PER_S), .tv_nsec = (long)(wait % NS_PER_S) };
	return 1;
}

static void sample(struct relay *r)
{
	unsigned next_ms = WATCH_MAX_MS;
	enum watch_verdict v;

	if (r->dead || r->exited || r->failed)
		return;
	v = watch_sample(&r->watch, &next_ms);
	if (v == WATCH_OK)
		relay_set(r, TIMER_WATCH, next_ms);
	else
		relay_end(r, v == WATCH_MEMORY ? CAUSE_MEMORY : CAUSE_CPU);
}

static void give_up(struct relay *r)
{
	if (!r->dead) {		/* not before the last byte is written: ask again soon */
		relay_set(r, TIMER_GIVEUP, RELAY_GIVEUP_MS);
		return;
	}
	for (int i = 0; i < 2; i++)
		pump_give_up(&r->out[i]);
}

static void expired(struct relay *r, enum relay_timer t)
{
	switch (t) {
	case TIMER_TIMEOUT:
		relay_end(r, CAUSE_TIMEOUT);
		break;
	case TIMER_KILL:
		relay_kill(r);
		break;
	case TIMER_GIVEUP:
		give_up(r);
		break;
	case TIMER_OUTPUT:
		relay_end(r, CAUSE_OUTPUT);
		break;
	case TIMER_WATCH:
		sample(r);
		break;
	case TIMER_PTY:
		r->out[0].hup = false;
		break;
	default:	/* TIMER_DENIALS: that it is over is all */
		break;
	}
}

void relay_expire(struct relay *r)
{
	uint64_t now = relay_now();

	for (int t = 0; t < TIMER_COUNT; t++) {
		if (!r->at[t] || r->at[t] > now)
			continue;
		r->at[t] = 0;
		expired(r, (enum relay_timer)t);
	}
}
