/** What a gateway in TypeScript writes, and what its compiler must not let it write. */
import { Client, ClosedError, Code, connect, RefusedError, type CallToolResult, type Result, type ToolCall } from "../../../clients/typescript/index.js";

async function perform(call: ToolCall, signal: AbortSignal): Promise<CallToolResult> {
  signal.throwIfAborted();
  const key: string = call.idempotency_key;
  return { content: [{ type: "text", text: key }], isError: false };
}

export async function use(path: string): Promise<Result["outcome"] | number> {
  const client: Client = await connect(path, {
    name: "usage", servers: ["a"], announce: [{ server: "a", name: "b", annotations: { readOnlyHint: true } }], tools: perform,
    approvals: async (request) => ({ approve: request.arguments?.amount < 5, scope: "call" }),
    progress: ({ doing }) => console.log(doing), console: ({ text }) => console.log(text),
  });
  try {
    const { outcome, value, error, calls } = await client.execute({ source: "return 1", limits: { wall_ms: 1 } }, { signal: new AbortController().signal });
    if (outcome === "busy") return error?.retry_after_ms ?? 0;
    const { tools } = await client.describe({ tools: [{ server: "a" }] });
    await client.cancel({ token: "x" });
    await client.decide({ id: "x", approve: false, reason: tools[0].signature });
    console.log(value.anything + calls[0].state + (await client.status()).pool[0].ready);
    return outcome;
  } catch (e) {
    if (e instanceof RefusedError && e.code === Code.INVALID_PARAMS) return e.code;
    if (e instanceof ClosedError && !e.sent) return 0;
    throw e;
  }
}

export async function misuse(client: Client) {
  // @ts-expect-error: no such member
  await client.execute({ source: "return 1", langauge: "typescript" });
  // @ts-expect-error: neither run nor token
  await client.cancel({});
  // @ts-expect-error: what does not say is no answer
  await connect("path", { name: "x", approvals: async () => ({}) });
  // @ts-expect-error: no outcome
  if ((await client.execute({ source: "" })).outcome === "okay") return;
  // @ts-expect-error: connect makes them
  new Client("path", { name: "x" });
}
