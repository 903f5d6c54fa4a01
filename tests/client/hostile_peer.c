/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hostile client: random frames, mostly valid, in every state against a live executor. The executor must not crash, must not grow,
 * must never give more than its policy, and the host must be as it was.
 * Usage: hostile_peer AK WORKSPACE SECONDS [SEED]. Tests only.
 */
#include "tests/client/drive.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "executor/shared/ak_chan.h"

#define BASE_MORE 8	/* descriptors of the prepared sandbox, which may not be there yet when the base is measured */
#define IDS 32
#define POLICY_PIDS 60u
#define POLICY_NOFILE 200u
#define POLICY_CPU_TIME_MS 1000u
#define POLICY_MEMORY (96u << 20)
#define FDS_BOUND 900	/* what all maxima together may need */

struct peer {
	struct drive d;		/* for its name of a test and its expectations */
	pid_t pid;
	int fd;
	uint32_t seq;
	uint32_t box[IDS], cmd[IDS], job[AK_JOBS_MAX];
	unsigned nbox, ncmd, njob;
	bool hello;
	int base_fds;
	unsigned long code[AK_CODE_END];	/* refusals by reason */
	unsigned long frames, replies, refused, malformed, lives, created, started, results;
	uint8_t buf[AK_MSG_MAX], out[AK_MSG_MAX];
};

static uint64_t rnd(uint64_t n)
{
	return n ? (uint64_t)random() * 2654435761u % n : 0;
}

static uint64_t edge(void)
{
	static const uint64_t edges[] = { 0, 1, 2, 63, 64, 255, 4096, 65535, 1u << 20, UINT32_MAX, (uint64_t)UINT32_MAX + 1, INT64_MAX, UINT64_MAX };

	return rnd(3) ? edges[rnd(sizeof(edges) / sizeof(edges[0]))] : rnd(100000);
}

static uint32_t an_id(const uint32_t *ids, unsigned n)
{
	return n && rnd(12) ? ids[rnd(n)] : (uint32_t)edge();
}

/* ---- the executor ---- */

static bool spawn_peer(struct peer *p)
{
	char *argv[] = { (char *)p->d.ak, (char *)"serve", (char *)"-C", (char *)p->d.ws, (char *)"--pids", (char *)"60", (char *)"--nofile",
			 (char *)"200", (char *)"--cpu-time", (char *)"1", (char *)"--memory", (char *)"96m", (char *)"--pool", (char *)"1", NULL };
	int sock[2];

	if (ak_chan_pair(sock, NULL) < 0)
		return false;
	p->pid = fork();
	if (p->pid == 0) {
		(void)dup2(sock[1], STDIN_FILENO);
		for (int fd = 3; fd < 64; fd++)
			(void)close(fd);
		execv(argv[0], argv);
		_exit(99);
	}
	(void)close(sock[1]);
	p->fd = sock[0];
	p->hello = false;
	p->nbox = p->ncmd = 0;
	p->base_fds = 0;
	p->lives++;
	return p->pid > 0;
}

/* the executor must end by itself now, and well */
static void reap(struct peer *p, const char *why)
{
	double t0 = now_s();
	int status = 0;
	pid_t r;

	(void)close(p->fd);
	while ((r = waitpid(p->pid, &status, WNOHANG)) == 0 && now_s() - t0 < 60)
		nap_ms(5);
	want(&p->d, r == p->pid, "the executor did not end: %s", why);
	want(&p->d, r != p->pid || (WIFEXITED(status) && WEXITSTATUS(status) == 0), "the executor ended with status %x: %s", status, why);
	if (r == 0) {
		(void)kill(p->pid, SIGKILL);
		(void)waitpid(p->pid, NULL, 0);
	}
	want(&p->d, now_s() - t0 < 30, "the executor took %.1f s to end: %s", now_s() - t0, why);
	p->fd = -1;
}

/* ---- what comes back ---- */

static void check_facts(struct peer *p, const struct ak_facts *f)
{
	static const uint64_t max[AK_LIMITS] = { [AK_LIMIT_MEMORY] = POLICY_MEMORY, [AK_LIMIT_PIDS] = POLICY_PIDS, [AK_LIMIT_CPU_TIME] = POLICY_CPU_TIME_MS,
						 [AK_LIMIT_NOFILE] = POLICY_NOFILE };

	for (unsigned i = 0; i < AK_LIMITS; i++)
		if (max[i])
			want(&p->d, f->limit[i].by != AK_BY_UNSET && f->limit[i].value <= max[i], "limit %u was widened to %llu", i,
			     (unsigned long long)f->limit[i].value);
	want(&p->d, f->net == AK_NET_NONE, "the network was widened");
	want(&p->d, strcmp(f->workspace, p->d.ws) == 0, "the workspace is '%s'", f->workspace);
}

