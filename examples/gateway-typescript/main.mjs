// A gateway with one tool: it runs the program on its standard input in the daemon at $SANDBOXD_SOCKET.
// @ts-check
import { readFileSync } from "node:fs";
import { connect, DEFAULT_SOCKET } from "../../clients/typescript/index.js"; // as a dependency: from "sandboxd"

const client = await connect(process.env.SANDBOXD_SOCKET ?? DEFAULT_SOCKET, {
  name: "gateway-typescript",
  servers: ["time"],
  announce: [{ server: "time", name: "now", input_schema: { type: "object", additionalProperties: false } }],
  tools: call,
});
try {
  const result = await client.execute({ source: readFileSync(0, "utf8") });
  if (result.error) {
    const { message, line, hint = "" } = result.error; // for the model: it can mend its program
    console.error(`${result.outcome}: ${message}${line ? ` (line ${line})` : ""} ${hint}`.trimEnd());
    process.exitCode = 1;
  } else {
    console.log(JSON.stringify(result.value));
  }
} finally {
  await client.close();
}

/**
 * Performs a tool call that the daemon let through, with whatever credentials it takes, and returns an MCP CallToolResult.
 * @param {import("../../clients/typescript/index.js").ToolCall} call
 */
async function call({ idempotency_key, server, tool, arguments: args }) {
  console.error(`${idempotency_key}: ${server}.${tool}(${JSON.stringify(args)})`);
  return { content: [], structuredContent: { now: new Date().toISOString() } };
}
