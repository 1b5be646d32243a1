/** The edge as a program whose limits a test has replaced: `node edge-entry.ts '{"limits": …}'`. */
import { findModulesByPath } from '#shared/own-modules.ts';
import { ownerOnly } from '#shared/private-folder.ts';

ownerOnly();
findModulesByPath();
const { runEdge } = await import('../../../edge/program.ts');
await runEdge(JSON.parse(process.argv[2] ?? '{}'));
