import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { callRecord, EdgeClient, reportFrame } from '../../test/kit/control/edge-client.ts';
import { ControlProgram } from '../../test/kit/programs/control-program.ts';

let control: ControlProgram;

beforeEach(() => {
  control = new ControlProgram();
});
afterEach(() => control.remove());

const id = (last: number) => `00000000-0000-4000-8000-${String(last).padStart(12, '0')}`;
const perFrame = 10;
const frames = 60;

describe('a control plane killed while reports stream in', () => {
  it('has every acknowledged call after its restart, and each call once after redelivery', async () => {
    await control.start();
    const { org_id, api_key, edge_token } = control.keys;
    const frame = (index: number) =>
      reportFrame(
        index * perFrame + 1,
        Array.from({ length: perFrame }, (_, step) => ({
          type: 'call',
          call: callRecord(org_id, { id: id(index * perFrame + step + 1) }),
        })),
      );
    const url = `${control.url.replace('http', 'ws')}/v1/edge/link`;
    let acknowledged = 0;
    for (const killAfter of [5, 23, 41]) {
      const edge = await EdgeClient.connect(url, edge_token);
      const welcome = await edge.next('welcome');
      expect(welcome.acknowledged).toBeGreaterThanOrEqual(acknowledged);
      acknowledged = welcome.acknowledged;
      // An edge sends four frames ahead of their acknowledgement.
      for (let sent = acknowledged / perFrame; acknowledged < killAfter * perFrame; ) {
        while (sent < frames && sent < acknowledged / perFrame + 4) edge.send(frame(sent++));
        acknowledged = (await edge.next('ack')).seq;
      }
      await control.end('SIGKILL');
      await edge.closed;
      for (const left of edge.untaken)
        if (left.type === 'ack') acknowledged = Math.max(acknowledged, left.seq);
      await control.start();
    }
    const edge = await EdgeClient.connect(url, edge_token);
    const welcome = await edge.next('welcome');
    expect(welcome.acknowledged).toBeGreaterThanOrEqual(acknowledged);
    // The outbox resends from a point before the high-water mark.
    for (let index = Math.max(0, Math.floor(welcome.acknowledged / perFrame) - 3); index < frames; index++)
      edge.send(frame(index));
    while (acknowledged < frames * perFrame) acknowledged = (await edge.next('ack')).seq;
    await edge.close();
    const ids: string[] = [];
    for (let before = ''; ; ) {
      const answer = await fetch(`${control.url}/v1/sip/calls?limit=500${before && `&before=${before}`}`, {
        headers: { authorization: api_key },
      });
      const page: { data: { calls: { id: string }[] } } = JSON.parse(await answer.text());
      ids.push(...page.data.calls.map((call) => call.id));
      if (page.data.calls.length < 500) break;
      before = ids.at(-1) ?? '';
    }
    expect(ids).toEqual(
      Array.from({ length: frames * perFrame }, (_, index) => id(frames * perFrame - index)),
    );
  }, 240_000);
});