/* a probe's output: limit of processes, of files, network interfaces, and a word if something was reached that must not be */
static void check_probe(struct peer *p, const struct ak_result *r)
{
	char text[512];
	unsigned nofile, nif;
	size_t n = r->out[0].bytes_len < sizeof(text) - 1 ? r->out[0].bytes_len : sizeof(text) - 1;

	if (!r->out[0].bytes || n < 6 || memcmp(r->out[0].bytes, "probe ", 6) != 0)
		return;
	memcpy(text, r->out[0].bytes, n);
	text[n] = '\0';
	if (sscanf(text, "probe %u %u", &nofile, &nif) == 2)
		want(&p->d, nofile <= POLICY_NOFILE && nif <= 1, "a command has more than the policy: '%s'", text);
	want(&p->d, !strstr(text, "REACHED"), "a command reached the host: '%s'", text);
}

static void remember(uint32_t *ids, unsigned *n, uint32_t id)
{
	ids[*n < IDS ? (*n)++ : rnd(IDS)] = id;
}

static void on_reply(struct peer *p, struct ak_frame *f)
{
	static struct ak_result res;
	static struct ak_created cr;
	static struct ak_hello_reply h;
	static struct ak_jobs jobs;
	static struct ak_sandboxes boxes;
	static struct ak_stat st;
	struct ak_started started;
	struct ak_refused refused;
	struct ak_log_data log;
	struct ak_file_reply file;
	struct ak_changed changed;
	struct ak_checkpointed checkpointed;
	struct ak_touched touched;
	int r = 0;

	p->replies++;
	switch (f->op) {
	case AK_OP_OK:
		r = f->len ? -1 : 0;
		break;
	case AK_OP_REFUSED:
		r = ak_refused_decode(f->payload, f->len, &refused);
		p->refused++;
		if (r == 0)
			p->code[refused.code]++;
		break;
	case AK_OP_HELLO_REPLY:
		r = ak_hello_reply_decode(f->payload, f->len, &h);
		p->hello = true;
		if (r == 0)
			check_facts(p, &h.facts);
		break;
	case AK_OP_CREATED:
		r = ak_created_decode(f->payload, f->len, &cr);
		p->created++;
		if (r == 0) {
			check_facts(p, &cr.facts);
			remember(p->box, &p->nbox, cr.sandbox);
		}
		break;
	case AK_OP_STARTED:
		r = ak_started_decode(f->payload, f->len, &started);
		p->started++;
		if (r == 0)
			remember(p->cmd, &p->ncmd, started.cmd);
		break;
	case AK_OP_RESULT:
		r = ak_result_decode(f->payload, f->len, &res);
		p->results++;
		if (r == 0)
			check_probe(p, &res);
		break;
	case AK_OP_JOBS:
		r = ak_jobs_decode(f->payload, f->len, &jobs);
		p->njob = 0;
		for (uint32_t i = 0; r == 0 && i < jobs.count; i++)
			if (jobs.job[i].running)
				p->job[p->njob++] = jobs.job[i].cmd;
		break;
	case AK_OP_LOG_DATA:
		r = ak_log_data_decode(f->payload, f->len, &log);
		break;
	case AK_OP_FILE_REPLY:
		r = ak_file_reply_decode(f->payload, f->len, &file);
		break;
	case AK_OP_CHANGED:
		r = ak_changed_decode(f->payload, f->len, &changed);
		break;
	case AK_OP_TOUCHED:
		r = ak_touched_decode(f->payload, f->len, &touched);
		break;
	case AK_OP_CHECKPOINTED:
		r = ak_checkpointed_decode(f->payload, f->len, &checkpointed);
		break;
	case AK_OP_SANDBOX:
		r = ak_stat_decode(f->payload, f->len, &st);
		if (r == 0)
			check_facts(p, &st.facts);
		break;
	case AK_OP_SANDBOXES:
		r = ak_sandboxes_decode(f->payload, f->len, &boxes);
		p->nbox = 0;
		for (uint32_t i = 0; r == 0 && i < boxes.count && p->nbox < IDS; i++)
			if (boxes.sandbox[i].state == AK_SANDBOX_READY || boxes.sandbox[i].state == AK_SANDBOX_STARTING)
				p->box[p->nbox++] = boxes.sandbox[i].id;
		break;
	default:
		r = -1;
	}
	want(&p->d, r == 0, "a reply with op %u and %zu bytes does not decode", f->op, f->len);
}

