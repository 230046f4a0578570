/** The types of the protocol are those of docs/protocol/messages.schema.json; a test holds them against it. */

export const PROTOCOL_VERSION: "1";
export const DEFAULT_SOCKET: string;

/** Codes of a RefusedError. */
export const Code: Readonly<Record<
  "PARSE" | "INVALID_REQUEST" | "UNKNOWN_METHOD" | "INVALID_PARAMS" | "INTERNAL" | "REFUSED" | "BUSY" | "VERSION", number
>>;

export class SandboxdError extends Error {}

/** The daemon did not take a request. Thrown by a handler, it goes to the daemon with its code. */
export class RefusedError extends SandboxdError {
  constructor(code: number, message: string, data?: unknown);
  code: number;
  data: unknown;
}

/** The connection ended before there was an answer; cause says why. */
export class ClosedError extends SandboxdError {
  constructor(what: string, sent: boolean, cause: unknown);
  /** The daemon may have got the request: of an execute, calls may have been made. */
  sent: boolean;
}

/** What a gateway brings to a connection. */
export interface Options {
  /** of the gateway, as is version */
  name: string; version?: string;
  /** names below `tools` in a program */
  servers?: string[];
  /** what their tools are, as far as the gateway knows */
  announce?: Tool[];
  /** Performs a call that the daemon allowed. What it throws, the program can catch. signal aborts when the run has ended. */
  tools?: (call: ToolCall, signal: AbortSignal) => CallToolResult | Promise<CallToolResult>;
  /** Answers for a call that needs approval. Without it administrators are asked; to throw is no answer. */
  approvals?: (request: ApprovalRequest, signal: AbortSignal) => ApprovalAnswer | Promise<ApprovalAnswer>;
  /** of runs that ask for it, as is console */
  progress?: (progress: Progress) => void; console?: (line: Console) => void;
  /** ends the attempt to connect */
  signal?: AbortSignal;
}

/** Connects to the daemon whose socket is at path, and introduces the gateway. */
export function connect(path: string, options: Options): Promise<Client>;

/** A connection. Several programs may run at once. It does not reconnect. */
export class Client {
  private constructor(path: string, options: Options);
  /** what the daemon said of itself */
  welcome: InitializeResult;
  /** resolves when the connection has ended, with why */
  closed: Promise<Error>;
  /**
   * Runs a program. One that fails is a Result whose outcome is not ok. When signal aborts, the run is cancelled: the Result,
   * of outcome cancelled, says what became of each call; without one in 2 s it rejects with signal.reason.
   */
  execute(program: Program, options?: { signal?: AbortSignal }): Promise<Result>;
  /** Ends runs of this connection; their execute gets a Result of outcome cancelled. */
  cancel(params: CancelParams): Promise<CancelResult>;
  /** The announced tools as TypeScript. */
  describe(params?: DescribeParams): Promise<DescribeResult>;
  status(): Promise<StatusResult>;
  /** Calls of this connection's programs that wait for an approval. */
  approvals(): Promise<ApprovalList>;
  decide(params: DecideParams): Promise<DecideResult>;
  /** Any method of docs/protocol.md. */
  call(method: string, params?: object): Promise<any>;
  /** Hangs up, which ends all runs. Resolves when that is done. */
  close(why?: unknown): Promise<Error>;
}

export interface InitializeResult { protocol_version: string; server: Peer; profiles: ProfileInfo[] }
export interface Peer { name: string; version?: string }
export interface ProfileInfo { name: string; description: string; limits: Limits; isolation?: Isolation }
export interface Tool {
  server: string; name: string; description?: string; input_schema?: unknown; output_schema?: unknown; annotations?: ToolAnnotations;
}
export interface ToolAnnotations { title?: string; readOnlyHint?: boolean; destructiveHint?: boolean;
  idempotentHint?: boolean; openWorldHint?: boolean }

export interface Program {
  source: string; profile?: string; input?: unknown; servers?: string[]; limits?: Limits; token?: string; progress?: boolean;
  console?: boolean; traceparent?: string; intent?: string; constraints?: string[]; seed?: number; now?: number;
  time_zone?: string;
}

