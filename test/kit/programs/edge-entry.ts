/** The edge as a program whose limits a test has replaced: `node edge-entry.ts '{"limits": …}'`. */
import { runEdge } from '../../../edge/program.ts';

await runEdge(JSON.parse(process.argv[2] ?? '{}'));
