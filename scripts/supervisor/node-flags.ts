/**
 * Flags of Node for control and edge. Objects of calls and requests that are being set up grow V8's nursery to 64 MiB,
 * which it then keeps; half of it costs 1 % of the edge's CPU under media, a quarter of it 4 %.
 */
export const nodeFlags: readonly string[] = ['--max-semi-space-size=16'];
