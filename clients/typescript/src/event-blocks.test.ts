import { expect, it } from 'vitest';
import { EventBlocks } from './event-blocks.ts';

it('reads blocks that arrive in pieces, with heartbeats between them', () => {
  const blocks = new EventBlocks();
  expect(blocks.push('retry: 2000\nevent: op')).toEqual([]);
  expect(blocks.push('en\ndata: {"resumed":false}\n\n: still here\n\nid: 7-0\n')).toEqual([
    { id: null, type: 'open', data: '{"resumed":false}', retryMs: 2000 },
    { id: null, type: 'message', data: '', retryMs: null },
  ]);
  expect(blocks.push('event: call.begun\ndata: {"a":\ndata: 1}\n\n')).toEqual([
    { id: '7-0', type: 'call.begun', data: '{"a":\n1}', retryMs: null },
  ]);
});
