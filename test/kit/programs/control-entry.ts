/** The control plane as a program whose limits a test has replaced: `node control-entry.ts '{"limits": …}'`. */
import { ownerOnly } from '#shared/private-folder.ts';
import { runControl } from '../../../control/program.ts';

ownerOnly();
await runControl(JSON.parse(process.argv[2] ?? '{}'));
