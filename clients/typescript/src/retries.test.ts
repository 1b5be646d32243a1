import { describe, expect, it } from 'vitest';
import { pauseBefore, takesKey } from './retries.ts';

const first = { name: 'GET /v1/calls', sent: 1, maxRetries: 2, status: 503, retryAfterS: null };

describe('a failed request', () => {
  it('is sent again after a pause that doubles, spread over clients, until the retries are used up', () => {
    const pauses = [1, 2, 3].map((sent) => pauseBefore({ ...first, sent }, 0));
    expect(pauses).toEqual([250, 500, null]);
    expect(pauseBefore(first, 1)).toBe(500);
    expect(pauseBefore({ ...first, sent: 9, maxRetries: 9 }, 1)).toBe(8000);
  });

  it('waits as long as the API says, but for no longer than a minute', () => {
    expect(pauseBefore({ ...first, status: 429, retryAfterS: 60 }, 0.5)).toBe(60_000);
    expect(pauseBefore({ ...first, status: 429, retryAfterS: 61 }, 0.5)).toBeNull();
  });

  it.each([
    ['GET /v1/calls', null, true],
    ['GET /v1/calls', 502, true],
    ['GET /v1/calls', 504, true],
    ['GET /v1/calls', 500, false],
    ['GET /v1/calls', 404, false],
    ['POST /v1/calls', null, true],
    ['POST /v1/calls', 503, true],
    ['POST /v1/calls', 409, false],
    ['PUT /v1/agent-testing/scenarios/{id}', null, true],
    ['PATCH /v1/sip/config', 503, false],
    ['PATCH /v1/sip/config', 429, true],
    ['DELETE /v1/pathway/{id}', null, false],
    ['POST /v1/session', null, false],
  ])('%s with %s is sent again: %s', (name, status, again) => {
    expect(pauseBefore({ ...first, name, status }, 0) !== null).toBe(again);
  });

  it('has an Idempotency-Key where the API takes one', () => {
    expect(takesKey('POST /v1/calls')).toBe(true);
    expect(takesKey('POST /v1/session')).toBe(false);
    expect(takesKey('PATCH /v1/sip/config')).toBe(false);
  });
});
