/** `npm run pictures [-- folder]`: see test/pictures/main.ts. */
import { makePictures } from '../test/pictures/main.ts';
import { setUp } from './setup/steps.ts';
import { reportTrouble } from './setup/trouble.mjs';

await reportTrouble(async () => {
  await setUp({ peers: true });
  await makePictures(process.argv[2] ?? null);
});
