/** The edge as a program whose limits a test has replaced: `node edge-entry.ts '{"limits": …}'`. */
import { ownerOnly } from '#shared/private-folder.ts';
import { runEdge } from '../../../edge/program.ts';

ownerOnly();
await runEdge(JSON.parse(process.argv[2] ?? '{}'));
