/** How much of a transcript a call may have, whoever makes its lines. */
import { describe, expect, it } from 'vitest';
import type { TranscriptEntry } from '#shared/edge-protocol/calls.ts';
import { callScene, plan, settle } from '../../test/kit/edge/inbound-calls.ts';
import { FakeLeg } from '../../test/kit/fakes/fake-leg.ts';

const scene = callScene();

async function answered(): Promise<void> {
  const leg = new FakeLeg();
  scene.calls.admit(leg, plan, ['PCMU']);
  await settle();
  leg.peer.answered();
  leg.peer.acknowledged(null);
  await settle();
}

const line = (text: string): TranscriptEntry => ({
  id: 'line',
  at: '2030-01-01T00:00:00.000Z',
  user: 'user',
  text,
  node_id: null,
  node_name: null,
});

const reported = () =>
  scene.reports
    .flatMap((report) => (report.type === 'transcript' ? report.entries : []))
    .map(({ text }) => text);

const sentence =
  /^Lines of this transcript are left out: a call has at most 10000 lines with 4194304 characters, and 200 lines/;

/** The agent says so much, in a second of the call. */
async function says(...texts: string[]): Promise<void> {
  for (const text of texts) scene.agents.last.host.transcript(line(text));
  await settle();
  scene.clock.advance(1000);
}

describe('a transcript', () => {
  it('has the first 200 lines at once and 50 a second after that, and says once that others are left out', async () => {
    await answered();
    await says(...Array.from({ length: 1000 }, (_, i) => `line ${i}`));
    expect(reported().filter((text) => /^line/.test(text))).toHaveLength(200);
    await says(...Array.from({ length: 1000 }, (_, i) => `later ${i}`));
    expect(reported().filter((text) => /^later/.test(text))).toEqual(
      Array.from({ length: 50 }, (_, i) => `later ${i}`),
    );
    expect(reported().filter((text) => sentence.test(text))).toHaveLength(1);
    expect(scene.leftOut).toBe(800 + 950);
  });

  it('has lines of 20,000 characters at most', async () => {
    await answered();
    await says('w'.repeat(100_000));
    expect(reported()).toEqual(['w'.repeat(20_000)]);
    expect(scene.leftOut).toBe(0);
  });

  it('has 10,000 lines in all', async () => {
    await answered();
    for (let i = 0; i < 250; i++) await says(...Array.from({ length: 50 }, () => 'yes'));
    expect(reported().filter((text) => text === 'yes')).toHaveLength(10_000);
    expect(scene.leftOut).toBe(2500);
    expect(reported().filter((text) => sentence.test(text))).toHaveLength(1);
  });

  it('has 4 MiB of text in all', async () => {
    await answered();
    for (let i = 0; i < 300; i++) await says('w'.repeat(20_000));
    expect(reported().join('').length).toBeLessThanOrEqual(4_194_304 + 300);
    expect(reported().filter((text) => /^w/.test(text))).toHaveLength(Math.floor(4_194_304 / 20_000));
  });
});
