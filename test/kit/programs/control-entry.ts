/** The control plane as a program whose limits a test has replaced: `node control-entry.ts '{"limits": …}'`. */
import { findModulesByPath } from '#shared/own-modules.ts';
import { ownerOnly } from '#shared/private-folder.ts';

ownerOnly();
findModulesByPath();
const { runControl } = await import('../../../control/program.ts');
await runControl(JSON.parse(process.argv[2] ?? '{}'));
