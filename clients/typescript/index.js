// @ts-check
// The client of sandboxd for Node: one connection, on which both ends may ask. index.d.ts has what it exports, docs/protocol.md
// the protocol. What comes over the socket is bounded and checked before it is used.
import { connect as dial } from "node:net";

export const PROTOCOL_VERSION = "1";
export const DEFAULT_SOCKET = "/run/sandboxd/sandboxd.sock";

/** Codes of a RefusedError. */
export const Code = Object.freeze({
  PARSE: -32700, INVALID_REQUEST: -32600, UNKNOWN_METHOD: -32601, INVALID_PARAMS: -32602, INTERNAL: -32603,
  REFUSED: -32000, BUSY: -32001, VERSION: -32002,
});

const MAX_LINE = 8 << 20; // bytes of a message, of either end
const MAX_HANDLERS = 1024; // requests of the daemon that are being answered
const MAX_MESSAGE = 8 << 10; // characters of an error that goes to the program, which is told no more
const MAX_UNREAD = 1 << 20; // bytes that the daemon has not read: then nothing more is read from it either
const WRITE_WAIT = 30_000; // ms that it may leave bytes unread
const INITIAL_WAIT = 60_000; // ms for its welcome; one that is being restarted may drain for 30 s first
const LAST_WORDS = 2_000; // ms after a cancel, for the result
const CANCEL_AGAIN = 5; // ms: the request to run it may not have arrived yet

export class SandboxdError extends Error {
  get name() { return this.constructor.name; }
}

/** The other end did not take a request. */
export class RefusedError extends SandboxdError {
  /** @param {number} code @param {string} message @param {unknown} [data] */
  constructor(code, message, data) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** The connection ended before there was an answer. */
export class ClosedError extends SandboxdError {
  /** @param {string} what @param {boolean} sent @param {unknown} cause */
  constructor(what, sent, cause) {
    super(`${what}: ${cause instanceof Error ? cause.message : cause}`, { cause });
    this.sent = sent;
  }
}

/** @param {string} path @param {import("./index.js").Options} options */
export async function connect(path, options) {
  const client = new Client(path, options);
  const timer = setTimeout(() => client.close(new Error(`no welcome within ${INITIAL_WAIT / 1000} s`)), INITIAL_WAIT);
  const abort = () => void client.close(options.signal?.reason);
  options.signal?.addEventListener("abort", abort);
  try {
    options.signal?.throwIfAborted();
    client.welcome = await client.call("initialize", {
      protocol_version: PROTOCOL_VERSION,
      client: { name: options.name, version: options.version },
      servers: options.servers,
      tools: options.announce,
      approvals: options.approvals !== undefined,
    });
    if (client.welcome.protocol_version !== PROTOCOL_VERSION) {
      throw new SandboxdError(`the daemon speaks protocol version ${client.welcome.protocol_version}, this client ${PROTOCOL_VERSION}`);
    }
    return client;
  } catch (error) {
    client.close(error);
    throw options.signal?.aborted ? options.signal.reason : error;
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener("abort", abort);
  }
}

/** @typedef {Record<string, any>} Json */
/** @typedef {{ method: string, resolve: (result: any) => void, reject: (error: Error) => void }} Pending */

const object = (/** @type {unknown} */ value) => typeof value === "object" && value !== null && !Array.isArray(value);
const text = (/** @type {unknown} */ value) => typeof value === "string";
const count = (/** @type {unknown} */ value) => Number.isSafeInteger(value);
const sleep = (/** @type {number} */ ms) => new Promise((wake) => setTimeout(wake, ms));
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** @typedef {(value: unknown) => boolean} Check */
/** What the daemon may send, and the members without which it means nothing. @type {Record<string, Record<string, Check>>} */
const KNOWN = {
  "tools/call": { run: text, n: count, idempotency_key: text, server: text, tool: text, arguments: object },
  "approvals/request": { id: text, run: text, n: count, server: text, tool: text },
  "run/progress": { run: text },
  "run/console": { run: text, level: text, text },
  "tools/cancel": { run: text, n: count },
  "approvals/cancel": { id: text },
};

/** @param {string} method @param {Json} params */
function missing(method, params) {
  const wrong = Object.entries(KNOWN[method]).find(([name, check]) => !check(params?.[name]));
  return wrong && `params: ${wrong[0]} is missing, or not what docs/protocol.md says`;
}

export class Client {
  /** @type {import("./index.js").InitializeResult} */
  welcome = /** @type {any} */ (undefined); // until connect has it
  /** @type {Promise<Error>} */
  closed;

  #options;
  #socket;
  #connected = false;
  /** @type {Error | undefined} */
  #ended; // why
  /** @type {RefusedError | undefined} */
  #refusal; // of the connection, not of a request
  #next = 0;
  #tokens = 0;
  #serving = 0;
  /** @type {Map<number, Pending>} */
  #pending = new Map();
  /** @type {Map<string, AbortController>} */
  #handlers = new Map(); // by what tools/cancel and approvals/cancel name
  #line = Buffer.alloc(0); // the beginning of a line
  #length = 0; // of it
  /** @type {NodeJS.Timeout | undefined} */
  #unread;

