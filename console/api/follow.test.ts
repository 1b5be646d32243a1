/** Who follows the same events shares one stream. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { follow } from './follow.ts';

/** The streams that were asked for: where, what they say, and whether they are over. */
let streams: { url: string; say: (text: string) => void; signal: AbortSignal }[];

beforeEach(() => {
  streams = [];
  vi.stubGlobal('fetch', async (url: string, { signal }: { signal: AbortSignal }) => {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const writer = writable.getWriter();
    streams.push({ url, signal, say: (text) => void writer.write(new TextEncoder().encode(text)) });
    return new Response(readable);
  });
});
afterEach(() => {
  vi.unstubAllGlobals();
});

function follower() {
  const told: string[] = [];
  const end = follow(
    { types: 'alert' },
    {
      onStale: () => told.push('stale'),
      onEvent: ({ type }) => told.push(type),
      onState: (following) => told.push(following ? 'following' : 'lost'),
    },
  );
  return { told, end };
}

const opened = 'id: 1-0\nevent: open\ndata: {"resumed":false,"window_seconds":3600}\n\n';
const raised =
  'id: 1-1\nevent: alert.raised\ndata: {"id":"1-1","type":"alert.raised","subject":{},"data":null}\n\n';

it('opens one stream for all, tells each of them everything, and ends it with the last', async () => {
  const one = follower();
  await vi.waitFor(() => expect(streams.length).toBe(1));
  streams[0]?.say(opened);
  await vi.waitFor(() => expect(one.told).toEqual(['following', 'stale']));
  // What it shows may be from before the stream.
  const other = follower();
  expect(other.told).toEqual(['following', 'stale']);
  streams[0]?.say(raised);
  await vi.waitFor(() => expect(other.told.at(-1)).toBe('alert.raised'));
  expect(one.told.at(-1)).toBe('alert.raised');
  one.end();
  one.end();
  expect(streams[0]?.signal.aborted).toBe(false);
  other.end();
  expect(streams.map(({ url, signal }) => [url, signal.aborted])).toEqual([['/v1/events?types=alert', true]]);
  const later = follower();
  await vi.waitFor(() => expect(streams.length).toBe(2));
  later.end();
});
