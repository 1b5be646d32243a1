import { afterEach, describe, expect, it } from 'vitest';
import { OpenAiRealtimeServer } from '../../../test/kit/speech/openai-realtime-server.ts';
import { RealtimeScene } from '../../../test/kit/speech/realtime-scene.ts';

const open: { close(): Promise<void> | void }[] = [];
afterEach(async () => {
  for (const part of open.splice(0).reverse()) await part.close();
});

async function begun(
  answers: OpenAiRealtimeServer['answers'],
  setup: ConstructorParameters<typeof RealtimeScene>[2] = {},
  prepare: (lab: OpenAiRealtimeServer) => void = () => undefined,
) {
  const lab = await new OpenAiRealtimeServer().listen();
  prepare(lab);
  open.push(lab);
  lab.answers.push(...answers);
  const scene = new RealtimeScene('openai', lab, setup);
  open.push({ close: () => scene.agent.close('the test is over') });
  await scene.begin();
  return { lab, scene };
}

/** Lets timers and sockets take turns until something is so. */
async function passing(scene: RealtimeScene, what: string, is: () => boolean): Promise<void> {
  await scene.until(what, () => {
    if (!is()) scene.clock.advance(50);
    return is();
  });
}

describe('a lost session', () => {
  it('is replaced by one that knows the conversation, and what has come is played', async () => {
    const { lab, scene } = await begun([{ text: 'Hello' }, { text: 'Good' }]);
    await scene.until('the first answer', () => scene.lines.length === 1);
    lab.cut();
    await passing(scene, 'the next session', () => lab.added.length > 0);
    expect(lab.connections).toBe(2);
    expect(lab.added).toEqual(['assistant: Hello']);
    expect(scene.playAll()).toBe(100);
    scene.say('yes');
    await scene.until('an answer', () => scene.lines.length === 3);
    expect(scene.lines).toEqual(['assistant: Hello', 'user: yes', 'assistant: Good']);
    expect(lab.violations).toEqual([]);
    expect(scene.host.failures).toEqual([]);
  });

  it('that cannot be replaced ends the call with its cause, after the caller has heard why', async () => {
    const { lab, scene } = await begun([{ text: 'Hi' }]);
    await scene.until('the first answer', () => scene.lines.length === 1);
    scene.playAll();
    lab.faults.refuse = 503;
    lab.cut();
    await passing(scene, 'the apology', () => scene.lines.length === 2);
    expect(scene.lines[1]).toMatch(/^assistant: I am sorry/);
    expect(scene.host.failures).toEqual([]);
    expect(scene.playAll()).toBeGreaterThan(1000);
    await scene.until('the end', () => scene.host.failures.length > 0);
    expect(scene.host.failures[0]?.message).toMatch(/closed the connection \(1006\)/);
  });

  it('goes to the fallback number', async () => {
    const { lab, scene } = await begun([], { settings: { fallback_number: '+14155550122' } });
    lab.faults.refuse = 503;
    lab.cut();
    await passing(scene, 'the transfer', () => scene.host.transfers.length > 0);
    expect(scene.host.transfers[0]?.target).toBe('+14155550122');
    expect(scene.host.failures).toEqual([]);
  });

  it('is given up when the server accepts sessions and loses them again and again', async () => {
    const { lab, scene } = await begun([], { settings: { fallback_number: '+14155550122' } });
    await passing(scene, 'the transfer', () => {
      if (lab.open > 0) lab.cut();
      return scene.host.transfers.length > 0;
    });
    expect(lab.connections).toBeGreaterThan(1);
    expect(scene.clock.elapsed()).toBeLessThan(20_000);
  });

  it('is one whose answers fail again and again', async () => {
    const failure = 'The server had an error.';
    const { lab, scene } = await begun([{ failure }, { failure }, { failure }]);
    await passing(scene, 'the next session', () => lab.connections === 2);
    const problems = scene.log.warnings.map(({ fields }) => JSON.stringify(fields));
    // The first answer, and the loss; in between problems are not logged so often.
    expect(problems.filter((problem) => problem.includes(failure))).toHaveLength(2);
  });
});

