/** A process that allocates memory without limit, for the test of the watching process. */
import { type Order, SlotWriter } from './slot.ts';

const { slot, name } = JSON.parse(process.argv[2] ?? '{}') as Order;
new SlotWriter(slot).write(Buffer.from('the input'));
const kept: unknown[] = [];
for (;;) kept.push(name === 'heap' ? new Array(1000).fill(kept.length) : Buffer.alloc(1_048_576, 1));
