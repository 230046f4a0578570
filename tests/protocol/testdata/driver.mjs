// Plays the gateway of a transcript through the TypeScript client, and writes what came of it: node driver.mjs CLIENT SOCKET TRANSCRIPT
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [module, socket, transcript] = process.argv.slice(2);
const { connect, RefusedError } = await import(pathToFileURL(module).href);
const lines = readFileSync(transcript, "utf8").trimEnd().split("\n").map((line) => JSON.parse(line));
const say = (report) => console.log(JSON.stringify(report));

let seen = 0; // of the daemon's lines
let waiting = [];
const saw = () => { seen++; waiting.splice(0).forEach((wake) => wake()); };
const until = async (count) => { while (seen < count) await new Promise((wake) => waiting.push(wake)); };

const request = (id) => lines.find(({ from, message }) => from === "daemon" && message.id === id && message.method);
const handler = (method, key) => (params, signal) => new Promise((resolve, reject) => {
  say({ method, params });
  Object.assign(lines.find(({ from, message }) => from === "daemon" && message.method === method && message.params[key] === params[key]), { resolve, reject });
  signal.addEventListener("abort", () => { saw(); reject(signal.reason); });
  saw();
});
const told = (method) => (params) => { say({ method, params }); saw(); };

let client;
async function perform(method, params) {
  switch (method) {
    case "initialize":
      client = await connect(socket, {
        ...params.client, servers: params.servers, announce: params.tools,
        tools: handler("tools/call", "idempotency_key"), approvals: params.approvals ? handler("approvals/request", "id") : undefined,
        progress: told("run/progress"), console: told("run/console"),
      });
      return client.welcome;
    case "execute": return client.execute(params);
    case "cancel": return client.cancel(params);
    case "tools/describe": return client.describe(params);
    case "status": return client.status();
    case "approvals/list": return client.approvals();
    case "approvals/decide": return client.decide(params);
  }
  return client.call(method, params);
}

let before = 0; // of the daemon's lines, that must have come
const asked = [];
for (const [line, { from, message: { id, method, params, result, error } }] of lines.entries()) {
  if (from === "daemon") {
    before++;
    continue;
  }
  await until(before);
  if (method === undefined) {
    const to = request(id);
    if (error) to.reject(new RefusedError(error.code, error.message));
    else to.resolve(result);
    continue;
  }
  asked.push(perform(method, params).then((result) => say({ line, result }), ({ code, message, data }) => say({ line, error: { code, message, data } })).then(saw));
}
await Promise.all(asked);
await until(before);
await client?.close();
