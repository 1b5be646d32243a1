/**
 * Flags of Node for control and edge.
 *
 * Objects of calls and requests that are being set up grow the nursery of each V8 heap to 64 MiB and more, which it then
 * keeps. The edge has three heaps (main thread, shard, voice), whose objects die young or live as long as a call: with a
 * quarter of control's nursery they take no more CPU.
 *
 * The edge collects garbage in the thread whose it is. Threads of audio wait for V8's helpers, up to 100 ms for a collection
 * of 2 ms of CPU where other programs use the cores. Helpers that collect nothing can be in real time, as these threads are
 * (shared/audio-priority.ts, docs/internals/shards.md).
 *
 * V8 frees no code of WebAssembly (shared/wasm-code.ts), from the start on: Node's own reader of TypeScript is such a
 * program, and each thread has it while it loads.
 */
export const wasmCodeFlag = '--no-wasm-code-gc';

export const nodeFlags: Readonly<Record<'control' | 'edge', readonly string[]>> = {
  control: ['--max-semi-space-size=16', wasmCodeFlag],
  edge: ['--max-semi-space-size=4', '--single-threaded-gc', wasmCodeFlag],
};
