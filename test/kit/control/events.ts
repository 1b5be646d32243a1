/** Follows the events of an organization, for tests whose clock is moved by hand. */
import { eventually, saw } from '../programs/eventually.ts';
import type { TestControl } from './harness.ts';
import { EventReader } from './widgets.ts';

/** An event as it was received. */
export interface ReceivedEvent {
  readonly id?: string;
  readonly event: string;
  readonly data: {
    readonly type?: string;
    readonly at?: string;
    readonly subject?: Readonly<Record<string, string>>;
    readonly data?: Readonly<Record<string, unknown>> | null;
    readonly [member: string]: unknown;
  };
}

export class FollowedEvents {
  readonly reader: EventReader;
  /** All so far, `open` included. */
  readonly received: ReceivedEvent[] = [];
  /** Null while it is open; then whether it ended in order. */
  ended: 'in order' | 'broken' | null = null;
  readonly #test: Pick<TestControl, 'clock'>;

  private constructor(test: Pick<TestControl, 'clock'>, reader: EventReader) {
    this.#test = test;
    this.reader = reader;
    void this.#read();
  }

  /** Resolves when the stream is open. @param more query, the last id, and who reads */
  static async open(
    test: TestControl,
    more: {
      readonly query?: string;
      readonly after?: string;
      readonly key?: string;
      readonly headers?: Record<string, string>;
    } = {},
  ): Promise<FollowedEvents> {
    const { after, key = test.key, query = '' } = more;
    const headers = {
      ...(more.headers ?? { authorization: key }),
      ...(after !== undefined && { 'last-event-id': after }),
    };
    const reader = await EventReader.open(`${await test.url()}/v1/events${query}`, headers);
    const followed = new FollowedEvents(test, reader);
    if (reader.response.status === 200)
      await followed.until('the stream to open', () => followed.received[0]);
    return followed;
  }

  get types(): string[] {
    return this.received.map(({ event }) => event);
  }

  /** Waits, while time goes on. */
  until<T>(what: string, look: () => T | null | undefined | Promise<T | null | undefined>): Promise<T> {
    return eventually(what, () => {
      this.#test.clock.advance(25);
      saw({ types: this.types, ended: this.ended });
      return look();
    });
  }

  /** The events after `open`, once there are this many. */
  async take(count: number): Promise<ReceivedEvent[]> {
    return this.until(`${count} events`, () =>
      this.received.length > count ? this.received.slice(1, count + 1) : null,
    );
  }

  leave(): void {
    this.reader.leave();
  }

  async #read(): Promise<void> {
    try {
      for (;;) {
        const event = await this.reader.next();
        if (event === null) break;
        this.received.push(event as ReceivedEvent);
      }
      this.ended = 'in order';
    } catch {
      this.ended = 'broken';
    }
  }
}
