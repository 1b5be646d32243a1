/** Finds and installs Debian packages. */
import { userInfo } from 'node:os';
import { command } from './command.mjs';
import { Trouble, tail } from './trouble.mjs';

/**
 * Installs the missing `packages` without prompts; needs root or sudo without a password, but only when something is
 * missing.
 *
 * @param packages names; `a|b` means that either is sufficient (Ubuntu renamed some), `a` is installed
 * @param purpose completes the sentence "needed to ..."
 * @throws Trouble
 */
export async function ensureAptPackages(packages: readonly string[], purpose: string): Promise<void> {
  const missing = await missingPackages(packages);
  if (missing.length === 0) return;
  console.log(`apt packages to ${purpose}: installing ${missing.join(' ')}`);
  const update = await asRoot(['apt-get', '-q', 'update'], missing, purpose);
  const install = await asRoot(
    [
      'apt-get',
      '-q',
      '-y',
      '--no-install-recommends',
      '-o',
      'DPkg::Lock::Timeout=300',
      'install',
      ...missing,
    ],
    missing,
    purpose,
  );
  if (install.code === 0) return;
  const output = update.code === 0 ? install.output : `${update.output}\n${install.output}`;
  throw new Trouble(
    `cannot install the Debian packages needed to ${purpose}`,
    tail(output),
    `fix \`apt-get install ${missing.join(' ')}\`, then start again`,
  );
}

/** The same for what Trunkline works without: when they cannot be installed it goes on, and says so. */
export async function ensureOptionalPackages(packages: readonly string[], purpose: string): Promise<void> {
  try {
    await ensureAptPackages(packages, purpose);
  } catch (error) {
    if (!(error instanceof Trouble)) throw error;
    console.log(`${error.message}\ntrunkline: going on without them`);
  }
}

async function missingPackages(packages: readonly string[]): Promise<string[]> {
  const names = packages.flatMap((entry) => entry.split('|'));
  const { stdout, code, output } = await command('dpkg-query', [
    '-W',
    `-f=\${Package} \${db:Status-Status}\\n`,
    ...names,
  ]);
  if (code === 127) {
    throw new Trouble(
      'cannot look for Debian packages',
      output,
      'Trunkline sets itself up on Debian and Ubuntu; elsewhere follow docs/setup.md by hand',
    );
  }
  const installed = new Set(
    stdout
      .split('\n')
      .filter((line) => line.endsWith(' installed'))
      .map((line) => line.split(' ')[0]),
  );
  return packages
    .map((entry) => entry.split('|'))
    .filter((alternatives) => !alternatives.some((name) => installed.has(name)))
    .map(([first]) => first ?? '');
}

async function asRoot(argv: readonly string[], missing: readonly string[], purpose: string) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' };
  if (userInfo().uid === 0) return command('env', argv, { env });
  const sudo = await command('sudo', ['-n', 'env', 'DEBIAN_FRONTEND=noninteractive', 'LC_ALL=C', ...argv]);
  if (sudo.code === 127 || /password is required|not allowed|not in the sudoers/.test(sudo.output)) {
    throw new Trouble(
      `cannot install the Debian packages needed to ${purpose}`,
      'this is not root, and sudo is missing or asks for a password',
      `as root: apt-get install --no-install-recommends ${missing.join(' ')}`,
    );
  }
  return sudo;
}
