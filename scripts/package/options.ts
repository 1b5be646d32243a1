/** The command line of `npm run package`. */
import { parseArgs } from 'node:util';
import { Trouble } from '../setup/trouble.mjs';

export interface PackageOptions {
  readonly out: string;
  /** Null: that of package.json. */
  readonly version: string | null;
}

export const usage = `Usage: npm run package -- [--out FOLDER] [--version VERSION]

Makes the Debian packages trunkline-control and trunkline-edge for this machine's architecture, the SBOM of each
(CycloneDX) and SHA256SUMS.

  --out FOLDER       where they are put; default: dist
  --version VERSION  of the packages; default: that of package.json

SOURCE_DATE_EPOCH sets the time of all files; default: that of the last commit.`;

/** @throws Trouble */
export function readOptions(args: readonly string[]): PackageOptions | 'help' {
  const { out = 'dist', version = null, help } = parsed(args);
  if (help) return 'help';
  if (version !== null && !/^\d[A-Za-z0-9.+~]*$/.test(version))
    throw wrong(`--version takes a version such as 1.2.3, not "${version}"`);
  return { out, version };
}

function parsed(args: readonly string[]) {
  try {
    const options = {
      out: { type: 'string' },
      version: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    } as const;
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    throw wrong(error instanceof Error ? error.message : String(error));
  }
}

const wrong = (why: string) =>
  new Trouble('invalid command', why, 'npm run package -- --help lists the options');
