/** Asterisk 22, which Debian 12 does not have. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  ensureFromTesting,
  programFromTesting,
  rootFromTesting,
  type TestingProgram,
} from './from-testing.ts';

const asterisk: TestingProgram = {
  name: 'Asterisk',
  command: 'asterisk',
  path: 'usr/sbin/asterisk',
  // Libraries of the program and of the modules that tests load (test/peers/asterisk.ts), not of all modules.
  packages: [
    'asterisk',
    'asterisk-modules',
    'libc6',
    'libgcc-s1',
    'libstdc++6',
    'libbsd0',
    'libcap2',
    'libcrypt1',
    'libedit2',
    'libicu78',
    'libjansson4',
    'liblzma5',
    'libmd0',
    'libopus0',
    'libopusenc0',
    'libopusfile0',
    'libsqlite3-0',
    'libsrtp2-1',
    'libssl3t64',
    'libsystemd0',
    'libtinfo6',
    'liburiparser1',
    'libuuid1',
    'libxml2-16',
    'libxslt1.1',
    'libzstd1',
    'zlib1g',
  ],
  version: { flag: '-V', expected: /^Asterisk 2[2-9]\./ },
  purpose: 'test with a real PBX',
  listedIn: 'scripts/setup/asterisk.ts',
};

/** Path of the program, installed by {@link ensureAsterisk}. */
export const asteriskProgram = (): string => programFromTesting(asterisk);

/** Where what belongs to it is. */
export function asteriskRoot(): { readonly modules: string; readonly data: string; readonly varLib: string } {
  const root = rootFromTesting(asterisk);
  const machine = readdirSync(join(root, 'usr', 'lib')).find((one) => one.endsWith('-linux-gnu')) ?? '';
  return {
    modules: join(root, 'usr', 'lib', machine, 'asterisk', 'modules'),
    data: join(root, 'usr', 'share', 'asterisk'),
    varLib: join(root, 'var', 'lib', 'asterisk'),
  };
}

/** @throws Trouble */
export const ensureAsterisk = (): Promise<void> => ensureFromTesting(asterisk);
