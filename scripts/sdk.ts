/** `npm run sdk [-- folder]`: builds the SDK (clients/typescript) and packs it as it is published, into the folder. */
import { resolve } from 'node:path';
import { packSdk } from './sdk/pack.ts';
import { reportTrouble } from './setup/trouble.mjs';

await reportTrouble(async () => {
  console.log(await packSdk(resolve(process.argv[2] ?? '.')));
});
