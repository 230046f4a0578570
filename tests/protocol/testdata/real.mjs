// What the TypeScript client promises, beside a real daemon: node real.mjs CLIENT SOCKET
import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";

const [module, socket] = process.argv.slice(2);
const { connect, ClosedError, Code, RefusedError } = await import(pathToFileURL(module).href);

let hanging; // resolves with the signal of the next call of hang
const began = () => new Promise((resolve) => { hanging = resolve; });
const tools = {
  echo: ({ arguments: args }) => ({ structuredContent: args }),
  refuse: () => { throw new RefusedError(Code.INVALID_PARAMS, "not this one"); },
  fail: async () => { throw new Error(`it said "no" — ${"x".repeat(20_000)}`); },
  nothing: () => undefined,
  circular: () => { const a = { content: [] }; a.a = a; return a; },
  large: () => ({ content: [{ type: "text", text: "x".repeat(9 << 20) }] }),
  key: ({ idempotency_key, run, n }) => ({ structuredContent: idempotency_key === `${run}/${n}` }),
  hang: (_, signal) => new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason));
    hanging(signal);
  }),
};
const options = { name: "real", version: "1", servers: ["t"], tools: (call, signal) => tools[call.tool](call, signal) };
const client = await connect(socket, options);
assert.equal(client.welcome.server.name, "sandboxd");
const value = async (source, input) => {
  const { outcome, value, error } = await client.execute({ source, input });
  assert.equal(outcome, "ok", error?.message);
  return value;
};
const caught = (tool) => value(`return tools.t.${tool}({}).catch(e => e.message)`);

// Several at once, on one connection.
const inputs = Array.from({ length: 20 }, (_, i) => ({ i, text: `é 😀 \u2028 ${i}` }));
assert.deepEqual(await Promise.all(inputs.map((input) => value("return (await tools.t.echo({ input })).input", input))), inputs);
const odd = JSON.parse('{"half": "\\ud800", "__proto__": {"a": null}, "n": -0.5e-7}');
assert.deepEqual(await value("return input", odd), odd);
assert.equal(await value("return tools.t.key({})"), true);

// What a handler does wrong is the program's to catch.
assert.equal(await caught("refuse"), "not this one");
assert.match(await caught("fail"), /^it said "no" — xxx/);
assert.match(await caught("nothing"), /^it was carried out, but its answer can't be sent: the gateway's handler returned no object/);
assert.match(await caught("circular"), /circular/);
assert.match(await caught("large"), /^it was carried out, but its answer can't be sent: a line is longer than 8388608 bytes$/);

// An abort cancels the run; the result says what became of the call, and the handler hears of it.
const control = new AbortController();
const signal = began();
const cancelled = client.execute({ source: "await tools.t.hang({})" }, { signal: control.signal });
const theirs = await signal;
control.abort();
const { outcome, calls } = await cancelled;
assert.deepEqual([outcome, calls[0].state], ["cancelled", "unknown"]);
if (!theirs.aborted) await new Promise((resolve) => theirs.addEventListener("abort", resolve));
await assert.rejects(client.execute({ source: "return 1" }, { signal: AbortSignal.abort(new Error("before")) }), /before/);
const early = new AbortController();
const soon = client.execute({ source: "await new Promise(() => setTimeout(() => {}, 20000))" }, { signal: early.signal });
early.abort(); // the request may not have arrived
assert.equal((await soon).outcome, "cancelled");
assert.equal((await client.status()).running, 0);

// Refusals have their code.
await assert.rejects(client.execute({ source: "return 1", profile: "none" }), (e) => e instanceof RefusedError && e.name === "RefusedError" && e.code === Code.INVALID_PARAMS);
await assert.rejects(client.call("nope"), { code: Code.UNKNOWN_METHOD });
await assert.rejects(client.execute({ source: 1n }), TypeError);

// A hang-up ends what waits.
const last = began();
const lost = client.execute({ source: "await tools.t.hang({})" });
const dead = await last;
client.close();
await assert.rejects(lost, (e) => e instanceof ClosedError && e.sent && /execute: the gateway closed the connection/.test(e.message));
assert.equal(dead.aborted, true);
assert.match((await client.closed).message, /the gateway closed/);
await assert.rejects(client.status(), (e) => e instanceof ClosedError && !e.sent);
await assert.rejects(connect(socket + ".none", options), (e) => e instanceof ClosedError && !e.sent && /ENOENT/.test(e.message));
await assert.rejects(connect(socket, { ...options, signal: AbortSignal.abort(new Error("never")) }), /never/);
await assert.rejects(connect(socket, { ...options, servers: ["t", "t"] }), { code: Code.INVALID_PARAMS });
console.log('"ok"');
