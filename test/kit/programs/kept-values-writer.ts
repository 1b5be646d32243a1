/** Keeps growing numbers in the file that is its argument, and prints each once it is on the device, until it is killed. */
import { KeptValues } from '../../../shared/kept-values/kept-values.ts';
import { number } from '../../../shared/shapes.ts';

const values = new KeptValues({
  path: process.argv[2] ?? '',
  shape: number,
  failed: (fault) => {
    throw new Error(fault);
  },
});
for (let count = 1; ; count++) {
  // Some of the keys are written together, and the file is replaced now and then.
  for (let key = 0; key < 50; key++) values.set(`key ${key}`, count);
  await values.written();
  process.stdout.write(`${count}\n`);
}
