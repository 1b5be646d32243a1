import { expect, test } from 'vitest';
import { drain } from '../scripts/drain/drain.ts';

interface Edge {
  readonly connected: boolean;
  readonly takes_calls: boolean | null;
  readonly calls: number | null;
}

/** A control plane that answers each look at the edge with the next of `looks`. */
async function drained(looks: readonly Edge[], waitMs: number, draining = true) {
  const asked: string[] = [];
  const said: string[] = [];
  const left = [...looks];
  let waited = 0;
  const result = await drain({
    connection: {
      ask: async <T>(method: string, path: string, body?: object) => {
        asked.push(`${method} ${path}${body ? ` ${JSON.stringify(body)}` : ''}`);
        if (method !== 'GET') return { data: {} } as T;
        return { data: { edge: left.length > 1 ? left.shift() : left[0] } } as T;
      },
    },
    edgeId: 'edge-7',
    draining,
    waitMs,
    pause: async (ms) => {
      waited += ms;
    },
    say: (line) => said.push(line),
  });
  return { asked, said, waited, result };
}

const busy = (calls: number): Edge => ({ connected: true, takes_calls: false, calls });

test('a drain gives the order, and waits until the last call has ended', async () => {
  // Before the edge has confirmed the order it still takes calls, and may have none.
  const looks = [{ connected: true, takes_calls: true, calls: 0 }, busy(2), busy(2), busy(1), busy(0)];
  const { asked, said, result } = await drained(looks, 60_000);
  expect(asked[0]).toBe('PATCH /v1/admin/edges/edge-7 {"draining":true}');
  expect(said).toEqual(['0 in progress', '2 in progress', '1 in progress']);
  expect(result).toEqual({ edge: 'edge-7', draining: true, drained: true, calls: 0 });
});

test('it ends after its time with the calls that are left', async () => {
  const { waited, result } = await drained([busy(3)], 10_000);
  expect(waited).toBe(10_000);
  expect(result).toMatchObject({ drained: false, calls: 3 });
});

test('it does not wait for an edge that is not connected', async () => {
  const { waited, result } = await drained([{ connected: false, takes_calls: null, calls: null }], 60_000);
  expect(waited).toBe(0);
  expect(result).toMatchObject({ drained: false, calls: null });
});

test('its undoing gives the order, and waits for nothing', async () => {
  const { asked, result } = await drained([busy(1)], 60_000, false);
  expect(asked).toEqual(['PATCH /v1/admin/edges/edge-7 {"draining":false}']);
  expect(result).toMatchObject({ draining: false });
});
