/** Sockets of this machine, and whose they are: /proc/net and the descriptors of processes (proc(5)). */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { kernelText, type Place } from './place.ts';

export interface Socket {
  readonly port: number;
  readonly inode: string;
}

export interface Owner {
  readonly pid: number;
  /** The command line, words separated by spaces. */
  readonly command: string;
}

/** The state LISTEN of TCP in /proc/net/tcp. */
const listening = '0A';

export function tcpListeners(place: Pick<Place, 'proc'>): Socket[] {
  return ['net/tcp', 'net/tcp6'].flatMap((file) => socketsIn(kernelText(place, file), listening));
}

export function udpSockets(place: Pick<Place, 'proc'>): Socket[] {
  return ['net/udp', 'net/udp6'].flatMap((file) => socketsIn(kernelText(place, file), null));
}

/** @param state of the column `st`; null: any */
function socketsIn(table: string | null, state: string | null): Socket[] {
  const rows = (table ?? '').split('\n').slice(1);
  return rows.flatMap((row) => {
    const [, local = '', , st = '', , , , , , inode = ''] = row.trim().split(/\s+/);
    const port = Number.parseInt(local.slice(local.lastIndexOf(':') + 1), 16);
    return Number.isNaN(port) || (state !== null && st !== state) ? [] : [{ port, inode }];
  });
}

/** The processes that have these sockets, as far as this user may see their descriptors. */
export function ownersOf({ proc }: Pick<Place, 'proc'>, sockets: readonly Socket[]): Map<string, Owner> {
  const wanted = new Set(sockets.map(({ inode }) => `socket:[${inode}]`));
  const found = new Map<string, Owner>();
  if (wanted.size === 0) return found;
  for (const pid of listed(proc).filter((name) => /^\d+$/.test(name))) {
    const folder = join(proc, pid, 'fd');
    for (const descriptor of listed(folder)) {
      const target = linkOf(join(folder, descriptor));
      if (target === null || !wanted.has(target)) continue;
      found.set(target.slice('socket:['.length, -1), {
        pid: Number(pid),
        command: commandOf(join(proc, pid)),
      });
    }
  }
  return found;
}

/** What runs, without its options: they may have passwords, and nobody should have to look before sending a report. */
export function programIn(command: string): string {
  const words = command.split(' ');
  const options = words.findIndex((word) => word.startsWith('-') || word.includes('='));
  return words
    .slice(0, options < 0 ? 2 : Math.max(1, Math.min(2, options)))
    .join(' ')
    .slice(0, 120);
}

function listed(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function linkOf(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}

function commandOf(folder: string): string {
  try {
    return readFileSync(join(folder, 'cmdline'), 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
}
