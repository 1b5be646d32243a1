/** The command line of the doctor. */
import { execFile } from 'node:child_process';
import { parseArgs } from 'node:util';
import { isInstalled, ownCommand } from '#shared/own-command.ts';
import { keyOf } from '../connection.ts';
import { type Check, runChecks } from './check.ts';
import { checksOf } from './checks.ts';
import { otherDoctors, whyNotHere } from './other-package.ts';
import { loadParts } from './parts.ts';
import type { Output, Program } from './place.ts';
import { readPlace } from './read-place.ts';
import { reportJson, reportText } from './report.ts';

const whichSettings = isInstalled()
  ? 'The settings are those of the service.'
  : `The settings are those of this command's own environment: give it the variables that the programs were started with.`;

export const usage = `Usage: ${ownCommand('doctor')} [edge] [control] [options]

Checks this machine and the settings of its programs, and says what to do. It changes nothing.
${whichSettings}

  edge, control      check these programs; default: those whose files are in the data folder
  --json             print the results as JSON
  --settings FOLDER  with edge.env and control.env, which count before the environment, as under systemd
  --key-file FILE    that holds an API key, for the health of trunks; default: TRUNKLINE_API_KEY

Exit code 0: nothing failed. 1: something failed. 2: wrong options.`;

export const exit = { good: 0, failed: 1, usage: 2 } as const;

interface Streams {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly coloured: boolean;
}

const options = {
  help: { type: 'boolean', short: 'h' },
  json: { type: 'boolean' },
  settings: { type: 'string' },
  'key-file': { type: 'string' },
} as const;

/** @returns the exit code */
export async function doctor(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  { out, err, coloured }: Streams,
): Promise<number> {
  let given: ReturnType<typeof readArguments>;
  try {
    given = readArguments(args);
  } catch (error) {
    err(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    return exit.usage;
  }
  const { values, programs } = given;
  if (values.help) {
    out(usage);
    return exit.good;
  }
  const keyFile = values['key-file'];
  const parts = await loadParts();
  const others = otherDoctors(parts);
  const elsewhere = whyNotHere(programs, others);
  if (elsewhere !== null) {
    err(elsewhere);
    return exit.usage;
  }
  let place: ReturnType<typeof readPlace>;
  try {
    const apiKey = keyFile === undefined ? env.TRUNKLINE_API_KEY : await keyOf(keyFile);
    const wanted = { programs, settingsFolder: values.settings ?? null, apiKey: apiKey?.trim() || null };
    place = readPlace(wanted, parts, env);
  } catch (error) {
    err(error instanceof Error ? error.message : String(error));
    return exit.usage;
  }
  const asked = ({ program }: Check) =>
    program === 'both' || programs.length === 0 || programs.includes(program);
  const results = await runChecks(checksOf(parts).filter(asked), { ...place, runTool });
  out(values.json ? reportJson(results) : reportText(results, coloured));
  for (const { program, command, isHere } of others)
    if (isHere) err(`The ${program} of this machine is checked by ${command}`);
  return results.some(({ state }) => state === 'failed') ? exit.failed : exit.good;
}

/** @throws Error for what is no option, and for other words than those of programs */
function readArguments(args: readonly string[]) {
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options });
  const programs = positionals.map((word): Program => {
    if (word === 'edge' || word === 'control') return word;
    throw new Error(`there is no program "${word}"`);
  });
  return { values, programs };
}

const toolMs = 5000;
const mostOutput = 16 * 1_048_576;

function runTool(program: string, args: readonly string[]): Promise<Output> {
  return new Promise((resolve) => {
    execFile(program, args, { timeout: toolMs, maxBuffer: mostOutput }, (error, stdout, stderr) => {
      if (!error) return resolve({ output: stdout });
      const missing = error.code === 'ENOENT' ? `${program} is not installed` : null;
      resolve({ reason: missing ?? (stderr.trim().split('\n')[0] || error.message) });
    });
  });
}
