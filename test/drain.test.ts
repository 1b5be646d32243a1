import { expect, test } from 'vitest';
import { drain } from '../scripts/drain/drain.ts';

interface Edge {
  readonly connected: boolean;
  readonly takes_calls: boolean | null;
  readonly calls: number | null;
}

/** A control plane that answers each look at the edge with the next of `looks`. */
async function drained(looks: readonly Edge[], waitMs: number, draining = true) {
  const ordered: boolean[] = [];
  const said: string[] = [];
  const left = [...looks];
  let waited = 0;
  const result = await drain({
    order: async (order) => ordered.push(order),
    look: async () => {
      const [look = busy(0)] = left.length > 1 ? left.splice(0, 1) : left;
      return look;
    },
    edgeId: 'edge-7',
    draining,
    waitMs,
    pause: async (ms) => {
      waited += ms;
    },
    say: (line) => said.push(line),
  });
  return { ordered, said, waited, result };
}

const busy = (calls: number): Edge => ({ connected: true, takes_calls: false, calls });

test('a drain gives the order, and waits until the last call has ended', async () => {
  // Before the edge has confirmed the order it still takes calls, and may have none.
  const looks = [{ connected: true, takes_calls: true, calls: 0 }, busy(2), busy(2), busy(1), busy(0)];
  const { ordered, said, result } = await drained(looks, 60_000);
  expect(ordered).toEqual([true]);
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
  const { ordered, result } = await drained([busy(1)], 60_000, false);
  expect(ordered).toEqual([false]);
  expect(result).toMatchObject({ draining: false });
});
