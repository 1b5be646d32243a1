/**
 * Flags of Node for control and edge. Objects of calls and requests that are being set up grow the nursery of each V8
 * heap to 64 MiB and more, which it then keeps. The edge has three heaps (main thread, shard, voice), whose objects
 * die young or live as long as a call: with a quarter of control's nursery they take no more CPU.
 */
export const nodeFlags: Readonly<Record<'control' | 'edge', readonly string[]>> = {
  control: ['--max-semi-space-size=16'],
  edge: ['--max-semi-space-size=4'],
};
