/** Events over a kill of the control plane, with the real program. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { callRecord, EdgeClient, reportFrame } from '../../test/kit/control/edge-client.ts';
import { EventReader, type SentEvent } from '../../test/kit/control/widgets.ts';
import { ControlProgram } from '../../test/kit/programs/control-program.ts';

let control: ControlProgram;

beforeEach(() => {
  control = new ControlProgram();
});
afterEach(() => control.remove());

const id = (last: number) => `00000000-0000-4000-8000-${String(last).padStart(12, '0')}`;
const perFrame = 5;
const frames = 20;

/** A client as browsers have them: it opens its stream again with the last id, that of `open` included. */
class Reader {
  readonly events: SentEvent[] = [];
  #last: string | undefined;

  /** Resolves when its stream is open. @returns what resolves at its end, or when all ends of calls are there */
  async open(): Promise<{ readonly end: Promise<void> }> {
    const stream = await EventReader.open(`${control.url}/v1/events?types=call.ended`, {
      authorization: control.keys.api_key,
      ...(this.#last !== undefined && { 'last-event-id': this.#last }),
    });
    await this.#take(stream);
    return { end: this.#read(stream) };
  }

  async #read(stream: EventReader): Promise<void> {
    try {
      while (this.events.length < frames * perFrame && (await this.#take(stream)));
    } catch {
      // The control plane was killed.
    }
    stream.leave();
  }

  async #take(stream: EventReader): Promise<boolean> {
    const event = await stream.next();
    if (event?.id !== undefined) this.#last = event.id;
    if (event && event.event !== 'open') this.events.push(event);
    return event !== null;
  }
}

describe('a control plane killed while events are read', () => {
  it('loses none and repeats none for a reader that comes back with its last id', async () => {
    await control.start();
    const { org_id, edge_token } = control.keys;
    const frame = (index: number) =>
      reportFrame(
        index * perFrame + 1,
        Array.from({ length: perFrame }, (_, step) => ({
          type: 'call',
          call: callRecord(org_id, { id: id(index * perFrame + step + 1) }),
        })),
      );
    /** Sends what is not acknowledged, some frames ahead, until this many are. */
    const report = async (until: number): Promise<EdgeClient> => {
      const edge = await EdgeClient.connect(`${control.url.replace('http', 'ws')}/v1/edge/link`, edge_token);
      let { acknowledged } = await edge.next('welcome');
      for (let sent = acknowledged / perFrame; acknowledged < until * perFrame; ) {
        while (sent < frames && sent < acknowledged / perFrame + 4) edge.send(frame(sent++));
        acknowledged = (await edge.next('ack')).seq;
      }
      return edge;
    };
    const reader = new Reader();
    const first = await reader.open();
    const edge = await report(frames / 2);
    await control.end('SIGKILL');
    await Promise.all([first.end, edge.closed]);
    await control.start();
    // What arrives before the reader is back is in the window, too.
    const early = await report(frames / 2 + 4);
    const second = await reader.open();
    await early.close();
    const late = await report(frames);
    await second.end;
    await late.close();
    const { events } = reader;
    expect(events.map(({ event }) => event)).toEqual(events.map(() => 'call.ended'));
    expect(events.map(({ data }) => data)).toMatchObject(
      Array.from({ length: frames * perFrame }, (_, index) => ({ subject: { call_id: id(index + 1) } })),
    );
    const numbers = events.map((one) => Number(one.id?.split('-')[1]));
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
    expect(new Set(events.map((one) => one.id?.split('-')[0])).size).toBe(1);
  }, 240_000);
});
