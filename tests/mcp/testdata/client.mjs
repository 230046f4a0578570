// An MCP client on the official TypeScript SDK: its version 2 speaks MCP 2026-07-28, version 1 the one with sessions.
// usage: node client.mjs v1|v2 NODE_MODULES COMMAND ARG...
import {createRequire} from "node:module"
import {join} from "node:path"
import {pathToFileURL} from "node:url"

const [version, modules, command, ...args] = process.argv.slice(2)
const require = createRequire(join(modules, "any.js"))
const load = name => import(pathToFileURL(require.resolve(name)))
const [{Client}, {StdioClientTransport}] = version === "v2"
  ? [await load("@modelcontextprotocol/client"), await load("@modelcontextprotocol/client/stdio")]
  : [await load("@modelcontextprotocol/sdk/client/index.js"), await load("@modelcontextprotocol/sdk/client/stdio.js")]
const elicit = version === "v2" ? "elicitation/create" : (await load("@modelcontextprotocol/sdk/types.js")).ElicitRequestSchema

const options = {capabilities: {elicitation: {}}}
if (version === "v2") options.versionNegotiation = {mode: "auto"}
const client = new Client({name: "test", version: "1"}, options)
const asked = []
client.setRequestHandler(elicit, request => {
  asked.push(request.params.message)
  return {action: "accept", content: {approve: request.params.message.includes("create_issue") ? "never" : "call"}}
})
await client.connect(new StdioClientTransport({command, args, env: process.env}))
const call = (name, args, options) => version === "v2"
  ? client.callTool({name, arguments: args}, options)
  : client.callTool({name, arguments: args}, undefined, options)
const out = {protocol: version === "v2" ? client.getNegotiatedProtocolVersion() : "sessions", tools: (await client.listTools()).tools.map(t => t.name)}
out.servers = (await call("search_tools", {})).structuredContent
out.found = (await call("search_tools", {query: "issues", limit: 1})).structuredContent
out.answer = await call("execute_code", {code: `
  const issues = await tools.tracker.list_issues({repo: "acme/infra"})
  const most = issues.toSorted((a, b) => b.comments - a.comments)[0].number
  return {most, sum: await tools.everything.get_sum({a: 40, b: 2})}`})
out.refused = await call("execute_code", {code: "return await tools.tracker.create_issue({repo: 'acme/api', title: 'x'})"})
let progress = 0
const stop = new AbortController()
out.cancelled = await call("execute_code", {code: "await new Promise(r => setTimeout(r, 25000))"},
  {signal: stop.signal, onprogress: () => { progress++; stop.abort("enough") }}).then(() => "no", e => "yes: " + (e?.message ?? e))
out.progress = progress
out.after = await call("execute_code", {code: "return 'on'"})
out.asked = asked.length
console.log(JSON.stringify(out))
await client.close()
