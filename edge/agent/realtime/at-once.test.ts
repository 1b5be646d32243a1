/** What a server says together with its acceptance of the session: one read of the socket has both. */
import { afterEach, expect, it } from 'vitest';
import { ElevenLabsAgentsServer } from '../../../test/kit/speech/elevenlabs-agents-server.ts';
import { fields, type LabSession, type LabSocket } from '../../../test/kit/speech/lab-server.ts';
import { RealtimeScene } from '../../../test/kit/speech/realtime-scene.ts';

const open: { close(): Promise<void> | void }[] = [];
afterEach(async () => {
  for (const part of open.splice(0).reverse()) await part.close();
});

/** Says `more` right after the acceptance, to the connections for which it has some. */
class AtOnce extends ElevenLabsAgentsServer {
  more: object[][] = [];

  protected override begin(socket: LabSocket): LabSession {
    const session = super.begin(socket);
    const more = this.more.shift() ?? [];
    return {
      binary: (octets) => session.binary(octets),
      closed: () => session.closed(),
      text: (message) => {
        session.text(message);
        if (fields(message).type !== 'conversation_initiation_client_data') return;
        for (const one of more) socket.send(one);
      },
    };
  }
}

async function begun(more: object[][]) {
  const lab = await new AtOnce().listen();
  open.push(lab);
  lab.more = more;
  const scene = new RealtimeScene('elevenlabs', lab);
  open.push({ close: () => scene.agent.close('the test is over') });
  return { lab, scene };
}

const failed = [{ type: 'error', error_event: { message: 'the quota is used up' } }];
const heard = [{ type: 'user_transcript', user_transcription_event: { user_transcript: 'hello' } }];

it('its error refuses the call', async () => {
  const { lab, scene } = await begun([failed]);
  await expect(scene.begin()).rejects.toThrow('ended the session at once');
  await scene.until('the end of the connection', () => lab.open === 0);
  scene.clock.advance(20_000);
  expect(lab.connections).toBe(1);
});

it('its error ends a session that replaces one', async () => {
  const { lab, scene } = await begun([[], failed]);
  await scene.begin();
  lab.cut();
  await scene.until('the third session', () => {
    scene.clock.advance(50);
    return lab.connections === 3 || scene.clock.elapsed() > 20_000;
  });
  expect(lab.connections).toBe(3);
});

it('its words are in the transcript', async () => {
  const { scene } = await begun([heard]);
  await scene.begin();
  await scene.until('the words', () => {
    scene.clock.advance(50);
    return scene.lines.length > 0 || scene.clock.elapsed() > 20_000;
  });
  expect(scene.lines).toEqual(['user: hello']);
});