/** Times are milliseconds, sizes bytes; absent: as the profile says. */
export interface Limits {
  wall_ms?: number; cpu_ms?: number; memory_bytes?: number; calls?: number; concurrent_calls?: number; output_bytes?: number;
  console_bytes?: number; source_bytes?: number; argument_bytes?: number; result_bytes?: number;
}

export type Outcome = "ok" | "invalid" | "error" | "timeout" | "cpu" | "memory" | "output" | "calls"
  | "denied" | "violation" | "crash" | "cancelled" | "busy" | "internal";

export interface Result {
  run: string; token?: string; outcome: Outcome; value: any; error?: ProgramError; hint?: string; console: ConsoleLine[];
  truncated: Truncated; calls: Call[]; seed: number; now: number; time_zone: string; stats: Stats; isolation: Isolation;
}

/** Where, in the program as it was sent, and what to do instead. */
export interface ProgramError {
  kind: Outcome; message: string; line?: number; column?: number; frame?: string; hint?: string; retry_after_ms?: number;
  id?: string;
}

export interface ConsoleLine { level: "log" | "info" | "warn" | "error" | "debug"; text: string }
export interface Truncated { console_lines?: number; console_bytes?: number }

export interface Call {
  n: number; server: string; tool: string; state: "not_started" | "denied" | "succeeded" | "failed" | "unknown";
  decision?: "deny" | "ask" | "allow"; rule?: string; verdict?: "block" | "ask" | "allow"; approved_by?: string;
  bytes: number; ms: number; error?: string; redacted?: number; unchecked?: string;
}

export interface Stats {
  queue_ms: number; lease_ms: number; wall_ms: number; cpu_ms: number; tool_ms: number; approval_ms: number;
  peak_memory_bytes: number; warm: boolean;
}

export interface Isolation {
  seccomp: string; landlock: number; cgroup: string; namespaces: string[]; rlimits: string[]; verified: boolean;
  missing: string[];
}

export type CancelParams = { run: string; token?: undefined } | { token: string; run?: undefined };
export interface CancelResult { cancelled: number }
export interface DescribeParams { tools?: ToolName[]; declarations?: boolean }
export interface ToolName { server: string; tool?: string }
export interface DescribeResult { tools: DescribedTool[]; declarations?: string }
export interface DescribedTool { server: string; tool: string; signature: string }
export interface StatusResult { version: string; running: number; waiting: number; pool: PoolStatus[] }
export interface PoolStatus { profile: string; size: number; ready: number; failing?: string }

export interface ToolCall {
  run: string; token?: string; n: number; idempotency_key: string; server: string; tool: string;
  arguments: Record<string, any>; origin: "code"; trigger: "user_request" | "tool_result"; traceparent?: string;
}

/** MCP's. */
export interface CallToolResult {
  content?: Array<{ type: string; text?: string; [more: string]: unknown }>; structuredContent?: unknown; isError?: boolean;
  [more: string]: unknown;
}

export interface Progress { run: string; token?: string; elapsed_ms: number; calls: number; finished: number; doing: string }
export interface Console extends ConsoleLine { run: string; token?: string }

/** server, tool, arguments and what is taken from them are the work of a program that nobody has read. */
export interface ApprovalRequest {
  id: string; run: string; token?: string; n: number; server: string; tool: string; rule?: string; reasons?: string[];
  evidence?: string[]; task?: string; caller: string; asked_at: string; expires_at: string; arguments_bytes: number;
  arguments?: Record<string, any>; arguments_start?: string;
}

export interface ApprovalAnswer { approve: boolean; scope?: "call" | "run"; reason?: string }
export interface ApprovalList { approvals: ApprovalRequest[]; more?: number }
export interface DecideParams { id: string; approve: boolean; scope?: "call" | "run"; reason?: string }
export interface DecideResult { id: string; approve: boolean; scope: "call" | "run"; by: string }
