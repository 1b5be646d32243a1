import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import { FakeClock, systemClock } from '#shared/clock.ts';
import type { EdgeConfig } from '#shared/edge-protocol/config.ts';
import type { ControlToEdge, EdgeToControl } from '#shared/edge-protocol/frames.ts';
import { edgeProtocol } from '#shared/edge-protocol/revision.ts';
import { callRecord } from '../../test/kit/fakes/call-record.ts';
import { FakeControl } from '../../test/kit/fakes/fake-control.ts';
import { MemoryDisk } from '../../test/kit/fakes/memory-disk.ts';
import { releaseAll } from '../../test/kit/fakes/release.ts';
import { defaultLinkLimits, Link } from './link.ts';
import type { ControlAbilities, LinkOptions } from './link-options.ts';
import { Outbox } from './outbox.ts';

const at = '2030-01-01T00:00:10.000Z';

const config: EdgeConfig = {
  version: 3,
  organizations: [],
  numbers: [],
  pathways: [],
  allowed_private_targets: [],
  open_inbound: false,
};

const coded = (code: string) => Object.assign(new Error(code), { code });

describe('Link', () => {
  let control: FakeControl;
  let outbox: Outbox;
  let link: Link;
  let configs: EdgeConfig[];
  let stopped: string[];

  function open(changes: Partial<LinkOptions> = {}): void {
    link = new Link({
      controlUrl: control.url,
      token: 'secret',
      outbox,
      clock: systemClock,
      limits: { ...defaultLinkLimits, gatherMs: 1, retryMs: 5, window: 2, batchReports: 2 },
      hello: () => ({
        type: 'hello',
        protocol: 1,
        edge_id: 'edge-1',
        outbox_id: outbox.id,
        config_version: 0,
        sip: { host: '127.0.0.1', port: 5061 },
        rtp: { ip: '127.0.0.1', port_min: 10000, port_max: 20000 },
        codecs: ['PCMU'],
        software: 'test',
      }),
      onConfig: (value) => configs.push(value),
      onChange: () => true,
      onCommand: async (command) => {
        if (command.kind !== 'call.stop') throw new Error(`unexpected ${command.kind}`);
        if (command.call_id === 'unknown') throw new Error('no such call');
        if (command.call_id === 'over') throw coded('CALL_NOT_ACTIVE');
        if (command.call_id === 'unsaved') throw coded('ENOSPC');
        stopped.push(command.call_id);
      },
      metrics: () => ({ trunkline_edge_calls: 2 }),
      log: () => {},
      ...changes,
    });
    link.start();
  }

  async function connected(acknowledged = 0): Promise<void> {
    await control.next('hello');
    control.say({ type: 'welcome', acknowledged, revision: edgeProtocol.revision });
  }

  const ids = (count: number) => Array.from({ length: count }, (_, i) => callRecord({ id: `call-${i + 1}` }));

  beforeEach(async () => {
    control = await FakeControl.open();
    outbox = new Outbox(new MemoryDisk());
    configs = [];
    stopped = [];
  });

  afterEach(() =>
    releaseAll(
      () => link.close(),
      () => control.close(),
      () => outbox.close(),
    ),
  );

  it('identifies itself with its token, its outbox and its configuration version', async () => {
    open();
    const hello = await control.next('hello');
    expect(control.authorization).toBe('Bearer secret');
    expect(hello).toMatchObject({ edge_id: 'edge-1', outbox_id: outbox.id, config_version: 0 });
  });

  it.each([
    ['of an earlier version', {}, { fleet: false, countsCalls: false }, 1],
    ['of an earlier version with fleets', { fleet: true }, { fleet: true, countsCalls: false }, 1],
    [
      'of its own version',
      { fleet: true, revision: edgeProtocol.revision },
      { fleet: true, countsCalls: true },
      0,
    ],
  ])('learns what a control plane %s is able to do', async (_which, welcome, abilities, warnings) => {
    const warned: string[] = [];
    const known = Promise.withResolvers<ControlAbilities>();
    open({
      fleet: { welcomed: known.resolve, receive: () => undefined },
      log: (level, message) => void (level === 'warn' && warned.push(message)),
    });
    expect(await control.next('hello')).toMatchObject({ revision: edgeProtocol.revision });
    control.say({ type: 'welcome', acknowledged: 0, ...welcome });
    expect(await known.promise).toEqual(abilities);
    expect(warned).toHaveLength(warnings);
  });

  it('sends the outbox in order and deletes what is acknowledged', async () => {
    outbox.append(at, ...ids(3).map((call) => ({ type: 'call' as const, call })));
    open();
    const first = control.next('report');
    await connected();
    expect((await first).reports.map((r) => r.seq)).toEqual([1, 2]);
    control.say({ type: 'ack', seq: 2 });
    control.say({ type: 'ack', seq: 3 });
    expect(await link.flush(5_000)).toBe(true);
    expect(outbox.pending).toBe(0);
    const sent = () => control.heard.flatMap((frame) => (frame.type === 'report' ? frame.reports : []));
    // An acknowledgement may arrive while its frame is still on its way.
    await expect.poll(() => sent().map((r) => r.seq)).toEqual([1, 2, 3]);
    expect(sent()[0]?.body).toEqual({ type: 'call', call: callRecord({ id: 'call-1' }) });
  });

  it('keeps no more frames in flight than the window allows', async () => {
    outbox.append(at, ...ids(8).map((call) => ({ type: 'call' as const, call })));
    open();
    await connected();
    const status = control.next('status');
    await status;
    const sent = control.heard.filter((frame) => frame.type === 'report');
    expect(sent.map((frame) => frame.reports.map((r) => r.seq))).toEqual([
      [1, 2],
      [3, 4],
    ]);
  });

  it('resends everything unacknowledged after a lost connection', async () => {
    outbox.append(at, ...ids(2).map((call) => ({ type: 'call' as const, call })));
    open();
    const first = control.next('report');
    await connected();
    await first;
    const hello = control.next('hello');
    const again = control.next('report');
    control.drop();
    await hello;
    control.say({ type: 'welcome', acknowledged: 1 });
    expect((await again).reports.map((r) => r.seq)).toEqual([2]);
    expect(link.connections).toBe(2);
  });

  it('applies a configuration and confirms its version', async () => {
    open();
    const applied = control.next('applied');
    await connected();
    control.say({ type: 'config', config });
    expect(await applied).toEqual({ type: 'applied', version: 3 });
    expect(configs).toEqual([config]);
  });

  it('reconnects for the full configuration when a change does not match', async () => {
    open({ onChange: () => false });
    await connected();
    const hello = control.next('hello');
    control.say({
      type: 'change',
      change: {
        from_version: 9,
        version: 10,
        organizations: [],
        numbers: [],
        pathways: [],
        removed_organizations: [],
        removed_numbers: [],
        removed_pathways: [],
      },
    });
    expect((await hello).type).toBe('hello');
    expect(control.heard.filter((frame) => frame.type === 'applied')).toEqual([]);
  });

  it('executes commands and answers with the result', async () => {
    open();
    await connected();
    const first = control.next('result');
    control.say({ type: 'command', id: 'c1', command: { kind: 'call.stop', call_id: 'call-1' } });
    expect(await first).toEqual({ type: 'result', id: 'c1', ok: true });
    const second = control.next('result');
    control.say({ type: 'command', id: 'c2', command: { kind: 'call.stop', call_id: 'unknown' } });
    expect(await second).toEqual({ type: 'result', id: 'c2', ok: false, error: 'no such call' });
    expect(stopped).toEqual(['call-1']);
  });

  it('sends control an error code only if the API has it', async () => {
    open();
    await connected();
    const known = control.next('result');
    control.say({ type: 'command', id: 'c1', command: { kind: 'call.stop', call_id: 'over' } });
    expect(await known).toEqual({
      type: 'result',
      id: 'c1',
      ok: false,
      error: 'CALL_NOT_ACTIVE',
      code: 'CALL_NOT_ACTIVE',
    });
    const system = control.next('result');
    control.say({ type: 'command', id: 'c2', command: { kind: 'call.stop', call_id: 'unsaved' } });
    expect(await system).toEqual({ type: 'result', id: 'c2', ok: false, error: 'ENOSPC' });
  });

  it('sends its clock, and rejects a command that has expired when it is read', async () => {
    const now = Date.parse(at);
    const warned: string[] = [];
    open({
      clock: { ...systemClock, now: () => now },
      log: (level, message) => level === 'warn' && warned.push(message),
    });
    const hello = await control.next('hello');
    expect(hello.at).toBe(at);
    const status = control.next('status');
    control.say({ type: 'welcome', acknowledged: 0, revision: edgeProtocol.revision });
    expect((await status).at).toBe(at);
    const command = { kind: 'call.stop', call_id: 'call-1' } as const;
    const late = control.next('result');
    control.say({ type: 'command', id: 'c1', command, expires_at: new Date(now - 1).toISOString() });
    expect(await late).toEqual({
      type: 'result',
      id: 'c1',
      ok: false,
      error: 'the command expired at 2030-01-01T00:00:09.999Z',
    });
    expect([stopped, warned]).toEqual([[], ['a command had expired']]);
    const inTime = control.next('result');
    control.say({ type: 'command', id: 'c2', command, expires_at: at });
    expect(await inTime).toEqual({ type: 'result', id: 'c2', ok: true });
    expect(stopped).toEqual(['call-1']);
  });

  it('reconnects when control does not send its welcome', async () => {
    const clock = new FakeClock();
    open({ clock });
    await control.next('hello');
    // A stopped control plane does not answer pings either.
    control.stopReading();
    const again = control.next('hello');
    await expect
      .poll(() => {
        clock.advance(defaultLinkLimits.pingMs);
        return control.heard.filter(({ type }) => type === 'hello').length;
      })
      .toBe(2);
    await again;
  });

  describe('that is told to move', () => {
    /** Two connections: the one that says so, and the next. */
    async function moving(): Promise<[former: WebSocket, next: WebSocket]> {
      const again = control.next('hello');
      control.say({ type: 'move' });
      await again;
      const [former, next] = control.sockets.slice(-2);
      if (!former || !next) throw new Error('there is no second connection');
      return [former, next];
    }
    const say = (socket: WebSocket, frame: ControlToEdge) => socket.send(JSON.stringify(frame));
    /** The next frame of a type on one of them. */
    const heardOn = (socket: WebSocket, type: EdgeToControl['type']) =>
      new Promise<EdgeToControl>((resolve) => {
        socket.on('message', (data) => {
          const frame: EdgeToControl = JSON.parse(String(data));
          if (frame.type === type) resolve(frame);
        });
      });
    const stop = (id: string): ControlToEdge => ({
      type: 'command',
      id,
      command: { kind: 'call.stop', call_id: id },
    });

    it('uses the first connection until the second one has its welcome', async () => {
      open();
      await connected();
      const [former, next] = await moving();
      const result = heardOn(former, 'result');
      say(former, stop('call-1'));
      expect(await result).toEqual({ type: 'result', id: 'call-1', ok: true });
      expect(link.connected).toBe(true);
      const status = heardOn(next, 'status');
      say(next, { type: 'welcome', acknowledged: 0 });
      await status;
      const report = heardOn(next, 'report');
      outbox.append(at, { type: 'call', call: callRecord({ id: 'call-9' }) });
      link.notify();
      await report;
      // What was ordered before is answered where it was ordered.
      const late = heardOn(former, 'result');
      say(former, stop('call-2'));
      expect(await late).toEqual({ type: 'result', id: 'call-2', ok: true });
      former.close();
      await once(former, 'close');
      expect([link.connected, link.connections, control.sockets.length]).toEqual([true, 2, 2]);
    });

    it('tries again while control does not accept the second one', async () => {
      open();
      await connected();
      const [, next] = await moving();
      const again = control.next('hello');
      next.terminate();
      await again;
      expect(link.connected).toBe(true);
      control.say({ type: 'welcome', acknowledged: 0 });
      await expect.poll(() => link.connections).toBe(2);
    });

    it('waits for the welcome of the second one when the first ends', async () => {
      open();
      await connected();
      const [former, next] = await moving();
      former.terminate();
      await expect.poll(() => link.connected).toBe(false);
      say(next, { type: 'welcome', acknowledged: 0 });
      await expect.poll(() => link.connected).toBe(true);
      expect(control.sockets).toHaveLength(2);
    });
  });

  it('ignores unknown frames', async () => {
    open();
    await connected();
    control.sayText('not JSON');
    control.sayText('{"type":"surprise"}');
    const applied = control.next('applied');
    control.say({ type: 'config', config });
    expect((await applied).version).toBe(3);
    expect(link.connections).toBe(1);
  });
});
