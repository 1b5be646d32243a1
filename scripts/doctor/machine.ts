/** Clock and disk. */
import { randomUUID } from 'node:crypto';
import { closeSync, fdatasyncSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { counted } from '#shared/counted.ts';
import { pathExists } from '#shared/path-exists.ts';
import { type Check, type Finding, failed, ok, skipped, warning } from './check.ts';
import type { Place } from './place.ts';
import { foldersOf } from './settings.ts';

/** Room in the data folder, octets: below the first programs cannot go on for long. */
const scarceBytes = 256 * 1_048_576;
const littleBytes = 2 * 1_073_741_824;
/** Time of a write with fdatasync, ms; the outbox and the answers of the API wait for it. */
const slowSyncMs = 20;
const syncs = 16;

function clock({ kernelClock }: Place): Finding {
  const state = kernelClock();
  if ('reason' in state) return skipped(`the kernel does not tell: ${state.reason}`);
  if (state.synchronized) return ok('the kernel says that its clock is synchronized');
  return warning(
    'nothing keeps the clock of this machine right: certificates, tokens and the times of calls need it',
    'run a time service: apt install systemd-timesyncd, or chrony; a container has the clock of its host',
  );
}

function space(place: Place): Finding {
  const folders = foldersOf(place).filter(pathExists);
  if (folders.length === 0) return skipped('there is no data folder yet');
  const findings = folders.map((folder) => {
    const { bavail, bsize, blocks, ffree, files } = statfsSync(folder);
    const free = bavail * bsize;
    const percent = Math.round((100 * bavail) / Math.max(1, blocks));
    const found = `${folder}: ${(free / 1_073_741_824).toFixed(1)} GiB free, ${percent} %`;
    const advice =
      'free some space or move the folder to a larger disk; RETENTION_DAYS says what is kept how long';
    if (free < scarceBytes) return failed(found, advice);
    if (files > 0 && ffree < files / 100)
      return warning(`${found}; room for ${counted(ffree, 'file')}`, advice);
    return free < littleBytes ? warning(found, advice) : ok(found);
  });
  return worst(findings);
}

/** Writes a file of its own, and removes it. */
function sync(place: Place): Finding {
  const folders = foldersOf(place).filter(pathExists);
  if (folders.length === 0) return skipped('there is no data folder yet');
  return worst(folders.map(syncIn));
}

function syncIn(folder: string): Finding {
  const file = join(folder, `.doctor-${randomUUID()}`);
  const block = Buffer.alloc(4096, 1);
  const times: number[] = [];
  try {
    const descriptor = openSync(file, 'wx', 0o600);
    try {
      for (let count = 0; count < syncs; count += 1) {
        const from = performance.now();
        writeSync(descriptor, block, 0, block.length, count * block.length);
        fdatasyncSync(descriptor);
        times.push(performance.now() - from);
      }
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return failed(
      `${folder} cannot be written: ${why}`,
      'free some space, or repair the file system; docs/operations.md says what waits meanwhile',
    );
  } finally {
    rmSync(file, { force: true });
  }
  times.sort((one, other) => one - other);
  const middle = times[Math.floor(times.length / 2)] ?? 0;
  const found = `${folder}: a write is on the disk after ${middle.toFixed(1)} ms (half of ${syncs}), at most ${(times.at(-1) ?? 0).toFixed(1)} ms`;
  if (middle <= slowSyncMs) return ok(found);
  return warning(
    found,
    'use a local SSD for the data folder, or find out what else keeps the disk busy: each write of the API waits for this',
  );
}

const order = ['ok', 'skipped', 'warning', 'failed'] as const;

function worst(findings: readonly Finding[]): Finding {
  const sorted = [...findings].sort((one, other) => order.indexOf(other.state) - order.indexOf(one.state));
  const [first = skipped('nothing to check')] = sorted;
  return { ...first, found: findings.map(({ found }) => found).join('; ') };
}

export const machineChecks: readonly Check[] = [
  {
    name: 'clock.synchronized',
    program: 'both',
    about: 'Whether the kernel knows its clock to be right (adjtimex), whatever service does it.',
    bad: 'No time service keeps it.',
    run: clock,
  },
  {
    name: 'disk.space',
    program: 'both',
    about: 'Free space and files of the data folder.',
    bad: 'Below 256 MiB (failed); below 2 GiB, or one of a hundred files left (warning).',
    run: space,
  },
  {
    name: 'disk.sync',
    program: 'both',
    about:
      'How long a write takes until it is on the disk: 16 writes of 4 KiB to a file of its own in the data folder, which is removed.',
    bad: 'Nothing can be written (failed); half of the writes take more than 20 ms (warning).',
    run: sync,
  },
];
