/**
 * Control and edge under the supervisor of `npm start`, as tests start them (built-programs.ts): from a few files, and
 * with what a first start makes. Ends with its signals, and the programs with it.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Supervisor } from '../../../scripts/supervisor/supervisor.ts';
import { builtProgram, giveFirstData } from './built-programs.ts';

const { TRUNKLINE_DATA } = process.env;
if (TRUNKLINE_DATA === undefined) throw new Error('TRUNKLINE_DATA is not set');
const built = (name: string) => builtProgram(join(import.meta.dirname, '..', '..', '..', name, 'main.ts'));
const { control, edge } = { control: built('control'), edge: built('edge') };
mkdirSync(TRUNKLINE_DATA, { mode: 0o700 });
giveFirstData(TRUNKLINE_DATA);

const supervisor = new Supervisor({
  programs: { control: control.file, edge: edge.file },
  env: { ...process.env, NODE_COMPILE_CACHE: control.compiled },
  say: (line) => console.log(`trunkline: ${line}`),
});
await supervisor.start();
console.log('Trunkline is ready');
