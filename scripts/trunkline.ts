/** `trunkline <command>`: every command of a deployment under one name (scripts/command/table.ts lists them). */
import { runTrunkline } from './command/run.ts';
import { reportTrouble } from './setup/trouble.mjs';

await reportTrouble(() => runTrunkline(process.argv.slice(2)));