  /** @param {string} path @param {import("./index.js").Options} options */
  constructor(path, options) {
    this.#options = options;
    this.#socket = dial({ path });
    this.closed = new Promise((resolve) => this.#socket.once("close", () => {
      this.#end(new Error("the connection is closed"));
      resolve(/** @type {Error} */ (this.#ended));
    }));
    this.#socket.on("connect", () => { this.#connected = true; });
    this.#socket.on("error", (error) => this.#end(error));
    this.#socket.on("end", () => this.#end(new Error("the daemon hung up" + (this.#length > 0 ? " in the middle of a line" : ""))));
    this.#socket.on("data", (chunk) => this.#read(chunk));
    this.#socket.on("drain", () => {
      clearTimeout(this.#unread);
      this.#unread = undefined;
      this.#socket.resume();
    });
  }

  /** @param {import("./index.js").Program} program @param {{ signal?: AbortSignal }} [options] */
  async execute(program, { signal } = {}) {
    signal?.throwIfAborted();
    const token = program.token || `run-${++this.#tokens}`; // by which to cancel it
    const result = this.call("execute", { ...program, token });
    if (!signal) return result;
    let over = false;
    let timer = /** @type {NodeJS.Timeout | undefined} */ (undefined);
    let abort = async () => {};
    return new Promise((resolve, reject) => {
      abort = async () => {
        timer = setTimeout(() => { over = true; reject(signal.reason); }, LAST_WORDS);
        while (!over) {
          const { cancelled } = await this.cancel({ token }).catch(() => ({ cancelled: 1 }));
          if (cancelled > 0) return;
          await sleep(CANCEL_AGAIN);
        }
      };
      signal.addEventListener("abort", abort, { once: true });
      result.then(resolve, reject);
    }).finally(() => {
      over = true;
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
    });
  }

  cancel(/** @type {import("./index.js").CancelParams} */ params) { return this.call("cancel", params); }
  describe(/** @type {import("./index.js").DescribeParams} */ params = {}) { return this.call("tools/describe", params); }
  status() { return this.call("status"); }
  approvals() { return this.call("approvals/list"); }
  decide(/** @type {import("./index.js").DecideParams} */ params) { return this.call("approvals/decide", params); }

