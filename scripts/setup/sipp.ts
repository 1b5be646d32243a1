/** SIPp 3.8, the first version with SRTP; Debian 12 has 3.6 without TLS. */
import { ensureFromTesting, programFromTesting, type TestingProgram } from './from-testing.ts';

const sipp: TestingProgram = {
  name: 'SIPp',
  command: 'sipp',
  path: 'usr/bin/sipp',
  // sip-tester's other dependencies are scripts.
  packages: [
    'sip-tester',
    'libc6',
    'libgcc-s1',
    'libstdc++6',
    'libgsl28',
    'libgslcblas0',
    'libncursesw6',
    'libtinfo6',
    'libpcap0.8t64',
    'libpugixml1v5',
    'libsctp1',
    'libssl3t64',
    'libdbus-1-3',
    'libsystemd0',
    'libzstd1',
    'zlib1g',
    'libcap2',
  ],
  version: { flag: '-v', expected: /SIPp v3\.(8|9|\d\d)/ },
  purpose: 'run the SIPp tests',
  listedIn: 'scripts/setup/sipp.ts',
};

/** Path of the program, installed by {@link ensureSipp}. */
export const sippProgram = (): string => programFromTesting(sipp);

/** @throws Trouble */
export const ensureSipp = (): Promise<void> => ensureFromTesting(sipp);
