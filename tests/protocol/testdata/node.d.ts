/** What the TypeScript client uses of Node, for a compiler that has no types of it. */
declare module "node:net" {
  export interface Socket {
    readonly writableLength: number;
    on(event: string, heard: (value: any) => void): this;
    once(event: string, heard: (value: any) => void): this;
    write(text: string): boolean;
    pause(): this;
    resume(): this;
    destroy(): this;
    destroySoon(): void;
  }
  export function connect(options: { path: string }): Socket;
}
declare module "node:fs" {
  export function readFileSync(file: number, encoding: "utf8"): string;
}
declare namespace NodeJS {
  interface Timeout { unref(): void }
}
declare class Buffer extends Uint8Array {
  static alloc(size: number): Buffer;
  static allocUnsafe(size: number): Buffer;
  static byteLength(text: string): number;
  copy(target: Buffer, targetStart: number, sourceStart?: number, sourceEnd?: number): number;
  subarray(start?: number, end?: number): Buffer;
}
declare const process: { env: Record<string, string | undefined>; exitCode?: number };
declare const console: { log(text: string): void; error(text: string): void };
declare function setTimeout(wake: (value?: any) => void, ms: number): NodeJS.Timeout;
declare function clearTimeout(timer: NodeJS.Timeout | undefined): void;
declare function queueMicrotask(call: () => void): void;
declare class TextDecoder {
  constructor(label: string, options: { fatal: boolean; ignoreBOM: boolean });
  decode(bytes: Uint8Array): string;
}
interface AbortSignal {
  readonly aborted: boolean;
  readonly reason: any;
  throwIfAborted(): void;
  addEventListener(type: "abort", heard: () => void, options?: { once: boolean }): void;
  removeEventListener(type: "abort", heard: () => void): void;
}
declare class AbortController {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
}
