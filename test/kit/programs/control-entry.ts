/** The control plane as a program whose limits a test has replaced: `node control-entry.ts '{"limits": …}'`. */
import { loadUnoptimized } from '#shared/optimizers.ts';
import { findModulesByPath } from '#shared/own-modules.ts';
import { ownerOnly } from '#shared/private-folder.ts';

// As main.ts: kept compiled code, which both use, is of these flags.
loadUnoptimized();
ownerOnly();
findModulesByPath();
const { runControl } = await import('../../../control/program.ts');
await runControl(JSON.parse(process.argv[2] ?? '{}'));