/* Return: false when the connection has ended */
static bool drain(struct peer *p, int wait_ms)
{
	struct pollfd pf = { .fd = p->fd, .events = POLLIN };
	struct ak_frame f;
	int r;

	while (poll(&pf, 1, wait_ms) > 0) {
		r = ak_chan_recv(p->fd, p->buf, &f, MSG_DONTWAIT);
		if (r == -EAGAIN)
			return true;
		if (r <= 0) {
			want(&p->d, r == 0 || r == -ECONNRESET, "the executor sent a malformed frame");
			return false;
		}
		on_reply(p, &f);
		ak_frame_release(&f);
		wait_ms = 0;
	}
	return true;
}

/* ---- what is sent ---- */

static int some_fd(void)
{
	int p[2] = { -1, -1 }, fd = -1;

	switch (rnd(9)) {
	case 0:
		return open("/dev/null", O_RDWR | O_CLOEXEC);
	case 1:
	case 2:
	case 3:
	case 4:
		if (pipe2(p, O_CLOEXEC) < 0)
			return -1;
		fd = rnd(2);
		(void)close(p[1 - fd]);
		return p[fd];
	case 5:
		return open("/etc/passwd", O_RDONLY | O_CLOEXEC);
	case 6:
		return ak_memfd_sealed("x", "hello", rnd(6));
	case 7:
		return memfd_create("y", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	default:
		return open("/", O_PATH | O_CLOEXEC);
	}
}

static const char *some_path(void)
{
	static const char *const paths[] = { "a", "dir", "dir/b", "../canary/file", "/etc/passwd", "/proc/1/root/etc/shadow", "", ".", "..", "/",
					     "link", "fifo", "/tmp/x", "/dev/null", "dir/../../canary", "/dev/shm/y", "a/b/c/d/e/f/g", "/proc/self/mem" };

	return paths[rnd(sizeof(paths) / sizeof(paths[0]))];
}

static const char *some_text(void)
{
	static const char *const texts[] = {
		"echo probe $(ulimit -n) $(grep -c : /proc/net/dev); test -e ../canary/file && echo REACHED; cat /etc/shadow 2>/dev/null && echo REACHED",
		"echo x > ../canary/file && echo REACHED", "kill -9 -1", "kill -9 1; kill -9 $PPID", "exit 3", "sleep 0.2", "sleep 100 & exec true",
		"yes | head -c 300000", "b() { b & }; for i in 1 2 3 4 5 6 7 8 9; do b; done; sleep 0.1", "rm -rf ./* ; mkdir -p dir; ln -s / link; mkfifo fifo", "cat", "setsid sleep 50 &",
		"export X=1; cd /tmp", "echo 'unclosed", "dd if=/dev/zero of=/tmp/big bs=1M count=200 2>/dev/null", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done", "exec 1>&-; sleep 0.1",
		"unshare -Ur true && echo REACHED", "mount -t tmpfs x /mnt && echo REACHED", "printf '\\033]0;x\\007\\200'", "ulimit -n 100000 && echo REACHED",
	};

	return texts[rnd(sizeof(texts) / sizeof(texts[0]))];
}

static long make_create(struct peer *p)
{
	struct ak_create m = { .name = rnd(8) ? "" : rnd(2) ? "box" : "-bad/name", .flags = (uint32_t)rnd(16) };

	if (!rnd(4))
		m.memory_bytes = rnd(2) ? edge() : POLICY_MEMORY;
	if (!rnd(4))
		m.pids = rnd(2) ? edge() : 30;
	if (!rnd(30))
		m.cpu_milli = edge();
	if (rnd(3))
		m.timeout_ms = rnd(12) ? 500 : edge();
	if (!rnd(8))
		m.nofile = edge();
	if (!rnd(12))
		m.fsize_bytes = edge();
	if (!rnd(12))
		m.max_output = edge();
	m.nunset = (uint32_t)rnd(3);
	m.unset[0] = rnd(8) ? "PATH" : "=";
	m.unset[1] = "HOME";
	return ak_create_encode(&m, p->out, AK_PAYLOAD_MAX);
}

static long make_exec(struct peer *p, int fds[AK_FDS_MAX], size_t *nfds)
{
	const char *argv[] = { "sh", "-c", some_text(), NULL }, *text[] = { some_text(), NULL }, *env[] = { "A=b", "LD_PRELOAD=/x", "HOME", "=bad", NULL };
	struct ak_exec m = { .sandbox = an_id(p->box, p->nbox), .kind = (uint8_t)(1 + rnd(4)), .flags = (uint32_t)(rnd(3) ? 0 : rnd(128)) };
	bool shell = m.kind == AK_EXEC_SHELL || m.kind == AK_EXEC_SESSION;
	long n;

	m.flags &= ~(uint32_t)(AK_EXEC_BODY_FD | (m.kind == AK_EXEC_SESSION ? 0u : (uint32_t)AK_EXEC_RESET));
	for (int i = 0; i < 3; i++)
		m.stream[i] = (uint8_t)rnd(3);
	if (!rnd(6))
		m.stream[0] = m.stream[1] = m.stream[2] = AK_STREAM_PTY;
	if (m.stream[0] == AK_STREAM_CAPTURE)
		m.stream[0] = AK_STREAM_NULL;
	if (rnd(2) && m.stream[0] != AK_STREAM_PTY)
		m.stream[1] = m.stream[2] = AK_STREAM_CAPTURE;
	if (m.flags & AK_EXEC_MERGE)
		m.stream[2] = m.stream[0] == AK_STREAM_PTY ? AK_STREAM_PTY : AK_STREAM_NULL;
	if (m.flags & AK_EXEC_JOB)
		m.stream[0] = m.stream[1] = m.stream[2] = AK_STREAM_NULL;
	if (m.flags & AK_EXEC_TIMEOUT_SET)
		m.timeout_ms = rnd(2) ? 200 : edge();
	m.max_output = rnd(3) ? 0 : edge();
	m.kill_after_ms = rnd(500);
	m.session = m.kind == AK_EXEC_SESSION ? (uint32_t)rnd(AK_SESSIONS_MAX) : 0;
	if (!rnd(4)) {
		m.nrlimits = 1;
		m.rlimit[0] = (struct ak_rlimit){ (uint32_t)rnd(16), edge() };
	}
	if (!rnd(8)) {
		m.nextra = 1;
		m.extra[0] = (uint32_t)(3 + rnd(200));
	}
	m.body = (struct ak_exec_body){ .cwd = rnd(4) ? "" : rnd(2) ? "/tmp" : "rel", .argv = { .vec = shell ? text : argv, .count = shell ? 1 : 3 },
					.env = { .vec = env, .count = (uint32_t)(rnd(30) ? rnd(4) : 4) } };
	if (!rnd(6)) {
		static uint8_t body[65536];
		long b = ak_exec_body_encode(&m.body, body, sizeof(body));
		int fd = b > 0 ? ak_memfd_sealed("body", body, (size_t)b) : -1;

		if (fd >= 0) {
			m.flags |= AK_EXEC_BODY_FD;
			m.body_len = (uint32_t)(rnd(8) ? b : b + 1);
			fds[(*nfds)++] = rnd(8) ? fd : (close(fd), some_fd());
		}
	}
	n = ak_exec_encode(&m, p->out, AK_PAYLOAD_MAX);
	while (n > 0 && *nfds < ak_exec_nfds(&m))
		fds[(*nfds)++] = some_fd();
	return n;
}

static long make_file(struct peer *p, int fds[AK_FDS_MAX], size_t *nfds)
{
	static uint8_t data[AK_FILE_INLINE];
	struct ak_file m = { .sandbox = an_id(p->box, p->nbox), .op = (uint8_t)(1 + rnd(8)), .flags = (uint32_t)rnd(32), .path = some_path(),
			     .offset = rnd(3) ? 0 : edge(), .limit = rnd(3) ? 0 : edge(), .mode = (uint32_t)rnd(010000) };

	m.path2 = m.op == AK_FILE_RENAME || !rnd(20) ? some_path() : "";
	if (m.op != AK_FILE_WRITE)
		m.flags &= ~(uint32_t)AK_FILE_DATA_FD;
	if (m.flags & AK_FILE_DATA_FD) {
		fds[(*nfds)++] = some_fd();
	} else if (m.op == AK_FILE_WRITE) {
		m.bytes = data;
		m.bytes_len = (uint32_t)rnd(AK_FILE_INLINE);
	}
	return ak_file_encode(&m, p->out, AK_PAYLOAD_MAX);
}

/* Return: payload bytes of a valid request of any kind */
static long make_request(struct peer *p, uint16_t *op, int fds[AK_FDS_MAX], size_t *nfds)
{
	uint32_t cmd = an_id(p->cmd, p->ncmd), action = 1 + (uint32_t)rnd(4), box = rnd(4) ? an_id(p->box, p->nbox) : 0;

	/* running something is what most of it is about */
	*op = rnd(3) == 0 ? AK_OP_EXEC : (uint16_t)(1 + rnd(AK_OP_REQUESTS_END - 1));
	if (*op == AK_OP_HELLO && p->hello)
		*op = AK_OP_LIST;
	if (*op == AK_OP_DESTROY && rnd(8))
		*op = p->nbox < 6 ? AK_OP_CREATE : AK_OP_EXEC;	/* else there is never one to do anything in */
	if (!p->hello && rnd(50))
		*op = AK_OP_HELLO;
	switch (*op) {
	case AK_OP_HELLO:
		return ak_hello_encode(&(struct ak_hello){ rnd(40) ? AK_PROTO_VERSION : (uint32_t)edge(), "hostile" }, p->out, AK_PAYLOAD_MAX);
	case AK_OP_CREATE:
		return make_create(p);
	case AK_OP_EXEC:
		return make_exec(p, fds, nfds);
	case AK_OP_SIGNAL:
		return ak_signal_encode(&(struct ak_signal){ cmd, (uint32_t)rnd(65) }, p->out, AK_PAYLOAD_MAX);
	case AK_OP_KILL:
		return ak_cmd_ref_encode(&(struct ak_cmd_ref){ cmd }, p->out, AK_PAYLOAD_MAX);
	case AK_OP_RESIZE:
		return ak_resize_encode(&(struct ak_resize){ cmd, (uint32_t)rnd(65536), (uint32_t)rnd(65536) }, p->out, AK_PAYLOAD_MAX);
	case AK_OP_WAIT:
		return ak_wait_req_encode(&(struct ak_wait_req){ cmd, rnd(2) ? rnd(100) : edge() }, p->out, AK_PAYLOAD_MAX);
	case AK_OP_DESTROY:
		for (unsigned i = 0; i < p->nbox; i++)
			if (p->box[i] == box && rnd(4))
				p->box[i--] = p->box[--p->nbox];
		__attribute__((fallthrough));
	case AK_OP_JOB_LIST:
	case AK_OP_STAT:
		return ak_sandbox_ref_encode(&(struct ak_sandbox_ref){ box }, p->out, AK_PAYLOAD_MAX);
	case AK_OP_JOB_LOG:
		return ak_job_log_encode(&(struct ak_job_log){ cmd, edge(), (uint32_t)rnd(AK_LOG_CHUNK) }, p->out, AK_PAYLOAD_MAX);
	case AK_OP_FILE:
		return make_file(p, fds, nfds);
	case AK_OP_CHANGES:
		return ak_changes_req_encode(&(struct ak_changes_req){ box, (uint32_t)rnd(20) }, p->out, AK_PAYLOAD_MAX);
	case AK_OP_CHECKPOINT:
		return ak_checkpoint_encode(&(struct ak_checkpoint){ box, (uint32_t)rnd(2) }, p->out, AK_PAYLOAD_MAX);
	case AK_OP_ROLLBACK:
		return ak_rollback_encode(&(struct ak_rollback){ (uint32_t)rnd(2) }, p->out, AK_PAYLOAD_MAX);
	case AK_OP_SESSION:
		return ak_session_encode(&(struct ak_session){ (uint32_t)rnd(2), "s-0123456789ab" }, p->out, AK_PAYLOAD_MAX);
	case AK_OP_FINISH:
		if (rnd(20)) {
			*op = AK_OP_LIST;
			return 0;
		}
		return ak_finish_encode(&(struct ak_finish){ box, (uint8_t)action, (uint32_t)rnd(2), action == 4 ? 1 + (uint32_t)rnd(3) : 0 }, p->out, AK_PAYLOAD_MAX);
	case AK_OP_SHUTDOWN:
		if (rnd(200)) {
			*op = AK_OP_LIST;
			return 0;
		}
		return ak_shutdown_encode(&(struct ak_shutdown){ (uint32_t)rnd(2) }, p->out, AK_PAYLOAD_MAX);
	default:
		*op = AK_OP_LIST;
		return 0;
	}
}

/* Return: false when the connection must end now, since the frame was broken on purpose or the state was wrong */
static bool send_one(struct peer *p)
{
	int fds[AK_FDS_MAX + 1];
	size_t nfds = 0;
	uint16_t op;
	long n = make_request(p, &op, fds, &nfds);
	bool good = p->hello || op == AK_OP_HELLO;
	int r;

	if (n < 0)
		n = 0, op = AK_OP_LIST, good = p->hello;
	for (size_t i = 0; i < nfds; i++)
		if (fds[i] < 0)
			fds[i] = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (!rnd(1000)) {
		switch (rnd(4)) {
		case 0:
			n = n > 0 ? n - 1 : 1;
			break;
		case 1:
			op = (uint16_t)(rnd(2) ? AK_OP_REFUSED + rnd(20) : edge());
			break;
		case 2:
			if (nfds < AK_FDS_MAX)
				fds[nfds++] = open("/dev/null", O_RDWR | O_CLOEXEC);
			break;
		default:
			p->out[rnd((uint64_t)(n > 0 ? n : 1))] ^= (uint8_t)(1 + rnd(255));
		}
		good = false;	/* or not: a changed byte may still be a request */
		p->malformed++;
	}
	r = ak_chan_send(p->fd, op, ++p->seq, p->out, (size_t)n, fds, nfds, MSG_DONTWAIT);
	for (size_t i = 0; i < nfds; i++)
		(void)close(fds[i]);
	p->frames++;
	if (r == -EAGAIN)
		return drain(p, 20);
	if (r < 0)
		return false;
	return good || drain(p, 50);
}

/* ---- one executor's life ---- */

static void health(struct peer *p)
{
	int fds = count_fds((unsigned)p->pid);

	want(&p->d, fds < FDS_BOUND, "the executor has %d descriptors", fds);
	want(&p->d, proc_status((unsigned)p->pid, "VmRSS:") < 400 * 1024, "the executor has %ld KiB", proc_status((unsigned)p->pid, "VmRSS:"));
}

static void call(struct peer *p, uint16_t op, const void *payload, size_t len)
{
	(void)ak_chan_send(p->fd, op, ++p->seq, payload, len, NULL, 0, 0);
	(void)drain(p, 200);
}

static void destroy_all(struct peer *p)
{
	uint32_t box[IDS], job[AK_JOBS_MAX];
	unsigned n, k;

	call(p, AK_OP_LIST, NULL, 0);
	call(p, AK_OP_JOB_LIST, p->out, (size_t)ak_sandbox_ref_encode(&(struct ak_sandbox_ref){ 0 }, p->out, AK_PAYLOAD_MAX));
	n = p->nbox;
	k = p->njob;
	memcpy(box, p->box, sizeof(box));
	memcpy(job, p->job, sizeof(job));
	for (unsigned i = 0; i < n; i++)
		call(p, AK_OP_DESTROY, p->out, (size_t)ak_sandbox_ref_encode(&(struct ak_sandbox_ref){ box[i] }, p->out, AK_PAYLOAD_MAX));
	for (unsigned i = 0; i < k; i++)
		call(p, AK_OP_KILL, p->out, (size_t)ak_cmd_ref_encode(&(struct ak_cmd_ref){ job[i] }, p->out, AK_PAYLOAD_MAX));
}

/* everything is destroyed: then the executor is as large as it was. Return: false when the connection has ended */
static bool settle(struct peer *p)
{
	double t0 = now_s();

	while (now_s() - t0 < 20 && count_fds((unsigned)p->pid) > p->base_fds + BASE_MORE) {
		destroy_all(p);
		if (!drain(p, 50))
			return false;
	}
	return true;
}

static void live(struct peer *p, double end)
{
	double until = now_s() + 2 + (double)rnd(6);
	unsigned long n = 0;

	if (!want(&p->d, spawn_peer(p), "the executor could not be started"))
		return;
	/* most lives are orderly at the start, so that a base can be measured */
	if (rnd(5)) {
		long len = ak_hello_encode(&(struct ak_hello){ AK_PROTO_VERSION, "hostile" }, p->out, AK_PAYLOAD_MAX);

		(void)ak_chan_send(p->fd, AK_OP_HELLO, ++p->seq, p->out, (size_t)len, NULL, 0, 0);
		(void)drain(p, 10000);
		p->base_fds = count_fds((unsigned)p->pid);
		for (int i = 0; i < 2; i++) {
			len = ak_create_encode(&(struct ak_create){ .timeout_ms = 800 }, p->out, AK_PAYLOAD_MAX);
			(void)ak_chan_send(p->fd, AK_OP_CREATE, ++p->seq, p->out, (size_t)len, NULL, 0, 0);
			(void)drain(p, 5000);
		}
	}
	while (now_s() < end && now_s() < until && !p->d.why[0]) {
		if (!send_one(p)) {
			reap(p, "after a frame that ends the connection");
			return;
		}
		if (rnd(4) && !drain(p, rnd(3) ? 0 : 10)) {	/* now and then it does not read */
			reap(p, "the executor ended the connection");
			return;
		}
		if (++n % 64 == 0)
			health(p);
	}
	if (p->base_fds && p->hello && settle(p))
		want(&p->d, count_fds((unsigned)p->pid) <= p->base_fds + BASE_MORE, "descriptors grew from %d to %d", p->base_fds, count_fds((unsigned)p->pid));
	reap(p, "after its client has gone");
}

/* ---- the host ---- */

static uint64_t hash_file(const char *path)
{
	uint64_t h = 1469598103934665603u;
	int c;
	FILE *f = fopen(path, "re");

	while (f && (c = fgetc(f)) != EOF)
		h = (h ^ (uint64_t)c) * 1099511628211u;
	if (f)
		(void)fclose(f);
	return h;
}

struct host {
	uint64_t canary, mounts;
	struct stat st;
};

static struct host look_at_host(const char *ws)
{
	char path[4096];
	struct host h = { 0 };

	(void)snprintf(path, sizeof(path), "%s/../canary/file", ws);
	h.canary = hash_file(path);
	(void)stat(path, &h.st);
	h.mounts = hash_file("/proc/self/mountinfo");
	return h;
}

static void make_canary(const char *ws)
{
	char path[4096];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/../canary", ws);
	(void)mkdir(path, 0755);
	(void)snprintf(path, sizeof(path), "%s/../canary/file", ws);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd >= 0) {
		(void)!write(fd, "untouched\n", 10);
		(void)close(fd);
	}
}