describe('a model that is asked to begin', () => {
  it('is asked once more by another session when it says nothing for 10 s', async () => {
    const { lab, scene } = await begun([], { settings: { first_sentence: 'Hi!' } }, (server) => {
      server.ignoresCreate = true;
    });
    await scene.until('the first question', () => lab.asked.length === 1);
    lab.ignoresCreate = false;
    lab.answers.push({ text: 'Hi!' });
    await passing(scene, 'the answer', () => scene.lines.length === 1);
    expect([lab.connections, lab.asked[1]]).toEqual([2, lab.asked[0]]);
    expect(scene.clock.elapsed()).toBeGreaterThanOrEqual(10_000);
    // It has begun: silence after that is its own affair.
    scene.playAll();
    const later = scene.clock.elapsed() + 12_000;
    await passing(scene, '12 s', () => scene.clock.elapsed() >= later);
    expect(lab.connections).toBe(2);
    expect(scene.host.failures).toEqual([]);
  });

  it('is asked by the next session when the first is lost before it has said anything', async () => {
    const { lab, scene } = await begun([], {}, (server) => {
      server.ignoresCreate = true;
    });
    await scene.until('the first question', () => lab.asked.length === 1);
    lab.ignoresCreate = false;
    lab.answers.push({ text: 'Hello' });
    lab.cut();
    await passing(scene, 'the answer', () => scene.lines.length === 1);
    expect(scene.lines).toEqual(['assistant: Hello']);
    expect(scene.clock.elapsed()).toBeLessThan(8_000);
  });

  it('is given up when another session says nothing, either', async () => {
    const { lab, scene } = await begun([], {}, (server) => {
      server.ignoresCreate = true;
    });
    await passing(scene, 'the apology', () => scene.lines.length === 1);
    expect(scene.lines[0]).toMatch(/^assistant: I am sorry/);
    expect(lab.asked).toHaveLength(2);
    scene.playAll();
    await scene.until('the end', () => scene.host.failures.length > 0);
    expect(scene.host.failures[0]?.message).toMatch(/said nothing for 10000 ms$/);
  });

  it('is given up with that cause when it says nothing of use, and more than is read', async () => {
    const { lab, scene } = await begun([], {}, (server) => {
      server.ignoresCreate = true;
    });
    await passing(scene, 'the end', () => {
      if (lab.open > 0) for (let i = 0; i < 50; i++) lab.emit({ type: 'x' });
      scene.playAll();
      return scene.host.failures.length > 0;
    });
    expect(scene.host.failures[0]?.message).toMatch(/\/\S* sends more than is read$/);
  });

  it('is not asked again when the caller has begun meanwhile', async () => {
    const { lab, scene } = await begun([], {}, (server) => {
      server.ignoresCreate = true;
    });
    await scene.until('the first question', () => lab.asked.length === 1);
    scene.say('yes');
    await scene.until('the words of the caller', () => scene.lines.length === 1);
    await passing(scene, '12 s', () => scene.clock.elapsed() >= 12_000);
    expect([lab.connections, lab.asked.length]).toEqual([1, 1]);
  });
});

describe('a session near its end', () => {
  it('is renewed in a pause after 55 minutes, without a gap', async () => {
    const { lab, scene } = await begun([{ text: 'Hello' }]);
    await scene.until('the first answer', () => scene.lines.length === 1);
    scene.clock.advance(54 * 60_000);
    expect(lab.connections).toBe(1);
    // Sound that plays puts it off.
    scene.clock.advance(2 * 60_000);
    expect(lab.connections).toBe(1);
    scene.playAll();
    scene.play(1);
    scene.clock.advance(1000);
    await scene.until('the next session', () => lab.added.length > 0);
    await scene.until('the end of the old one', () => lab.open === 1);
    expect(lab.connections).toBe(2);
    lab.answers.push({ text: 'Yes' });
    scene.say('please');
    await scene.until('an answer', () => scene.lines.length === 3);
    expect(scene.host.failures).toEqual([]);
  });

  it('is renewed at 59 minutes without a pause', async () => {
    const { lab, scene } = await begun([{ text: 'Hello' }]);
    await scene.until('the first answer', () => scene.lines.length === 1);
    scene.clock.advance(59 * 60_000);
    await scene.until('the next session', () => lab.connections === 2);
  });
});

describe('bounds', () => {
  it('drops audio of the caller that the server does not read, and counts it', async () => {
    const { scene } = await begun([], { limits: { maxUnreadBytes: -1 } });
    for (let i = 0; i < 60; i++) scene.agent.write(new Int16Array(160));
    expect(scene.agent.droppedFrames).toBe(60);
    const dropped = scene.log.warnings.map(({ fields }) => fields);
    expect(dropped).toEqual([{ dropped_frames: 1 }, { dropped_frames: 51 }]);
  });

  it('plays no more of an answer than is queued', async () => {
    const { scene } = await begun([{ text: 'a'.repeat(60) }], { limits: { maxQueuedSeconds: 1 } });
    await scene.until('the answer', () => scene.lines.length === 1);
    expect(scene.playAll()).toBe(1000);
  });

  it('leaves nothing behind when the call ends', async () => {
    const { lab, scene } = await begun([{ text: 'Hello there' }]);
    await scene.until('the answer', () => scene.lines.length === 1);
    scene.play(5);
    scene.agent.close('the caller hung up');
    scene.agent.close('again');
    await scene.until('the end', () => lab.open === 0);
    expect(scene.clock.pending).toBe(0);
    expect(scene.lines).toEqual(['assistant: Hello']);
  });
});
