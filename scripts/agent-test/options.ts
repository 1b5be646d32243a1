/** The command line of `npm run agent-test`. */
import { parseArgs } from 'node:util';
import { Trouble } from '../setup/trouble.mjs';

export interface Options {
  /** Exactly one of the two. */
  readonly subject: { readonly kind: 'pathway' | 'persona'; readonly id: string };
  /** Null: the version in production, else the live one. */
  readonly version: number | null;
  /** Ids or names; empty: all enabled ones. */
  readonly scenarios: readonly string[];
  readonly seed: number | null;
  readonly wait: boolean;
  /** A file to write. */
  readonly junit: string | null;
  readonly url: string | null;
  readonly keyFile: string | null;
  readonly timeoutMs: number;
}

export const usage = `Runs test scenarios on a server and says what came of them.

  npm run agent-test -- --pathway ID [options]

  --pathway ID       whose scenarios are run (or --persona ID)
  --version N        the version to test; default: the one in production, else the live one
  --scenario NAME    only this one, by name or id; may be given several times; default: all enabled ones
  --seed N           the same seed gives the same callers; default: random
  --wait             wait for the end and print a table
  --junit FILE       write JUnit XML there; waits too
  --timeout SECONDS  give up waiting after this time; default: 900
  --url URL          of the control plane; default: TRUNKLINE_URL, else as bootstrap.json says
  --key-file FILE    that holds an API key; default: TRUNKLINE_API_KEY, else as bootstrap.json says

Exit code 0: all passed. 1: some did not pass. 2: wrong options, or the server could not be asked.`;

const flags = {
  pathway: { type: 'string' },
  persona: { type: 'string' },
  version: { type: 'string' },
  scenario: { type: 'string', multiple: true },
  seed: { type: 'string' },
  wait: { type: 'boolean' },
  junit: { type: 'string' },
  timeout: { type: 'string' },
  url: { type: 'string' },
  'key-file': { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** @throws Trouble */
export function readOptions(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>> = process.env,
): Options | 'help' {
  const given = parsed(args);
  if (given.help) return 'help';
  const { pathway, persona } = given;
  if ((pathway === undefined) === (persona === undefined)) {
    throw wrong('give exactly one of --pathway and --persona');
  }
  const junit = given.junit ?? null;
  return {
    subject:
      pathway === undefined ? { kind: 'persona', id: persona ?? '' } : { kind: 'pathway', id: pathway },
    version: whole('--version', given.version),
    scenarios: given.scenario ?? [],
    seed: whole('--seed', given.seed),
    wait: (given.wait ?? false) || junit !== null,
    junit,
    url: given.url ?? env.TRUNKLINE_URL ?? null,
    keyFile: given['key-file'] ?? null,
    timeoutMs: (whole('--timeout', given.timeout) ?? 900) * 1000,
  };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: flags, strict: true }).values;
  } catch (error) {
    throw wrong(error instanceof Error ? error.message : String(error));
  }
}

function whole(name: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  if (/^\d{1,10}$/.test(text) && Number(text) < 2 ** 31) return Number(text);
  throw wrong(`${name} takes a whole number, not "${text}"`);
}

function wrong(why: string): Trouble {
  return new Trouble('invalid command', why, 'npm run agent-test -- --help lists the options');
}
