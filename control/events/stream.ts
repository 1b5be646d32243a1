/**
 * The events of an organization as server-sent events (HTML standard, section 9.2; contract 17): `open` first, then each
 * event once and in order, whatever the reader's pace; `missed` in place of events that are no longer stored. Only one page
 * is in memory for a reader, and the next is read when that one is taken.
 */
import type { Clock } from '#shared/clock.ts';
import { News, retryMs, serverSentEvent } from '../http/index.ts';
import { type EventFeed, idOf } from './feed.ts';
import type { EventFilter } from './filter.ts';
import { nonePassing, type PassingEvents } from './passing.ts';
import type { Position } from './windows-store.ts';

export interface EventStreamParts {
  readonly feed: Pick<EventFeed, 'follow' | 'read'>;
  readonly passing: Pick<PassingEvents, 'watch'>;
  readonly mostPassing: number;
  /** Characters of them that are sent at once. */
  readonly pageOctets: number;
  readonly clock: Clock;
  readonly orgId: string;
  readonly filter: EventFilter;
  /** What the reader has. */
  readonly after: Position;
  /** Whether the reader goes on after an event that it named. */
  readonly isResumed: boolean;
  readonly heartbeatMs: number;
  readonly windowMs: number;
  /** 0..1: spreads readers that come back after a stop. */
  readonly random: () => number;
  readonly onMissed: () => void;
  /** Aborted when the stream is to end; its reason is a StreamEnd. */
  readonly signal: AbortSignal;
}

const whyMissed =
  'Events after your last one are no longer stored. Read the current state; events from now on follow.';

export async function* organizationEvents(parts: EventStreamParts): AsyncGenerator<string> {
  const { after, clock, feed, filter, heartbeatMs, isResumed, onMissed, orgId, random, signal } = parts;
  const news = new News(clock, heartbeatMs);
  const notify = () => news.notify();
  const unfollow = feed.follow(orgId, notify);
  const passing = filter.hasPassing
    ? parts.passing.watch(orgId, filter.matches, parts.mostPassing, notify)
    : nonePassing;
  signal.addEventListener('abort', notify);
  try {
    let position = after;
    // The id that the reader has.
    let told = position;
    let spokeAt = clock.elapsed();
    const opening = { resumed: isResumed, window_seconds: parts.windowMs / 1000 };
    // A reader that goes on has an id; `missed` follows if it is one of events that are gone.
    yield `retry: ${retryMs}\n${serverSentEvent('open', opening, isResumed ? undefined : idOf(after))}`;
    while (!signal.aborted) {
      const { events, hasMissed, last } = await feed.read(orgId, position);
      if (hasMissed) {
        onMissed();
        const data = { after: idOf(position), message: whyMissed };
        yield serverSentEvent('missed', data, idOf(last));
        told = last;
        spokeAt = clock.elapsed();
      }
      const wanted = events.filter(filter.matches);
      position = last;
      if (wanted.length > 0) {
        yield wanted.map(({ text }) => text).join('');
        if (wanted.at(-1) === events.at(-1)) told = last;
        spokeAt = clock.elapsed();
      }
      // They have no ids, so they do not count as a sign of the reader's place.
      const passed = passing.take(parts.pageOctets);
      if (passed !== '') yield passed;
      const isQuiet = events.length === 0 && !hasMissed && !passing.isWaiting;
      const isSilent = isQuiet && (await news.quiet());
      // Others' events wake it all the time, and say nothing to its reader.
      if (!isSilent && clock.elapsed() - spokeAt < heartbeatMs) continue;
      // The reader's place moves on, so that it stays in the window when none of its events come.
      yield told.seq === position.seq ? ':\n\n' : `id: ${idOf(position)}\n\n`;
      told = position;
      spokeAt = clock.elapsed();
    }
    if (signal.reason === 'closing')
      yield `retry: ${Math.round(retryMs / 2 + random() * retryMs)}\n: the control plane is shutting down\n\n`;
  } finally {
    unfollow();
    passing.close();
    signal.removeEventListener('abort', notify);
  }
}
