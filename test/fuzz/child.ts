/** The process of one target. Code is instrumented on load, so the targets are imported afterwards. */
import { dirname } from 'node:path';
import { Instrument } from './instrument.ts';
import { type Order, type Report, SlotWriter } from './slot.ts';

const order = JSON.parse(process.argv[2] ?? '{}') as Order;
const { name, seed, seconds = Infinity, tries: mostTries = Infinity, mostCpuMs } = order;
const instrument = new Instrument();
instrument.register(dirname(dirname(import.meta.dirname)), ['edge', 'shared'], order.kept);
const { targets } = await import('./targets.ts');
const { fuzz, shareOfLimit } = await import('./fuzzer.ts');

const target = targets[name];
if (!target) throw new Error(`there is no target ${name}`);
const slot = new SlotWriter(order.slot);
const begun = performance.now();
const elapsed = () => (performance.now() - begun) / 1000;
const goOn = (done: number) => done < mostTries && elapsed() < seconds;
const { finding, tries, kept, blocks, heaviest, slowestMs } = fuzz(target, seed, goOn, {
  instrument,
  trying: (input) => slot.write(input),
  ...(mostCpuMs === undefined ? {} : { mostCpuMs }),
});
const perSecond = Math.round(tries / Math.max(0.001, elapsed()));
const load = heaviest
  ? `; the heaviest ran ${heaviest.blocks} blocks for ${heaviest.octets} octets, ${(100 * shareOfLimit(heaviest)).toFixed(1)} % of the limit`
  : '';
const time = mostCpuMs === undefined ? '' : `; the slowest took ${slowestMs.toFixed(1)} ms of CPU`;
const report: Report = {
  summary: `${tries} inputs, ${perSecond} per second, ${kept} kept, ${blocks} blocks${load}${time}`,
  problem: finding ? (finding.error.stack ?? finding.error.message) : null,
  input: (finding?.input ?? Buffer.alloc(0)).toString('base64'),
};
slot.close();
process.send?.(report);
