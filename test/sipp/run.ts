/** Runs one SIPp scenario of this folder against an edge. */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sippProgram } from '../../scripts/setup/sipp.ts';
import { encodeMulaw, tone } from '../kit/fakes/audio.ts';

export interface SippOptions {
  /** port of the edge, on 127.0.0.1 */
  readonly port: number;
  /** PEM of the CA that must have issued the edge's certificate */
  readonly ca: string;
  /** dialed number */
  readonly number: string;
  /** address that SIPp calls from */
  readonly source?: string;
  readonly transport?: 'tls' | 'udp' | 'tcp';
  readonly tlsVersion?: '1.0' | '1.1' | '1.2' | '1.3';
  /** for `[authentication]` in the scenario */
  readonly credentials?: { readonly username: string; readonly password: string };
  /** values of `[name]` in the scenario */
  readonly keys?: Readonly<Record<string, string>>;
  /** SIPp times out after this time, s */
  readonly limitS?: number;
}

export interface SippResult {
  /** whether the scenario passed */
  readonly passed: boolean;
  /** SIP Call-ID of its call */
  readonly callId: string;
  /** SIPp's errors, and the messages that it saw */
  readonly report: string;
}

const modes = { tls: 'l1', udp: 'u1', tcp: 't1' } as const;

/** @param name scenario file without `.xml` */
export async function runScenario(name: string, options: SippOptions): Promise<SippResult> {
  const folder = await mkdtemp(join(tmpdir(), 'trunkline-sipp-'));
  const file = (suffix: string) => join(folder, suffix);
  const callId = `${randomUUID()}@sipp`;
  const source = options.source ?? '127.0.0.1';
  await writeFile(file('ca.pem'), options.ca);
  // The audio that a scenario sends: a second of 400 Hz, which SIPp repeats.
  await writeFile(file('tone.raw'), encodeMulaw(tone(400, 8000)));
  const args = [
    `127.0.0.1:${options.port}`,
    ...['-sf', join(import.meta.dirname, `${name}.xml`), '-s', options.number],
    ...Object.entries(options.keys ?? {}).flatMap(([name, value]) => ['-key', name, value]),
    ...(options.credentials
      ? ['-au', options.credentials.username, '-ap', options.credentials.password]
      : []),
    ...['-t', modes[options.transport ?? 'tls'], '-tls_ca', file('ca.pem')],
    ...(options.tlsVersion ? ['-tls_version', options.tlsVersion] : []),
    ...['-i', source, '-bind_local', '-mi', source, '-min_rtp_port', '32000', '-max_rtp_port', '32399'],
    ...['-m', '1', '-cid_str', callId, '-nostdin', '-recv_timeout', '15000'],
    ...['-timeout', `${options.limitS ?? 40}s`, '-timeout_error'],
    ...['-trace_err', '-error_file', file('errors'), '-trace_msg', '-message_file', file('messages')],
  ];
  try {
    const { code, output } = await run(args, folder);
    const text = async (suffix: string) =>
      (await readFile(file(suffix), 'utf8').catch(() => '')).slice(-6000);
    return {
      passed: code === 0,
      callId,
      report: `${name}: exit code ${code}\n${await text('errors')}\n${await text('messages')}\n${output.slice(-1500)}`,
    };
  } finally {
    await rm(folder, { recursive: true });
  }
}

function run(args: readonly string[], cwd: string): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(sippProgram(), args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const keep = (chunk: Buffer) => {
      output = (output + chunk.toString('latin1')).slice(-10_000);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output }));
  });
}
