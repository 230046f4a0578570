// Writes what an MCP server from npm announces to one file: names and schemas, without the sentences of its authors.
//   node capture.mjs NODE_MODULES PACKAGE OUT -- ARGUMENT…
// Tools that want a key need none to be listed: any word will do, in the environment.
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { join } from 'node:path'

const [modules, name, out, , ...args] = process.argv.slice(2)
const { version, bin } = JSON.parse(readFileSync(join(modules, name, 'package.json')))
const script = typeof bin === 'string' ? bin : Object.values(bin)[0]
const server = spawn('node', [join(modules, name, script), ...args], { stdio: ['pipe', 'pipe', 'ignore'] })
const waiting = new Map()
createInterface({ input: server.stdout }).on('line', line => {
  let message
  try { message = JSON.parse(line) } catch { return }
  waiting.get(message.id)?.(message.result)
})
let last = 0
const send = message => server.stdin.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n')
const ask = (method, params) => new Promise(answer => { waiting.set(++last, answer); send({ id: last, method, params }) })

await ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'capture', version: '1' } })
send({ method: 'notifications/initialized' })
const tools = []
for (let cursor; ;) {
  const page = await ask('tools/list', { cursor })
  tools.push(...page.tools)
  cursor = page.nextCursor
  if (!cursor) break
}
server.kill()

// wordless drops descriptions and titles where they are keywords of a schema, and keeps properties of these names.
const maps = new Set(['properties', '$defs', 'definitions', 'patternProperties', 'dependentSchemas'])
const wordless = (schema, isMap) => {
  if (Array.isArray(schema)) return schema.map(item => wordless(item))
  if (schema === null || typeof schema !== 'object') return schema
  return Object.fromEntries(Object.entries(schema)
    .filter(([key]) => isMap || !['description', 'title', '$comment', 'examples', 'markdownDescription'].includes(key))
    .map(([key, value]) => [key, ['default', 'const', 'enum'].includes(key) && !isMap ? value : wordless(value, !isMap && maps.has(key))]))
}
const lines = tools.map(t => JSON.stringify({
  name: t.name, inputSchema: wordless(t.inputSchema), outputSchema: wordless(t.outputSchema), annotations: t.annotations && wordless(t.annotations),
}))
writeFileSync(out, `{"package":${JSON.stringify(name)},"version":${JSON.stringify(version)},"tools":[\n${lines.join(',\n')}\n]}\n`)
process.exit(0)
