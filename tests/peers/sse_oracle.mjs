// SPDX-License-Identifier: Apache-2.0
// What the official SDKs make of recorded streams: serves each file over loopback and writes NAME.sdk.json beside it.
// usage: sse_oracle.mjs [--check] PEERS FOLDER...   (a folder is called anthropic, chat or responses)
// --check: writes nothing, compares with what is there.
import http from 'node:http';
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const args = process.argv.slice(2);
const check = args[0] === '--check';
if (check) args.shift();
const [peers, ...folders] = args;
const require_ = createRequire(path.resolve(peers, 'package.json'));
const load = async (name) => (await import(pathToFileURL(require_.resolve(name)).href)).default;
const Anthropic = await load('@anthropic-ai/sdk');
const OpenAI = await load('openai');

let body = Buffer.alloc(0);
let chunk = 7;
const server = http.createServer((q, r) => {
	q.resume();
	r.writeHead(200, { 'content-type': 'text/event-stream' });
	let at = 0;
	const step = () => {
		if (at >= body.length) return r.end();
		r.write(body.subarray(at, at + chunk));
		at += chunk;
		setImmediate(step);
	};
	step();
});
await new Promise((ok) => server.listen(0, '127.0.0.1', ok));
const baseURL = `http://127.0.0.1:${server.address().port}`;

// members that the SDKs add to what came
const ADDED = new Set(['parsed', 'parsed_output', 'parsed_arguments', 'output_text']);
const plain = (v) => {
	if (Array.isArray(v)) return v.map(plain);
	if (v && typeof v === 'object') {
		return Object.fromEntries(Object.entries(v).filter(([k, x]) => !ADDED.has(k) && x !== undefined).map(([k, x]) => [k, plain(x)]));
	}
	return v;
};

const ask = {
	async anthropic() {
		const client = new Anthropic({ apiKey: 'k', baseURL, maxRetries: 0 });
		const m = await client.messages.stream({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'x' }] }).finalMessage();
		return { turn: plain(m.content), stop: m.stop_reason, usage: plain(m.usage) };
	},
	async chat() {
		const client = new OpenAI({ apiKey: 'k', baseURL, maxRetries: 0 });
		const stream = client.chat.completions.stream({ model: 'm', stream_options: { include_usage: true }, messages: [{ role: 'user', content: 'x' }] });
		const m = await stream.finalChatCompletion();
		const choice = m.choices.find((c) => c.index === 0);
		return { turn: plain(choice.message), stop: choice.finish_reason, usage: plain(m.usage ?? null) };
	},
	async responses() {
		const client = new OpenAI({ apiKey: 'k', baseURL, maxRetries: 0 });
		const m = await client.responses.stream({ model: 'm', input: 'x' }).finalResponse();
		return { turn: plain(m.output), stop: m.status, usage: plain(m.usage ?? null) };
	},
};

let bad = 0;
for (const folder of folders) {
	const kind = path.basename(folder);
	for (const file of fs.readdirSync(folder).filter((f) => f.endsWith('.sse')).sort()) {
		body = fs.readFileSync(path.join(folder, file));
		chunk = body.length > 100000 ? 4096 : 7;
		let result;
		try {
			result = await ask[kind]();
		} catch (e) {
			result = { error: `${e.constructor.name}: ${String(e.message).slice(0, 160)}` };
		}
		const out = path.join(folder, file.replace(/\.sse$/, '.sdk.json'));
		const text = JSON.stringify(result, null, 1) + '\n';
		if (!check) fs.writeFileSync(out, text);
		else if (!fs.existsSync(out) || fs.readFileSync(out, 'utf8') !== text) {
			console.log(`differs: ${out}`);
			bad = 1;
		}
	}
}
server.close();
process.exit(bad);
