/**
 * An installed package: where its settings and data are, and whose. In a checkout there is none, and commands use the
 * environment alone.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { installationFile } from '#shared/own-command.ts';
import { fits, objectOf, type Shaped, text } from '#shared/shapes.ts';
import { Trouble } from '../setup/trouble.mjs';
import { readEnvironmentFile } from './environment-file.ts';
import type { CommandRow, PackageName } from './table.ts';
import { trustAuthorities } from './trust.ts';

const installationShape = objectOf(
  {
    /** `control` or `edge`. */
    program: text,
    /** The EnvironmentFile of the unit. */
    settings: text,
    /** TRUNKLINE_DATA, unless the settings have another. */
    data: text,
    /** The owner of the data folder. */
    user: text,
  },
  {},
  true,
);
export type Installation = Shaped<typeof installationShape>;

/** @returns null in a checkout @throws Error for a damaged file */
export function readInstallation(file = installationFile): Installation | null {
  let content: string;
  try {
    content = readFileSync(file, 'utf8');
  } catch {
    return null;
  }
  const value: unknown = JSON.parse(content);
  if (fits(installationShape, value)) return value;
  throw new Error(`${file} is damaged: install the package again`);
}

/** Whether this installation has the command; a checkout has all. */
export function hasCommand({ packages }: CommandRow, installation: Installation | null): boolean {
  return installation === null || packages.includes(installation.program as PackageName);
}

/** Who calls a command, and with which settings. */
export interface Caller {
  readonly env: NodeJS.ProcessEnv;
  readonly username: string;
  readonly isRoot: boolean;
}

const thisCaller = (): Caller => ({
  env: process.env,
  username: usernameOf(),
  isRoot: process.getuid?.() === 0,
});

/** Empty for a user id without a name, as containers may have. */
function usernameOf(): string {
  try {
    return userInfo().username;
  } catch {
    return '';
  }
}

/**
 * Takes the settings of the service, where the environment has none of its own, and becomes the owner of the data folder
 * if the command needs to be that and root has called it.
 * @throws Trouble
 */
export function enterInstallation(
  { as, name }: CommandRow,
  { settings, data, user }: Installation,
  { env, username, isRoot }: Caller = thisCaller(),
): void {
  const isOwn = env.TRUNKLINE_DATA !== undefined;
  if (as === 'owner' && !isOwn && username !== user && !isRoot)
    throw new Trouble(
      `cannot run trunkline ${name}`,
      `the data folder ${data} belongs to the user ${user}`,
      `run it as root: sudo trunkline ${name}`,
    );
  const extra = env.NODE_EXTRA_CA_CERTS;
  for (const [setting, value] of Object.entries(settingsIn(settings))) env[setting] ??= value;
  if (extra === undefined && env.NODE_EXTRA_CA_CERTS) trustAuthorities(env.NODE_EXTRA_CA_CERTS);
  env.TRUNKLINE_DATA ??= data;
  if (as === 'owner' && isRoot && !isOwn) become(user);
}

/** Empty when the file is missing, or may not be read by the caller of a command that needs no setting of it. */
function settingsIn(file: string): Readonly<Record<string, string>> {
  let content: string;
  try {
    content = readFileSync(file, 'utf8');
  } catch {
    return {};
  }
  try {
    return readEnvironmentFile(content);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Trouble(`cannot read the settings in ${file}`, why, 'correct the line, and try again');
  }
}

/** For the rest of this process: files that it makes belong to the service. */
function become(user: string): void {
  const ids = (flag: string) =>
    execFileSync('id', [flag, user], { encoding: 'utf8' }).trim().split(' ').map(Number);
  const [[uid = Number.NaN], [gid = Number.NaN]] = [ids('-u'), ids('-g')];
  process.setgroups?.(ids('-G'));
  process.setgid?.(gid);
  process.setuid?.(uid);
  process.env.HOME = '/nonexistent';
}
