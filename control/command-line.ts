/** The command line of a deployment: organizations, keys, the SIP entitlement, edge tokens (contract 1.1). */
import { parseArgs } from 'node:util';
import { systemClock } from '#shared/clock.ts';
import { ownCommand } from '#shared/own-command.ts';
import {
  allCommands,
  type Command,
  commandsOf,
  type Options,
  type Output,
  optionKinds,
  UsageError,
} from './admin/index.ts';
import { Catalogue } from './catalogue/index.ts';
import { openDatabase } from './db/index.ts';
import { deploymentSecrets, existingSecrets, plainWords } from './operations/index.ts';
import { Bus, replicaLimits } from './replicas/index.ts';
import { readControlConfig } from './settings/index.ts';

/** Where a command is run. */
export interface Place {
  /** Its settings. */
  readonly env: NodeJS.ProcessEnv;
  readonly output: Pick<Console, 'log' | 'table' | 'error'>;
}

/** Aliases for the first word of a command. */
const areas: Readonly<Record<string, string>> = {
  organization: 'org',
  organizations: 'org',
  orgs: 'org',
  edges: 'edge',
  proxies: 'proxy',
  keys: 'key',
  recordings: 'recording',
};

/** Runs one command and prints its output. @returns the exit code */
export async function runCommandLine(args: readonly string[], { env, output }: Place): Promise<number> {
  try {
    const { result, asJson } = await run(args, env);
    if (asJson) output.log(JSON.stringify(typeof result === 'string' ? { result } : result, null, 2));
    else if (typeof result === 'string') output.log(result);
    else if (result.length === 0) output.log('none');
    else output.table(result);
    return 0;
  } catch (error) {
    // For an error other than usage, the stack helps in a bug report.
    output.error(error instanceof UsageError ? error.message : (plainWords(error) ?? error));
    return 1;
  }
}

async function usage(): Promise<string> {
  const lines = Object.entries(await allCommands()).flatMap(([name, { takes, help }]) => {
    const [first = '', ...others] = help.split('\n');
    const head = `  ${name} ${takes}`.trimEnd();
    const indent = ' '.repeat(6);
    return [head, ...[first, ...others].map((line) => indent + line)];
  });
  return `Usage: ${ownCommand('admin')} <command> [--json]

${lines.join('\n')}

--json prints rows as a list of objects, and a text as {"result": …}.

The data folder is TRUNKLINE_DATA (./data). Changes take effect at once in a running control plane.`;
}

interface Result {
  readonly result: Output;
  readonly asJson: boolean;
}

/** @throws UsageError */
async function run(args: readonly string[], env: NodeJS.ProcessEnv): Promise<Result> {
  const { values, positionals } = read(args);
  const [given = '', verb = '', ...words] = positionals;
  const { help, json: asJson = false, ...options } = values;
  if (help || given === 'help' || args.length === 0) return { result: await usage(), asJson: false };
  const area = areas[given] ?? given;
  const name = `${area} ${verb}`;
  const command = (await commandsOf(area))[name];
  if (!command)
    throw new UsageError(`There is no command "${`${given} ${verb}`.trim()}".\n\n${await usage()}`);
  const surplus = words.slice(takesWord(command) ? 1 : 0);
  if (surplus.length > 0)
    throw new UsageError(`unexpected "${surplus.join(' ')}"; ${surplusAdvice(name, command)}`);
  const foreign = Object.keys(options).filter((option) => !command.options.some((known) => known === option));
  if (foreign.length > 0) throw new UsageError(`"${name}" has no option --${foreign.join(', --')}.`);
  return { result: await runOn(command, words[0], options, env), asJson };
}

/** Whether the command takes a word after its name, such as an id. */
function takesWord({ takes }: Command): boolean {
  return takes !== '';
}

function surplusAdvice(name: string, command: Command): string {
  if (takesWord(command)) return 'put names in quotes.';
  return command.options.length === 0
    ? `"${name}" takes no argument.`
    : `"${name}" takes options only: --${command.options.join(', --')}.`;
}

function read(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options: optionKinds });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

async function runOn(
  command: Command,
  subject: string | undefined,
  options: Options,
  env: NodeJS.ProcessEnv,
): Promise<Output> {
  const config = readControlConfig(env);
  const secrets = await (command.first ? deploymentSecrets(config) : existingSecrets(config));
  const database = await openDatabase(config.database);
  try {
    const bus = new Bus({
      database,
      clock: systemClock,
      limits: replicaLimits,
      id: config.instanceId,
      log: { error: () => undefined },
    });
    // What follows changes takes most of a start to load: not for commands that only read, or change keys.
    const catalogue = async () => {
      const { followCatalogue } = await import('./edge-config/index.ts');
      const made = new Catalogue(database);
      followCatalogue(made, database, secrets, config, bus);
      if (command.removes) (await import('./catalogue-links.ts')).linkEdges(made);
      return made;
    };
    return await command.run(
      { config, clock: systemClock, secrets, catalogue, database, bus },
      subject,
      options,
    );
  } finally {
    await database.close();
  }
}
