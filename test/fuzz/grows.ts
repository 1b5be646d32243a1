/** A process that takes memory without end, for the test of who watches it. */
import { type Order, SlotWriter } from './slot.ts';

const { slot, name } = JSON.parse(process.argv[2] ?? '{}') as Order;
new SlotWriter(slot).write(Buffer.from('the input'));
const kept: unknown[] = [];
for (;;) kept.push(name === 'heap' ? new Array(1000).fill(kept.length) : Buffer.alloc(1_048_576, 1));
