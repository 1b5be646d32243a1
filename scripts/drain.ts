/**
 * `trunkline drain [--wait <seconds>]`: takes the edge of this machine out of service through the API, for a rolling
 * upgrade or a node that is emptied. Exit code 0: as asked; 1: calls are left, or an error.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { ownCommand } from '#shared/own-command.ts';
import type { Trunkline } from '../clients/typescript/src/index.ts';
import { asked, clientAt } from './connection.ts';
import { type DrainResult, drain } from './drain/drain.ts';
import { reportTrouble, Trouble } from './setup/trouble.mjs';
import { bootstrapFile, dataFolder, readBootstrap } from './supervisor/bootstrap.ts';

const usage = `Usage: ${ownCommand('drain')} [--wait SECONDS] [--undo] [--url URL] [--key-file FILE] [--json]

Has the edge of this data folder (TRUNKLINE_DATA) reject new calls and keep those that it has, until --undo.

  --wait SECONDS    wait until its last call has ended, at most so long; default: 0
  --undo            take it back into service
  --url URL         of the control plane; default: CONTROL_URL, else as bootstrap.json says
  --key-file FILE   that holds an operator key; default: that of bootstrap.json
  --json            print the result as JSON`;

const options = {
  wait: { type: 'string' },
  undo: { type: 'boolean' },
  url: { type: 'string' },
  'key-file': { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

await reportTrouble(async () => {
  const values = given();
  if (values.help) return console.log(usage);
  const client = await operatorOf(values.url, values['key-file']);
  const edgeId = await readEdgeId();
  const path = { id: edgeId };
  const result = await drain({
    edgeId,
    order: (draining) => asked(client.request('PATCH /v1/admin/edges/{id}', { path, body: { draining } })),
    look: async () => (await asked(client.request('GET /v1/admin/edges/{id}', { path }))).data.edge,
    draining: !values.undo,
    waitMs: seconds(values.wait) * 1000,
    pause,
    say: (line) => console.error(line),
  });
  console.log(values.json ? JSON.stringify(result, null, 2) : sentence(result));
  if (result.draining && values.wait !== undefined && !result.drained) process.exitCode = 1;
});

function sentence({ edge, draining, drained, calls }: DrainResult): string {
  if (!draining) return `edge ${edge} is in service`;
  if (drained) return `edge ${edge} is drained`;
  return `edge ${edge} is draining, ${calls === null ? 'but not connected' : `with ${calls} in progress`}`;
}

function given() {
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    throw wrong(error instanceof Error ? error.message : String(error));
  }
}

function seconds(text: string | undefined): number {
  if (text === undefined) return 0;
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw wrong(`--wait takes a number of seconds, not "${text}"`);
}

/** The file that the edge has made at its first start. */
async function readEdgeId(): Promise<string> {
  const file = join(dataFolder(process.env), 'edge-id');
  const id = await readFile(file, 'utf8').catch((error: Error) => {
    throw new Trouble('cannot tell which edge this is', error.message, 'run it where an edge has run');
  });
  return id.trim();
}

async function operatorOf(url: string | undefined, keyFile: string | undefined): Promise<Trunkline> {
  const address = url ?? process.env.CONTROL_URL;
  if (address && keyFile !== undefined) return clientAt(address, await readKey(keyFile));
  const bootstrap = await readBootstrap(bootstrapFile(process.env)).catch((error: Error) => {
    throw new Trouble(
      'cannot reach the control plane',
      `${keyFile === undefined ? 'no operator key' : 'no address'} was given, and ${error.message}`,
      'give --url (or CONTROL_URL) and --key-file',
    );
  });
  const key = keyFile === undefined ? bootstrap.operator_key : await readKey(keyFile);
  return clientAt(address || bootstrap.control_url, key);
}

async function readKey(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new Trouble('cannot read the operator key', error.message, 'name a file that holds one');
  });
  return text.trim();
}

function wrong(why: string): Trouble {
  return new Trouble('invalid command', why, `${ownCommand('drain')} --help`);
}
