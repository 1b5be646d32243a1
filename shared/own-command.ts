/** How a person calls a command of this deployment, for usages and error messages. */
import { basename, join } from 'node:path';
import { pathExists } from './path-exists.ts';

/** Written by `npm run package`: an installed package has it, a checkout does not. */
export const installationFile = join(import.meta.dirname, '..', 'installed.json');

/** Whether this is the program of a package. */
export const isInstalled = (): boolean => pathExists(installationFile);

/**
 * `trunkline backup`, or `npm run backup --` for who works in a checkout and called it so.
 * @param program the file that Node was started with
 */
export function ownCommand(name: string, program = process.argv[1] ?? ''): string {
  return isInstalled() || basename(program).startsWith('trunkline')
    ? `trunkline ${name}`
    : `npm run ${name} --`;
}

/** What starts both programs on this machine. */
export function startCommand(): string {
  return isInstalled() ? 'systemctl start trunkline-control trunkline-edge' : 'npm start';
}

/** Node for a person's shell: a machine with a package may have none in its path. */
export function nodeCommand(): string {
  return isInstalled() ? process.execPath : 'node';
}
