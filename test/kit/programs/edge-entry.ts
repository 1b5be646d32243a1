/** The edge as a program whose limits a test has replaced: `node edge-entry.ts '{"limits": …}'`. */
import { loadUnoptimized } from '#shared/optimizers.ts';
import { findModulesByPath } from '#shared/own-modules.ts';
import { ownerOnly } from '#shared/private-folder.ts';

// As main.ts: kept compiled code, which both use, is of these flags.
loadUnoptimized();
ownerOnly();
findModulesByPath();
const { runEdge } = await import('../../../edge/program.ts');
await runEdge(JSON.parse(process.argv[2] ?? '{}'));
