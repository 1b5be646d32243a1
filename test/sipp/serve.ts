/** Runs one SIPp scenario of this folder as a server over TLS: a carrier or PBX that the edge calls. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sippProgram } from '../../scripts/setup/sipp.ts';
import type { TestKeyPair } from '../kit/fakes/certificates.ts';
import { eventually } from '../kit/programs/eventually.ts';

export interface SippServer {
  readonly port: number;
  /** Waits for the end of the scenario's only call. */
  ended(): Promise<{ readonly passed: boolean; readonly report: string }>;
  /** Ends the program if it still runs, and removes its files. */
  close(): Promise<void>;
}

/**
 * @param name scenario file without `.xml`
 * @param keys values of `[name]` in the scenario
 */
export async function serveScenario(
  name: string,
  port: number,
  pair: TestKeyPair,
  keys: Readonly<Record<string, string>> = {},
): Promise<SippServer> {
  const folder = await mkdtemp(join(tmpdir(), 'trunkline-sipp-'));
  const file = (suffix: string) => join(folder, suffix);
  await writeFile(file('cert.pem'), pair.cert);
  await writeFile(file('key.pem'), pair.key);
  // SIPp supports no custom keyword in a status line, so the values are inserted beforehand.
  let scenario = await readFile(join(import.meta.dirname, `${name}.xml`), 'utf8');
  for (const [key, value] of Object.entries(keys)) scenario = scenario.replaceAll(`[${key}]`, value);
  await writeFile(file('scenario.xml'), scenario);
  const args = [
    ...['-sf', file('scenario.xml'), '-t', 'l1', '-i', '127.0.0.1', '-p', String(port)],
    ...['-tls_cert', file('cert.pem'), '-tls_key', file('key.pem'), '-bind_local', '-mi', '127.0.0.1'],
    ...['-min_rtp_port', '32400', '-max_rtp_port', '32767', '-m', '1', '-nostdin'],
    ...['-recv_timeout', '15000', '-timeout', '40s', '-timeout_error'],
    ...['-trace_err', '-error_file', file('errors'), '-trace_msg', '-message_file', file('messages')],
  ];
  const child = spawn(sippProgram(), args, { cwd: folder, stdio: 'ignore' });
  const exit = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  await eventually(`SIPp listens on ${port}`, () => listens(child, port));
  const text = async (suffix: string) => (await readFile(file(suffix), 'utf8').catch(() => '')).slice(-8000);
  return {
    port,
    ended: async () => {
      const code = await exit;
      const report = `${name}: exit code ${code}\n${await text('errors')}\n${await text('messages')}`;
      return { passed: code === 0, report };
    },
    close: async () => {
      if (child.exitCode === null) child.kill('SIGKILL');
      await exit;
      await rm(folder, { recursive: true });
    },
  };
}

/** Reads the kernel's table, because a test connection would count as a failed handshake. */
async function listens(child: ChildProcess, port: number): Promise<true | null> {
  if (child.exitCode !== null) throw new Error(`SIPp ended with ${child.exitCode} before it listened`);
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  const listening = new RegExp(`^\\s*\\d+: [0-9A-F]{8}:${hex} 00000000:0000 0A `, 'm');
  return listening.test(await readFile('/proc/net/tcp', 'utf8')) || null;
}
