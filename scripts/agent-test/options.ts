/** The command line of `trunkline agent-test`. */
import { parseArgs } from 'node:util';
import { ownCommand } from '#shared/own-command.ts';
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
  /** How often each scenario is run; it passes when all its runs do. */
  readonly repeats: number;
  /** Share of the scenarios that must pass, percent. */
  readonly failUnder: number;
  /** Prints failures as annotations of a pull request. */
  readonly annotations: boolean;
  /** Prints the results as JSON, and everything else to standard error. */
  readonly json: boolean;
  /** Calls at once, in place of one run after the other; null: not asked for. */
  readonly load: LoadOptions | null;
}

export interface LoadOptions {
  readonly concurrency?: number;
  readonly ramp?: { readonly from: number; readonly to: number; readonly step: number };
  readonly runs_per_level?: number;
  readonly seconds_per_level?: number;
  readonly phone_number?: string;
  readonly transport?: 'text';
}

export const usage = `Runs test scenarios on a server and says what came of them.

  ${ownCommand('agent-test')} --pathway ID [options]

  --pathway ID       whose scenarios are run (or --persona ID)
  --version N        the version to test; default: the one in production, else the live one
  --scenario NAME    only this one, by name or id; may be given several times; default: all enabled ones
  --seed N           the same seed gives the same callers; default: random
  --wait             wait for the end and print a table
  --junit FILE       write JUnit XML there; waits too
  --repeats N        run each scenario N times, 1 to 10; it passes when all its runs pass; waits too
  --fail-under N     succeed when at least N percent of the scenarios pass; default: 100; waits too
  --json             print the results as JSON, and what happens meanwhile to standard error; waits too
  --annotations      print what failed as annotations of a pull request (GitHub); waits too
  --concurrency N    run the scenarios as N calls at once, again and again; waits too
  --ramp FROM:TO:STEP  the same with FROM calls at once, then STEP more, up to TO
  --level-runs N     calls of each level of a ramp; default: 20
  --level-seconds N  calls begin for N seconds at each level, in place of --level-runs
  --number NUMBER    the number that such calls call; --text: no calls, but text
  --timeout SECONDS  give up waiting after this time; default: 900
  --url URL          of the control plane; default: TRUNKLINE_URL, else as bootstrap.json says
  --key-file FILE    that holds an API key; default: TRUNKLINE_API_KEY, else as bootstrap.json says

Exit code 0: all passed, or as many as --fail-under wants; of a ramp, in each level, and no level broke. 1: too few passed. 2: wrong options, or the server could not be asked.`;

const flags = {
  pathway: { type: 'string' },
  persona: { type: 'string' },
  version: { type: 'string' },
  scenario: { type: 'string', multiple: true },
  seed: { type: 'string' },
  wait: { type: 'boolean' },
  junit: { type: 'string' },
  timeout: { type: 'string' },
  repeats: { type: 'string' },
  'fail-under': { type: 'string' },
  annotations: { type: 'boolean' },
  concurrency: { type: 'string' },
  ramp: { type: 'string' },
  'level-runs': { type: 'string' },
  'level-seconds': { type: 'string' },
  number: { type: 'string' },
  text: { type: 'boolean' },
  json: { type: 'boolean' },
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
  const repeats = within('--repeats', given.repeats, 1, 10) ?? 1;
  const annotations = given.annotations ?? false;
  const json = given.json ?? false;
  const load = loadOptions(given);
  return {
    subject:
      pathway === undefined ? { kind: 'persona', id: persona ?? '' } : { kind: 'pathway', id: pathway },
    version: whole('--version', given.version),
    scenarios: given.scenario ?? [],
    seed: whole('--seed', given.seed),
    // Whatever needs the result: an exit code of 0 that judged nothing would be taken for a verdict.
    wait: [
      given.wait,
      junit !== null,
      repeats > 1,
      annotations,
      json,
      load !== null,
      given['fail-under'] !== undefined,
    ].includes(true),
    junit,
    url: given.url ?? env.TRUNKLINE_URL ?? null,
    keyFile: given['key-file'] ?? null,
    timeoutMs: (whole('--timeout', given.timeout) ?? 900) * 1000,
    repeats,
    failUnder: within('--fail-under', given['fail-under'], 0, 100) ?? 100,
    annotations,
    json,
    load,
  };
}

function loadOptions(given: ReturnType<typeof parsed>): LoadOptions | null {
  const { concurrency, number, ramp, text } = given;
  const [runs, seconds] = [given['level-runs'], given['level-seconds']];
  if (concurrency === undefined && ramp === undefined) {
    if ([number, runs, seconds, text].every((one) => one === undefined)) return null;
    throw wrong('--number, --text, --level-runs and --level-seconds need --concurrency or --ramp');
  }
  if (concurrency !== undefined && ramp !== undefined) throw wrong('give one of --concurrency and --ramp');
  if (runs !== undefined && seconds !== undefined)
    throw wrong('give one of --level-runs and --level-seconds');
  if (given.repeats !== undefined || given.annotations !== undefined)
    throw wrong('--repeats and --annotations do not go with --concurrency or --ramp');
  const atOnce = within('--concurrency', concurrency, 1, 500);
  const eachRuns = within('--level-runs', runs, 1, 1000);
  const eachSeconds = within('--level-seconds', seconds, 5, 600);
  return {
    ...(atOnce !== null && { concurrency: atOnce }),
    ...(ramp !== undefined && { ramp: rampOf(ramp) }),
    ...(eachRuns !== null && { runs_per_level: eachRuns }),
    ...(eachSeconds !== null && { seconds_per_level: eachSeconds }),
    ...(number !== undefined && { phone_number: number }),
    ...(text && { transport: 'text' }),
  };
}

function rampOf(text: string): NonNullable<LoadOptions['ramp']> {
  const [, from, to, step] = (/^(\d{1,3}):(\d{1,3}):(\d{1,3})$/.exec(text) ?? []).map(Number);
  if (from && to && step) return { from, to, step };
  throw wrong(`--ramp takes FROM:TO:STEP, such as 2:10:2, not "${text}"`);
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

function within(name: string, text: string | undefined, least: number, most: number): number | null {
  const value = whole(name, text);
  if (value === null || (value >= least && value <= most)) return value;
  throw wrong(`${name} takes a number from ${least} to ${most}, not ${value}`);
}

function wrong(why: string): Trouble {
  return new Trouble('invalid command', why, `${ownCommand('agent-test')} --help lists the options`);
}
