/**
 * Flags of Node for control and edge.
 *
 * Objects of calls and requests that are being set up grow the nursery of each V8 heap to 64 MiB and more, which it then
 * keeps; a quarter of it takes no more CPU. In the edge that is for the thread of signaling when it is busy, and another
 * quarter of it for all others (edge/nursery.ts).
 *
 * The edge collects garbage in the thread whose it is. Threads of audio wait for V8's helpers, up to 100 ms for a collection
 * of 2 ms of CPU where other programs use the cores. Helpers that collect nothing can be in real time, as these threads are
 * (shared/audio-priority.ts, docs/internals/shards.md).
 *
 * The edge collects young objects also while V8 marks old ones. Otherwise V8 waits with them until it has marked all, which
 * without helpers takes long: all that is allocated meanwhile becomes old, so that it soon marks again, and the last step
 * copies it in one pause (docs/internals/performance.md, "Signaling").
 *
 * V8 frees no code of WebAssembly (shared/wasm-code.ts), from the start on: Node's own reader of TypeScript is such a
 * program, and each thread has it while it loads.
 */
export const wasmCodeFlag = '--no-wasm-code-gc';
export const collectorFlag = '--no-separate-gc-phases';

export const nodeFlags: Readonly<Record<'control' | 'edge', readonly string[]>> = {
  control: ['--max-semi-space-size=16', wasmCodeFlag],
  edge: [
    '--min-semi-space-size=4',
    '--max-semi-space-size=16',
    '--single-threaded-gc',
    collectorFlag,
    wasmCodeFlag,
  ],
};
