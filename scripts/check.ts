/** `npm run check`: format and lint (Biome), types (tsc), unused files, exports and packages (knip). */
import { runChecks } from './checks.ts';

process.exitCode = (await runChecks()) ? 0 : 1;
