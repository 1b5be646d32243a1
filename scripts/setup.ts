/** `node scripts/setup.mjs [--peers]`: sets the machine up and runs nothing. */
import { setUp } from './setup/steps.ts';
import { reportTrouble } from './setup/trouble.mjs';

await reportTrouble(async () => {
  await setUp({ peers: process.argv.includes('--peers') });
  console.log('set-up complete');
});
