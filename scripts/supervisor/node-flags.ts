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
 * V8 can end the whole process when it frees code of WebAssembly (the embedded voice, the voice detector) while several
 * threads have it: "Check failed: jit_page_->allocations_.erase(addr) == 1" (nodejs/node issue 64500). Without that
 * collection it frees none before the program itself, which takes no more memory.
 */
const safely = '--no-wasm-code-gc';

export const nodeFlags: Readonly<Record<'control' | 'edge', readonly string[]>> = {
  control: ['--max-semi-space-size=16', safely],
  edge: ['--max-semi-space-size=4', '--single-threaded-gc', safely],
};
