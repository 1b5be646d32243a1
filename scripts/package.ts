/** `npm run package`: the Debian packages with SBOM and checksums (docs/packages.md). */
import { buildPackages } from './package/build.ts';
import { readOptions, usage } from './package/options.ts';
import { reportTrouble } from './setup/trouble.mjs';

await reportTrouble(async () => {
  const options = readOptions(process.argv.slice(2));
  if (options === 'help') console.log(usage);
  else await buildPackages(options, process.env);
});
