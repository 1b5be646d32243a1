/**
 * Lateness of RTP on the wire: when the kernel was handed each packet, so that it does not matter when the receiving program
 * gets a core. dumpcap (Debian's tshark) writes the packets of the loopback interface into a file.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { lateness } from '../kit/fakes/heard-media.ts';
import { cpuMs } from './cpu-time.ts';

export interface WireLateness {
  /** Against the fastest packet of the same call, means over the calls, ms. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly packets: number;
  /** Of dumpcap, ms. */
  readonly cpuMs: number;
}

/** Ethernet, IPv4 without options, UDP, RTP without its payload. */
const headers = { ip: 14, udp: 34, rtp: 42, all: 54 };
/** Of dumpcap in the kernel, MiB: ten seconds without reading, at 10,000 packets a second. */
const bufferMiB = 64;

export class Wire {
  readonly #dumpcap: ChildProcess;
  readonly #file: string;
  #said = '';
  #cpuMs = 0;

  private constructor(folder: string, from: { readonly min: number; readonly max: number }) {
    this.#file = join(folder, 'wire.pcap');
    rmSync(this.#file, { force: true });
    const filter = `udp src portrange ${from.min}-${from.max}`;
    const options = ['-P', '-s', String(headers.all), '-B', String(bufferMiB)];
    this.#dumpcap = spawn('dumpcap', ['-i', 'lo', ...options, '-f', filter, '-w', this.#file], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#dumpcap.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#said += text;
    });
  }

  /** Captures what is sent from UDP ports `from`. @throws Error with dumpcap's words when it may not, or is missing */
  static async capture(folder: string, from: { readonly min: number; readonly max: number }): Promise<Wire> {
    const wire = new Wire(folder, from);
    const dumpcap = wire.#dumpcap;
    const ended = once(dumpcap, 'close').then(() => {
      throw new Error(`dumpcap captures nothing: ${wire.#said}`);
    });
    // It names its file when it captures.
    while (!wire.#said.includes('File: '))
      await Promise.race([ended, dumpcap.stderr ? once(dumpcap.stderr, 'data') : ended]);
    ended.catch(() => {});
    return wire;
  }

  /**
   * Ends the capture.
   * @param to UDP ports of the receivers
   * @throws Error when a packet was dropped: the lateness of the others would look better than it was
   */
  async stop(to: ReadonlySet<number>): Promise<WireLateness> {
    this.#cpuMs = cpuMs(this.#dumpcap.pid);
    await this.close();
    const counts = /Packets received\/dropped on interface '[^']*': \d+\/(\d+)/.exec(this.#said);
    if (counts?.[1] !== '0') throw new Error(`dumpcap dropped packets: ${this.#said}`);
    const calls = [...delaysOf(readFileSync(this.#file), to).values()].map((delays) => ({
      ...lateness(delays),
      packets: delays.length,
    }));
    const sum = (pick: (call: (typeof calls)[number]) => number) =>
      calls.reduce((total, call) => total + pick(call), 0);
    return {
      p50Ms: sum(({ p50Ms }) => p50Ms) / calls.length,
      p99Ms: sum(({ p99Ms }) => p99Ms) / calls.length,
      packets: sum(({ packets }) => packets),
      cpuMs: this.#cpuMs,
    };
  }

  async close(): Promise<void> {
    if (this.#dumpcap.exitCode !== null || this.#dumpcap.signalCode !== null) return;
    this.#dumpcap.kill('SIGINT');
    await once(this.#dumpcap, 'close');
  }
}

/**
 * Time of each packet less its RTP timestamp, ms, by stream.
 * @param file in libpcap's format, microseconds, of an Ethernet-like interface
 */
function delaysOf(file: Buffer, to: ReadonlySet<number>): Map<string, number[]> {
  const streams = new Map<string, { readonly first: number; readonly delays: number[] }>();
  for (let at = 24; at + 16 <= file.length; ) {
    const ms = file.readUInt32LE(at) * 1000 + file.readUInt32LE(at + 4) / 1000;
    const length = file.readUInt32LE(at + 8);
    const packet = file.subarray(at + 16, at + 16 + length);
    at += 16 + length;
    if (packet.length < headers.all) continue;
    const port = packet.readUInt16BE(headers.udp + 2);
    if (!to.has(port)) continue;
    const timestamp = packet.readUInt32BE(headers.rtp + 4);
    const name = `${port} ${packet.readUInt32BE(headers.rtp + 8)}`;
    const stream = streams.get(name) ?? { first: timestamp, delays: [] };
    streams.set(name, stream);
    // PCMU: 8 ticks a millisecond; a timestamp may wrap.
    stream.delays.push(ms - ((timestamp - stream.first) | 0) / 8);
  }
  return new Map([...streams].map(([name, { delays }]) => [name, delays]));
}
