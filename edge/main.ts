/** The edge as a program. */
import { runEdge } from './program.ts';

await runEdge();
