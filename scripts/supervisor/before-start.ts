/** Quick checks before the set-up, which takes minutes: settings, ports, and ownership of the data folder. */
import { readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileObstacle } from '#shared/file-obstacle.ts';
import { isOwnFile } from '#shared/private-folder.ts';
import { rejectedSettings } from '#shared/settings/former.ts';
import { dataFolder } from './bootstrap.ts';

/** The start would fail, or has failed. */
export class StartFailed extends Error {
  override readonly name = 'StartFailed';
  /** What the reader can do. */
  readonly remedy: string;

  constructor(why: string, remedy: string) {
    super(why);
    this.remedy = remedy;
  }
}

/** @throws StartFailed for the first problem found */
export async function checkBeforeStart(env: NodeJS.ProcessEnv): Promise<void> {
  checkSettings(env);
  checkDataFolder(dataFolder(env));
  await checkPorts(env);
}

/** Settings of earlier versions, in the sentences with which the programs reject them. */
function checkSettings(env: NodeJS.ProcessEnv): void {
  const rejected = rejectedSettings(env);
  if (rejected.length > 0)
    throw new StartFailed(rejected.join('\n'), 'change the environment as above, and start again');
}

export function checkDataFolder(folder: string): void {
  // The lock is always created, so it tests the permissions for all files still to be created.
  for (const name of ['control.lock', ...ownFilesIn(folder)]) {
    // Keys may be read-only.
    const needs = /\.(?:db|lock|journal)/.test(name) ? 'write' : 'read';
    const obstacle = fileObstacle(join(folder, name), needs);
    if (obstacle !== null)
      throw new StartFailed(
        `the data folder ${folder} cannot be used`,
        `${obstacle} TRUNKLINE_DATA names another data folder.`,
      );
  }
}

/** Empty when the folder is missing or unreadable; the lock shows the latter. */
function ownFilesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter(isOwnFile);
  } catch {
    return [];
  }
}

/** Another program on the port would answer instead of control and look like a successful start. */
export async function checkPorts(env: NodeJS.ProcessEnv): Promise<void> {
  await checkPort(
    'CONTROL_PORT',
    env.CONTROL_PORT || '8080',
    'CONTROL_HOST',
    env.CONTROL_HOST || '127.0.0.1',
  );
  await checkPort('SIP_TLS_PORT', env.SIP_TLS_PORT || '5061', 'SIP_HOST', env.SIP_HOST || '0.0.0.0');
}

async function checkPort(setting: string, text: string, hostSetting: string, host: string): Promise<void> {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw new StartFailed(
      `${setting} is not a port: "${text}"`,
      `set ${setting} to a whole number from 1 to 65535`,
    );
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(new StartFailed(`${setting}: ${error.message}`, portRemedy(error.code, setting, hostSetting))),
    );
    server.listen(port, host, () => server.close(() => resolve()));
  });
}

function portRemedy(code: string | undefined, setting: string, hostSetting: string): string {
  if (code === 'EADDRINUSE') return `stop the program that uses this port, or set ${setting} to another one`;
  if (code === 'EACCES') return `ports below 1024 require privileges: set ${setting} to a higher one`;
  return `set ${hostSetting} to an address of this machine`;
}
