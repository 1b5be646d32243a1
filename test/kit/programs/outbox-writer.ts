/** Writes numbered reports until it is killed, and prints each number when its report is stored: folder, last number. */
import { writeSync } from 'node:fs';
import { openOutbox } from '../../../edge/reporting/open-outbox.ts';
import { callRecord } from '../fakes/call-record.ts';

const [folder = '', last = '0'] = process.argv.slice(2);
const outbox = await openOutbox(folder, { segmentBytes: 100_000 });
for (let n = Number(last) + 1; ; n += 1) {
  const at = new Date().toISOString();
  outbox.append(at, { type: 'call', call: callRecord({ id: String(n), ended_at: at }) });
  writeSync(1, `${n}\n`);
  if (n % 20 === 0) await outbox.sync();
}