  /** @param {string} method @param {object} [params] @returns {Promise<any>} */
  call(method, params = {}) {
    return new Promise((resolve, reject) => {
      if (this.#ended) throw new ClosedError(`sandboxd: ${method}`, false, this.#ended);
      const id = ++this.#next;
      this.#send({ id, method, params });
      this.#pending.set(id, { method, resolve, reject });
    });
  }

  /** @param {unknown} [why] */
  close(why = new Error("the gateway closed the connection")) {
    this.#end(why);
    return this.closed;
  }

  /** @param {unknown} cause */
  #end(cause) {
    if (this.#ended) return;
    this.#ended = this.#refusal ?? (cause instanceof Error ? cause : new Error(String(cause)));
    clearTimeout(this.#unread);
    for (const { method, reject } of this.#pending.values()) {
      reject(new ClosedError(`sandboxd: ${method}`, this.#connected, this.#ended));
    }
    this.#pending.clear();
    for (const handler of this.#handlers.values()) handler.abort(this.#ended);
    this.#socket.destroySoon(); // what was said last goes out
    setTimeout(() => this.#socket.destroy(), LAST_WORDS).unref();
  }

  /** @param {Buffer} chunk */
  #read(chunk) {
    for (let start = 0; start < chunk.length && !this.#ended;) {
      const newline = chunk.indexOf(10, start);
      const part = chunk.subarray(start, newline < 0 ? chunk.length : newline);
      if (this.#length + part.length > MAX_LINE) return this.#broken(`a line is longer than ${MAX_LINE} bytes`, Code.INVALID_REQUEST);
      if (newline < 0) return this.#keep(part);
      start = newline + 1;
      if (this.#length === 0) {
        this.#take(part);
        continue;
      }
      this.#keep(part);
      const line = this.#line.subarray(0, this.#length);
      this.#length = 0;
      this.#line = Buffer.alloc(0); // the message may be large, and the next one small
      this.#take(line);
    }
  }

  /** @param {Buffer} part */
  #keep(part) {
    if (this.#length + part.length > this.#line.length) {
      const room = Buffer.allocUnsafe(Math.max(2 * this.#line.length, this.#length + part.length));
      this.#line.copy(room, 0, 0, this.#length);
      this.#line = room;
    }
    part.copy(this.#line, this.#length);
    this.#length += part.length;
  }

  /** @param {Buffer} line */
  #take(line) {
    if (line.length === 0 || line.length === 1 && line[0] === 13) return;
    let m;
    try {
      m = JSON.parse(decoder.decode(line));
    } catch {
      return this.#broken("a line is no JSON in UTF-8");
    }
    const wrong = malformed(m);
    if (wrong) this.#broken(`not a JSON-RPC 2.0 message: ${wrong}`);
    else if (m.method === undefined) this.#answered(m);
    else if (m.id === undefined || m.id === null) this.#notified(m);
    else void this.#asked(m);
  }

  /** What can't be told apart from an answer that somebody waits for ends the connection. @param {string} message @param {number} [code] */
  #broken(message, code = Code.PARSE) {
    this.#send({ id: null, error: { code, message } });
    this.#end(new Error(`the daemon broke the protocol: ${message}`));
  }

  /** @param {Json} m */
  #answered({ id, result, error }) {
    const refused = error && new RefusedError(error.code, error.message, error.data);
    const waiting = this.#pending.get(id);
    if (id === null) this.#refusal = refused;
    if (!waiting) return; // given up, answered twice, or never asked
    this.#pending.delete(id);
    if (refused) waiting.reject(refused);
    else waiting.resolve(result);
  }

  /** @param {Json} m */
  #notified({ method, params }) {
    if (!Object.hasOwn(KNOWN, method) || missing(method, params)) return; // as JSON-RPC asks
    if (method === "tools/cancel") this.#handlers.get(`call ${params.run}/${params.n}`)?.abort(new Error("the run has ended"));
    if (method === "approvals/cancel") this.#handlers.get(`request ${params.id}`)?.abort(new Error("nobody waits for this answer"));
    try {
      if (method === "run/progress") this.#options.progress?.(params);
      if (method === "run/console") this.#options.console?.(params);
    } catch (error) {
      queueMicrotask(() => { throw error; }); // a mistake of the gateway, which must not end the connection
    }
  }

  /** @param {Json} m */
  async #asked({ id, method, params }) {
    const [key, handler] = method === "tools/call" ? [`call ${params?.run}/${params?.n}`, this.#options.tools]
      : method === "approvals/request" ? [`request ${params?.id}`, this.#options.approvals] : ["", undefined];
    const control = new AbortController();
    let mine = false, done = false;
    this.#serving++;
    try {
      if (this.#serving > MAX_HANDLERS) throw new RefusedError(Code.BUSY, `more than ${MAX_HANDLERS} unanswered requests on one connection`);
      if (!handler) throw new RefusedError(Code.UNKNOWN_METHOD, `this gateway answers no ${JSON.stringify(method.slice(0, 64))}`);
      const wrong = missing(method, params);
      if (wrong) throw new RefusedError(Code.INVALID_PARAMS, wrong);
      if (this.#handlers.has(key)) throw new RefusedError(Code.INVALID_PARAMS, `${key} is under way`);
      mine = true;
      this.#handlers.set(key, control);
      const result = await handler(params, control.signal);
      done = true;
      if (!object(result)) throw new TypeError("the gateway's handler returned no object");
      this.#send({ id, result });
    } catch (error) {
      const why = String(/** @type {any} */ (error)?.message || error).slice(0, MAX_MESSAGE) || "no reason";
      const message = done ? `it was carried out, but its answer can't be sent: ${why}` : why;
      this.#send({ id, error: { code: error instanceof RefusedError ? error.code : Code.INTERNAL, message } });
    } finally {
      this.#serving--;
      if (mine) this.#handlers.delete(key);
    }
  }

  /** @param {Json} message */
  #send(message) {
    const line = JSON.stringify({ jsonrpc: "2.0", ...message });
    if (Buffer.byteLength(line) > MAX_LINE) throw new RefusedError(Code.INVALID_REQUEST, `a line is longer than ${MAX_LINE} bytes`);
    if (this.#ended || this.#socket.write(line + "\n")) return;
    this.#unread ??= setTimeout(() => this.#end(new Error(`the daemon has read nothing for ${WRITE_WAIT / 1000} s`)), WRITE_WAIT);
    if (this.#socket.writableLength > MAX_UNREAD) this.#socket.pause();
  }
}

const MEMBERS = ["jsonrpc", "id", "method", "params", "result", "error"];
/** What is wrong with the envelope of a message. @param {any} m */
function malformed(m) {
  if (!object(m)) return "no object";
  const stranger = Object.keys(m).find((name) => !MEMBERS.includes(name));
  if (stranger !== undefined) return `unknown member ${JSON.stringify(stranger.slice(0, 40))}`;
  if (m.jsonrpc !== "2.0") return '"jsonrpc" must be "2.0"';
  const named = m.id === undefined || m.id === null || count(m.id) || text(m.id) && m.id.length <= 64;
  if (!named) return '"id" is neither a whole number nor a short string';
  const answers = Number(m.result !== undefined) + Number(m.error !== undefined);
  if (m.method !== undefined) return text(m.method) && answers === 0 ? "" : "no method, or an answer as well";
  if (answers !== 1 || m.id === undefined) return 'neither "method" nor one of "result" and "error" with an "id"';
  if (m.error !== undefined && !(object(m.error) && count(m.error.code) && text(m.error.message))) return "an error without code and message";
  return m.result === undefined || object(m.result) && m.id !== null ? "" : "a result that is no object, or of no id";
}
