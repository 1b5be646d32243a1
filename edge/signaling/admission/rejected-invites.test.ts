/** INVITEs that are rejected, recorded, counted, and at last ignored. */
import { describe, expect, it } from 'vitest';
import type { NumberConfig } from '#shared/edge-protocol/numbers.ts';
import { config, invite, signalingScene } from '../../../test/kit/edge/fake-engine-signaling.ts';
import type { DrachtioServer } from '../../../test/kit/fakes/drachtio-server.ts';

const scene = signalingScene();
const { last } = scene;

describe('a rejected INVITE', () => {
  it.each<[string, Parameters<DrachtioServer['peer']>[0], string, object]>([
    ['unknown number', { ...invite, uri: 'sip:+14155559999@x' }, 'SIP/2.0 404 Not Found', {}],
    ['no number at all', { ...invite, uri: 'sip:x' }, 'SIP/2.0 404 Not Found', {}],
    ['stranger', { ...invite, address: '203.0.113.5' }, 'SIP/2.0 403 Forbidden', {}],
    ['no agent', { ...invite, uri: 'sip:14155550101@x' }, 'SIP/2.0 480 Temporarily Unavailable', {}],
    [
      'unknown extension',
      { ...invite, headers: { Require: 'join, timer' } },
      'SIP/2.0 420 Bad Extension',
      { unsupported: 'join' },
    ],
    [
      'body that is no SDP',
      { ...invite, body: 'hello', headers: { 'Content-Type': 'text/plain' } },
      'SIP/2.0 415 Unsupported Media Type',
      { accept: 'application/sdp' },
    ],
    [
      'body that is compressed',
      { ...invite, headers: { 'Content-Encoding': 'gzip' } },
      'SIP/2.0 415 Unsupported Media Type',
      { 'accept-encoding': 'identity' },
    ],
    [
      'short session',
      { ...invite, headers: { Supported: 'timer', 'Session-Expires': '60' } },
      'SIP/2.0 422 Session Interval Too Small',
      { 'min-se': '90' },
    ],
    [
      'plain RTP',
      { ...invite, body: 'v=0\r\n' },
      'SIP/2.0 488 Not Acceptable Here',
      { warning: '399 edge.example:5061 "SRTP with AES_CM_128_HMAC_SHA1_80 is required"' },
    ],
  ])('%s', async (_name, message, startLine, headers) => {
    scene.server.peer(message);
    const answer = await scene.server.next();
    expect(answer.startLine).toBe(startLine);
    expect(answer.headers).toMatchObject({ server: 'Trunkline/test', ...headers });
  });

  it('is recorded when its number is ours, and otherwise only logged', async () => {
    scene.server.peer({ ...invite, address: '203.0.113.5' });
    await scene.server.next();
    expect(scene.records).toHaveLength(1);
    expect(last()).toMatchObject({
      status: 'failed',
      sip_code: 403,
      termination: 'source_not_allowed',
      trunk_id: null,
    });
    scene.server.peer({ ...invite, callId: 'b', uri: 'sip:+14155559999@x' });
    await scene.server.next();
    expect(scene.records).toHaveLength(1);
    expect(scene.refused).toEqual(['source_not_allowed', 'number_unknown']);
    expect(scene.log.lines.at(-1)?.fields).toMatchObject({
      source_ip: '192.0.2.1',
      dialled: '+14155559999',
      sip_status: 404,
    });
  });

  it.each<[string, Parameters<DrachtioServer['peer']>[0], object]>([
    [
      'a stranger',
      { ...invite, address: '203.0.113.5' },
      { reason: 'source_not_allowed', source: '203.0.113.5' },
    ],
    [
      'a number without agent',
      { ...invite, uri: 'sip:14155550101@x' },
      { reason: 'no_agent', sip_status: 480 },
    ],
    ['plain RTP', { ...invite, body: 'v=0\r\n' }, { reason: 'media_refused', sip_status: 488 }],
    ['a bad header', { ...invite, headers: { Require: 'join' } }, { reason: 'extension', sip_status: 420 }],
  ])('of %s is reported to the owner of the number', async (_name, message, refused) => {
    scene.server.peer({ ...message, headers: { 'User-Agent': 'PBX 1.0', ...message.headers } });
    await scene.server.next();
    scene.clock.advance(2000);
    expect(scene.reported).toMatchObject([
      { org_id: 'org-1', attempts: 1, user_agent: 'PBX 1.0', ...refused },
    ]);
    expect(scene.reported[0]?.number).toMatch(/^\+1415555010[01]$/);
  });

  it('to a number that is configured nowhere is reported to the operator alone', async () => {
    scene.server.peer({ ...invite, uri: 'sip:+14155559999@x' });
    await scene.server.next();
    scene.clock.advance(2000);
    expect(scene.reported).toMatchObject([
      { org_id: null, number: null, reason: 'number_unknown', dialled: '+14155559999', sip_status: 404 },
    ]);
  });

  it('gets 503 with Retry-After at capacity, while draining, and before the first configuration', async () => {
    scene.agents.ready = false;
    for (const callId of ['a', 'b', 'c']) scene.server.peer({ ...invite, callId });
    await scene.server.idle();
    scene.server.peer({ ...invite, callId: 'd' });
    const full = await scene.server.next();
    expect([full.startLine, full.headers['retry-after']]).toEqual(['SIP/2.0 503 Service Unavailable', '10']);
    expect(last()?.termination).toBe('capacity');
    void scene.calls.drain(1000);
    scene.server.peer({ ...invite, callId: 'e' });
    expect((await scene.server.next()).startLine).toBe('SIP/2.0 503 Service Unavailable');
    expect(last()?.termination).toBe('draining');
  });

  it.each(['INVITE', 'OPTIONS'])(
    '%s gets 503 with Retry-After, and leaves no record, while reports cannot be stored',
    async (method) => {
      scene.refusal = 'The edge cannot store its reports';
      scene.server.peer({ ...invite, method });
      const answer = await scene.server.next();
      expect([answer.startLine, answer.headers['retry-after']]).toEqual([
        'SIP/2.0 503 Service Unavailable',
        '10',
      ]);
      expect(scene.records).toEqual([]);
      scene.refusal = null;
      scene.server.peer({ method: 'OPTIONS', callId: 'later' });
      expect((await scene.server.next()).startLine).toBe('SIP/2.0 200 OK');
    },
  );

  it('from an unknown source is answered with the block header at the last attempt, then not at all', async () => {
    const stranger = { ...invite, address: '::ffff:203.0.113.5' };
    const answers = [];
    for (const callId of ['a', 'b', 'c']) {
      scene.server.peer({ ...stranger, callId });
      answers.push((await scene.server.next()).headers['x-trunkline-block']);
    }
    expect(answers).toEqual([undefined, undefined, '600']);
    scene.server.peer({ ...stranger, callId: 'd' });
    scene.server.peer({ method: 'OPTIONS', callId: 'e', address: '203.0.113.5' });
    await scene.server.idle();
    expect(scene.server.sent).toHaveLength(3);
    expect(scene.refused).toEqual([
      'source_not_allowed',
      'source_not_allowed',
      'blocked',
      'source_not_allowed',
      'silenced',
      'silenced',
    ]);
    expect(scene.log.lines.filter(({ level }) => level === 'warn')).toMatchObject([
      {
        message: 'unknown source blocked after too many failed attempts',
        fields: { source_ip: '203.0.113.5', seconds: 600 },
      },
    ]);
    scene.clock.advance(600_000);
    scene.server.peer({ method: 'OPTIONS', callId: 'f', address: '203.0.113.5' });
    expect((await scene.server.next()).startLine).toBe('SIP/2.0 200 OK');
  });

  it('counts together with the OPTIONS of the same source, four of which are one attempt', async () => {
    const address = '203.0.113.5';
    scene.server.peer({ ...invite, callId: 'a', address });
    scene.server.peer({ ...invite, callId: 'b', address });
    for (const callId of ['c', 'd', 'e', 'f']) scene.server.peer({ method: 'OPTIONS', callId, address });
    const answers = [];
    for (let i = 0; i < 6; i++) {
      const { startLine, headers } = await scene.server.next();
      answers.push(`${startLine.split(' ')[1]} ${headers['x-trunkline-block']}`);
    }
    expect(answers).toEqual([
      '403 undefined',
      '403 undefined',
      '200 undefined',
      '200 undefined',
      '200 undefined',
      '200 600',
    ]);
    scene.server.peer({ method: 'OPTIONS', callId: 'g', address });
    await scene.server.idle();
    expect(scene.server.sent).toHaveLength(6);
  });

  it('counts together with the requests that the engine rejected itself', async () => {
    const address = '203.0.113.5';
    scene.server.peer({ ...invite, callId: 'a', address });
    await scene.server.next();
    expect(scene.signaling.refusedByEngine(address, 1)).toBe(0);
    expect(scene.signaling.refusedByEngine('::ffff:203.0.113.5', 1)).toBe(600);
    expect(scene.signaling.refusedByEngine(address, 5)).toBe(0);
    expect(scene.refused).toEqual(['source_not_allowed', 'engine', 'engine', 'blocked']);
  });

  it('from a trunk is never blocked', async () => {
    for (let round = 0; round < 5; round++) {
      scene.server.peer({ ...invite, callId: `c${round}`, uri: 'sip:+14155559999@x' });
      expect((await scene.server.next()).headers['x-trunkline-block']).toBeUndefined();
    }
    for (let i = 0; i < 20; i++) {
      scene.server.peer({ method: 'OPTIONS', callId: `o${i}` });
      expect((await scene.server.next()).headers['x-trunkline-block']).toBeUndefined();
    }
    expect(scene.signaling.refusedByEngine('192.0.2.1', 100)).toBe(0);
  });

  it('from a host that is only called is never blocked for its OPTIONS, and may not call', async () => {
    const calledOnly: NumberConfig = {
      number: '+14155550102',
      org_id: 'org-1',
      inbound: [],
      outbound: [
        {
          id: 'trunk-2',
          priority: 1,
          endpoints: [{ host: 'carrier.example', port: 5061, priority: 0 }],
          triggers: [],
          failback: 'auto',
          codecs: ['PCMU'],
          transcode: false,
          credentials: null,
          headers: [],
        },
      ],
      agent: null,
    };
    scene.signaling.configure({ ...config, numbers: [...config.numbers, calledOnly] });
    await scene.lookedUp;
    const address = '203.0.113.9';
    for (let i = 0; i < 20; i++) {
      scene.server.peer({ method: 'OPTIONS', callId: `o${i}`, address });
      const { startLine, headers } = await scene.server.next();
      expect([startLine, headers['x-trunkline-block']]).toEqual(['SIP/2.0 200 OK', undefined]);
    }
    scene.server.peer({ ...invite, address });
    expect((await scene.server.next()).startLine).toBe('SIP/2.0 403 Forbidden');
  });
});
