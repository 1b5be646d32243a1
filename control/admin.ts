/** The command line of a deployment: organizations, keys, the SIP entitlement, edge tokens (contract 1.1). */
import { parseArgs } from 'node:util';
import { systemClock } from '#shared/clock.ts';
import {
  type Command,
  edgeCommands,
  keyCommands,
  type Options,
  type Output,
  optionKinds,
  organizationCommands,
  portCommands,
  UsageError,
} from './admin/index.ts';
import { Catalogue } from './catalogue/index.ts';
import { linkEdges } from './catalogue-links.ts';
import { openDatabase } from './db/index.ts';
import { followCatalogue } from './edge-config/index.ts';
import { deploymentSecrets, existingSecrets, plainWords } from './operations/index.ts';
import { Bus, replicaLimits } from './replicas/index.ts';
import { readControlConfig } from './settings/index.ts';

const commands: Readonly<Record<string, Command>> = {
  ...organizationCommands,
  ...keyCommands,
  ...portCommands,
  ...edgeCommands,
};

/** Aliases for the first word of a command. */
const areas: Readonly<Record<string, string>> = {
  organization: 'org',
  organizations: 'org',
  orgs: 'org',
  edges: 'edge',
  proxies: 'proxy',
  keys: 'key',
};

function usage(): string {
  const lines = Object.entries(commands).flatMap(([name, { takes, help }]) => {
    const [first = '', ...others] = help.split('\n');
    const head = `  ${name} ${takes}`.trimEnd();
    const indent = ' '.repeat(6);
    return [head, ...[first, ...others].map((line) => indent + line)];
  });
  return `Usage: npm run admin -- <command>

${lines.join('\n')}

The data folder is TRUNKLINE_DATA (./data). Changes take effect at once in a running control plane.`;
}

/** Runs one command. @returns its output @throws UsageError */
async function run(args: readonly string[]): Promise<Output> {
  const { values, positionals } = read(args);
  const [area = '', verb = '', ...words] = positionals;
  const { help, ...options } = values;
  if (help || area === 'help' || args.length === 0) return usage();
  const name = `${areas[area] ?? area} ${verb}`;
  const command = commands[name];
  if (!command) throw new UsageError(`There is no command "${`${area} ${verb}`.trim()}".\n\n${usage()}`);
  const surplus = words.slice(takesWord(command) ? 1 : 0);
  if (surplus.length > 0)
    throw new UsageError(`unexpected "${surplus.join(' ')}"; ${surplusAdvice(name, command)}`);
  const foreign = Object.keys(options).filter((option) => !command.options.some((known) => known === option));
  if (foreign.length > 0) throw new UsageError(`"${name}" has no option --${foreign.join(', --')}.`);
  return runOn(command, words[0], options);
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

async function runOn(command: Command, subject: string | undefined, options: Options): Promise<Output> {
  const config = readControlConfig();
  const secrets = await (command.first ? deploymentSecrets(config) : existingSecrets(config));
  const database = await openDatabase(config.database);
  try {
    const catalogue = new Catalogue(database);
    const bus = new Bus({
      database,
      clock: systemClock,
      limits: replicaLimits,
      id: config.instanceId,
      log: { error: () => undefined },
    });
    followCatalogue(catalogue, database, secrets, config, bus);
    linkEdges(catalogue);
    const tools = { config, clock: systemClock, secrets, catalogue, database, bus };
    return await command.run(tools, subject, options);
  } finally {
    await database.close();
  }
}

try {
  const output = await run(process.argv.slice(2));
  if (typeof output === 'string') console.log(output);
  else if (output.length === 0) console.log('none');
  else console.table(output);
} catch (error) {
  // For an error other than usage, the stack helps in a bug report.
  console.error(error instanceof UsageError ? error.message : (plainWords(error) ?? error));
  process.exitCode = 1;
}
