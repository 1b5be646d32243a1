/** Which server a command asks, and with which key. */
import { readFile } from 'node:fs/promises';
import { startCommand } from '#shared/own-command.ts';
import { ApiError, Trunkline, TrunklineError } from '../clients/typescript/src/index.ts';
import { Trouble } from './setup/trouble.mjs';
import { bootstrapFile, readBootstrap } from './supervisor/bootstrap.ts';

interface Chosen {
  /** Of the control plane. */
  readonly url: string | null;
  readonly keyFile: string | null;
}

/** The server's address and key: from the options, else from the environment or the first start. */
export async function clientOf({ keyFile, url }: Chosen): Promise<Trunkline> {
  const key = keyFile === null ? (process.env.TRUNKLINE_API_KEY ?? null) : await keyOf(keyFile);
  if (url !== null && key !== null) return clientAt(url, key);
  const file = bootstrapFile(process.env);
  const bootstrap = await readBootstrap(file).catch((error: Error) => {
    const missing = url === null ? '--url and a key' : 'a key';
    throw new Trouble(
      'cannot tell which server to ask',
      `${missing} was not given, and ${error.message}`,
      `give --url and --key-file (or TRUNKLINE_API_KEY), or run it where \`${startCommand()}\` was run`,
    );
  });
  return clientAt(url ?? bootstrap.control_url, key ?? bootstrap.api_key);
}

/** @throws Trouble */
export async function keyOf(keyFile: string): Promise<string> {
  return keyIn(await readKeyFile(keyFile), keyFile);
}

async function readKeyFile(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: Error) => {
    throw new Trouble(
      'cannot read the key',
      error.message,
      'name a file that holds an API key, or bootstrap.json',
    );
  });
}

/** The file contains the key, or is the `bootstrap.json` of a first start. */
function keyIn(text: string, file: string): string {
  const plain = text.trim();
  if (!plain.startsWith('{')) return plain;
  const { api_key } = JSON.parse(plain) as { api_key?: unknown };
  if (typeof api_key === 'string') return api_key;
  throw new Trouble('cannot read the key', `${file} has no api_key`, 'name a file that holds an API key');
}

/** @throws Trouble */
export function clientAt(url: string, key: string): Trunkline {
  try {
    return new Trunkline({ apiKey: key, baseUrl: url });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Trouble('cannot use the key', why, 'give it as it was shown when it was made');
  }
}

/** The server is unreachable or busy; a retry may succeed. */
export class Unavailable extends Trouble {}

/** @throws Trouble for every failure of the request */
export async function asked<T>(request: Promise<T>): Promise<T> {
  try {
    return await request;
  } catch (error) {
    throw error instanceof TrunklineError ? troubleOf(error) : error;
  }
}

function troubleOf(error: TrunklineError): Trouble {
  if (!(error instanceof ApiError)) {
    const remedy = 'check that the server is running, and check --url';
    return new Unavailable('cannot reach the server', error.message, remedy);
  }
  const { errors, status } = error;
  const remedy =
    status === 401 ? 'check the API key' : 'docs/errors.md says what the code means, and what to do';
  const Kind = status === 429 || status >= 500 ? Unavailable : Trouble;
  const messages = errors.map(({ code, message }) => `${code}: ${message}`).join('\n');
  return new Kind(`the server returned ${status}`, messages || error.message, remedy);
}
