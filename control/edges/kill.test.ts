import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { callRecord, EdgeClient, reportFrame } from '../testing/edge-client.ts';

let folder = '';
let port = 0;
let program: ChildProcess | undefined;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'kill-'));
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  port = typeof address === 'object' && address ? address.port : 0;
  server.close();
});
afterEach(async () => {
  await end('SIGTERM');
  rmSync(folder, { recursive: true });
});

async function start(): Promise<void> {
  const env = { ...process.env, TRUNKLINE_DATA: folder, CONTROL_PORT: String(port), NODE_NO_WARNINGS: '1' };
  const child = spawn(process.execPath, [join(import.meta.dirname, '..', 'main.ts')], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  program = child;
  child.stdout.setEncoding('utf8');
  await new Promise<void>((resolve) => {
    child.stdout.on('data', (text: string) => {
      if (text.includes('control plane is listening')) resolve();
    });
  });
}

async function end(signal: NodeJS.Signals): Promise<void> {
  const child = program;
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill(signal);
  await exit;
}

const id = (last: number) => `00000000-0000-4000-8000-${String(last).padStart(12, '0')}`;
const perFrame = 10;
const frames = 60;

describe('a control plane that is killed while reports stream in', () => {
  it('has every acknowledged call after its restart, and every call once after redelivery', async () => {
    await start();
    const { org_id, api_key, edge_token } = JSON.parse(readFileSync(join(folder, 'bootstrap.json'), 'utf8'));
    const frame = (index: number) =>
      reportFrame(
        index * perFrame + 1,
        Array.from({ length: perFrame }, (_, step) => ({
          type: 'call',
          call: callRecord(org_id, { id: id(index * perFrame + step + 1) }),
        })),
      );
    const url = `ws://127.0.0.1:${port}/v1/edge/link`;
    let acknowledged = 0;
    for (const killAfter of [5, 23, 41]) {
      const edge = await EdgeClient.connect(url, edge_token);
      const welcome = await edge.next('welcome');
      expect(welcome.acknowledged).toBeGreaterThanOrEqual(acknowledged);
      for (let index = Math.floor(welcome.acknowledged / perFrame); index < frames; index++)
        edge.send(frame(index));
      while (acknowledged < killAfter * perFrame) acknowledged = (await edge.next('ack')).seq;
      await end('SIGKILL');
      await edge.closed;
      for (const left of edge.untaken)
        if (left.type === 'ack') acknowledged = Math.max(acknowledged, left.seq);
      await start();
    }
    const edge = await EdgeClient.connect(url, edge_token);
    const welcome = await edge.next('welcome');
    expect(welcome.acknowledged).toBeGreaterThanOrEqual(acknowledged);
    // The outbox sends again from a point before the high-water mark.
    for (let index = Math.max(0, Math.floor(welcome.acknowledged / perFrame) - 3); index < frames; index++)
      edge.send(frame(index));
    while (acknowledged < frames * perFrame) acknowledged = (await edge.next('ack')).seq;
    await edge.close();
    const ids: string[] = [];
    for (let before = ''; ; ) {
      const answer = await fetch(
        `http://127.0.0.1:${port}/v1/sip/calls?limit=500${before && `&before=${before}`}`,
        { headers: { authorization: api_key } },
      );
      const page: { data: { calls: { id: string }[] } } = JSON.parse(await answer.text());
      ids.push(...page.data.calls.map((call) => call.id));
      if (page.data.calls.length < 500) break;
      before = ids.at(-1) ?? '';
    }
    expect(ids).toEqual(
      Array.from({ length: frames * perFrame }, (_, index) => id(frames * perFrame - index)),
    );
  }, 60_000);
});