static bool enough(const struct peer *p)
{
	return p->results > 0 && p->refused > 0 && p->malformed > 0;
}

int main(int argc, char *argv[])
{
	static struct peer p;
	struct host before, after;
	unsigned seed = argc > 4 ? (unsigned)strtoul(argv[4], NULL, 10) : (unsigned)time(NULL) ^ (unsigned)getpid();
	double end;

	if (argc < 4)
		return 2;
	p.d.ak = argv[1];
	p.d.ws = argv[2];
	end = now_s() + atof(argv[3]);
	srandom(seed);
	(void)signal(SIGPIPE, SIG_IGN);
	make_canary(p.d.ws);
	before = look_at_host(p.d.ws);
	t(&p.d, "hostile:executor-lives-within-its-policy");
	/* on a busy machine the time may be too short for each kind to have come */
	while (!p.d.why[0] && (now_s() < end || (now_s() < end + 60 && !enough(&p))))
		live(&p, now_s() < end ? end : now_s() + 5);
	printf("NOTE\tseed %u: %lu lives, %lu frames (%lu broken), %lu replies, %lu refused, %lu sandboxes, %lu started, %lu results\n", seed, p.lives,
	       p.frames, p.malformed, p.replies, p.refused, p.created, p.started, p.results);
	printf("NOTE\trefused by code:");
	for (unsigned i = 1; i < AK_CODE_END; i++)
		printf(" %u:%lu", i, p.code[i]);
	putchar('\n');
	want(&p.d, enough(&p), "too little happened");
	t(&p.d, "hostile:host-is-as-it-was");
	after = look_at_host(p.d.ws);
	want(&p.d, before.canary == after.canary && before.st.st_mtim.tv_sec == after.st.st_mtim.tv_sec && before.st.st_ino == after.st.st_ino,
	     "a file beside the workspace was changed");
	want(&p.d, before.mounts == after.mounts, "mounts were changed");
	t_end(&p.d);
	return p.d.failed ? 1 : 0;
}
