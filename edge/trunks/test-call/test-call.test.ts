/** A test call: its tone, its keys, its reports. */
import { describe, expect, it } from 'vitest';
import { order, settle, testCallScene, twoWay } from '../../../test/kit/edge/test-calls.ts';
import { FakeAgents } from '../../../test/kit/fakes/fake-agents.ts';
import { fakeAnswer } from '../../../test/kit/fakes/fake-media.ts';
import { QuietLog } from '../../../test/kit/fakes/quiet-log.ts';
import { runTestCall } from './test-call.ts';

const scene = testCallScene();
const { routes, last, events, expectNothingLeft, dialling, answered, talk } = scene;

describe('a test call', () => {
  it('uses only its configuration, and ends when audio is proven both ways', async () => {
    const leg = await dialling();
    expect(scene.asked).toEqual([['+14155550100', 'trunk-1']]);
    leg.peer.progress(100, null);
    leg.peer.progress(180, null);
    leg.peer.progress(180, null);
    leg.peer.progress(183, fakeAnswer);
    leg.peer.answered(fakeAnswer);
    await settle();
    await talk(10_000);
    expect(last()).toMatchObject({
      status: 'completed',
      result: 'connected',
      error: null,
      diagnosis: null,
      sip_code: 200,
      sip_call_id: 'sip-1',
      codec: 'PCMU',
      duration_seconds: 2,
      media: { packets_sent: 50, packets_received: 50, verdict: 'two_way' },
    });
    expect(last().timeline.map(({ event, detail }) => [event, detail])).toEqual([
      ['initiated', 'INVITE to 127.0.0.1:5061'],
      ['trying', '100 Trying'],
      ['ringing', '180 Ringing'],
      ['early_media', '183 Session Progress, with early media'],
      ['answered', '200 OK'],
      ['media_confirmed', 'RTP goes both ways, PCMU over SRTP'],
      ['completed', 'Two-way audio: 50 packets sent, 50 received, PCMU, our tone came back.'],
    ]);
    expect(leg.sent).toEqual(['BYE (The test call is complete.)']);
    expectNothingLeft();
  });

  it('is reported at every event, and its record is in the call log under its id', async () => {
    await answered();
    await talk(10_000);
    expect(scene.states.map(({ status, result }) => `${status} ${result}`)).toEqual([
      'initiated pending',
      'in-progress pending',
      'in-progress pending',
      'completed connected',
    ]);
    expect(scene.records.at(-1)).toMatchObject({
      id: 'tc_1',
      org_id: 'org-1',
      number: '+14155550100',
      trunk_id: 'trunk-1',
      agent_kind: 'tone',
      status: 'completed',
    });
  });

  it('sends its keys after a second, without tone meanwhile, and reports which came back', async () => {
    await answered({ dtmf: '1w2' });
    const pressed = Promise.withResolvers<void>();
    const leg = scene.media.last;
    leg.sendDtmf = (digits) => {
      leg.digits = digits;
      return pressed.promise;
    };
    await talk(980);
    expect(leg.digits).toBe('');
    await talk(120);
    expect(leg.digits).toBe('1w2');
    expect(leg.endpoint?.read(new Int16Array(160))).toBe(false);
    await talk(3000);
    expect(last().result).toBe('pending');
    for (const digit of ['1', '2']) leg.endpoint?.dtmf?.({ digit, durationMs: 100 });
    pressed.resolve();
    await settle();
    await talk(3000);
    expect(events()).toEqual(['initiated', 'answered', 'media_confirmed', 'dtmf_sent', 'completed']);
    expect(last().timeline[3]?.detail).toBe('1w2 sent as RFC 4733 events');
    expect(last().timeline[4]?.detail).toMatch(/the keys 12 came in\.$/);
    expectNothingLeft();
  });

  it('is connected without keys when the far end does not support them, and says so', async () => {
    await answered({ dtmf: '1' });
    scene.media.last.sendDtmf = () => Promise.reject(new Error('the peer does not support telephone-event'));
    await talk(5000);
    expect(events()).toEqual(['initiated', 'answered', 'media_confirmed', 'completed']);
    expect(last()).toMatchObject({
      result: 'connected',
      diagnosis: 'The keys could not be sent: the peer does not support telephone-event.',
    });
    expect(last().timeline.at(-1)?.detail).toBe(last().diagnosis);
  });

  it('reports that its time was too short for its keys', async () => {
    await answered({ dtmf: '1wwwwwwwwwwwwwwwwwwwwww', max_seconds: 5 });
    scene.media.last.sendDtmf = () => new Promise(() => {});
    await talk(5000);
    expect(last()).toMatchObject({
      result: 'connected',
      diagnosis: 'The keys could not be sent: the test call ended before they were sent.',
    });
    expectNothingLeft();
  });

  it('continues when one of its reports is lost', async () => {
    const log = new QuietLog();
    const report = () => {
      throw new Error('disk full');
    };
    runTestCall(order, {
      clock: scene.clock,
      calls: scene.calls,
      routes,
      dialer: scene.dialer,
      media: scene.media,
      agents: new FakeAgents(),
      reporter: { report },
      log,
    });
    await settle();
    scene.dialer.last.peer.answered(fakeAnswer);
    await settle();
    await talk(5000);
    expect(scene.dialer.last.sent).toEqual(['BYE (The test call is complete.)']);
    expectNothingLeft();
  });

  it('uses its full time with a far end that neither echoes nor reports', async () => {
    await answered({ max_seconds: 6 });
    const speech = (_: Int16Array, heard: Int16Array) => heard.fill(5000);
    await talk(5980, { speak: speech });
    expect(last().result).toBe('pending');
    await talk(20, { speak: speech });
    expect(last()).toMatchObject({ result: 'connected', diagnosis: null, duration_seconds: 6 });
    expect(last().timeline.at(-1)?.detail).toMatch(
      /^Audio from the peer; no proof that it receives ours: .*no RTCP from the peer/,
    );
    expectNothingLeft();
  });

  it('ends early when an RTCP report says how much of the tone arrives', async () => {
    await answered();
    const speech = (_: Int16Array, heard: Int16Array) => heard.fill(5000);
    await talk(5000, { speak: speech, counts: { ...twoWay, peer_hears: 'yes', peer_loss_percent: 20 } });
    expect(last()).toMatchObject({
      result: 'connected',
      duration_seconds: 2,
      diagnosis: expect.stringMatching(/^Audio to you has gaps/),
    });
  });

  it('fails when RTCP reports until its end that nothing of the tone arrives', async () => {
    await answered();
    const speech = (_: Int16Array, heard: Int16Array) => heard.fill(5000);
    await talk(11_000, { speak: speech, counts: { ...twoWay, peer_loss_percent: 100 } });
    expect(last()).toMatchObject({
      status: 'completed',
      result: 'failed',
      error: 'NO_MEDIA',
      duration_seconds: 10,
      diagnosis: expect.stringMatching(/^You receive no audio/),
      media: { verdict: 'receive_only' },
    });
    expect(last().timeline.at(-1)?.event).toBe('failed');
    expectNothingLeft();
  });
});
