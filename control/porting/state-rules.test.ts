import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { portStatuses } from '#shared/api/porting.ts';
import { ApiError } from '#shared/errors.ts';
import type { PortStatus } from '../db/tables.ts';
import {
  type Actor,
  isOpen,
  mayMove,
  type NumberState,
  planMove,
  requestStatus,
  wayTo,
} from './state-rules.ts';

const actors: readonly Actor[] = ['customer', 'signer', 'operator', 'system'];
const ends: readonly PortStatus[] = ['completed', 'failed', 'canceled'];
const open: readonly PortStatus[] = ['waiting_for_signature', 'submitted', 'in_progress'];

/** Contract 5.5, written out a second time. */
const table = `
waiting_for_signature submitted signer
waiting_for_signature failed operator,system
waiting_for_signature canceled customer,operator
submitted in_progress operator,system
submitted failed operator,system
submitted canceled customer,operator
in_progress completed operator,system
in_progress failed operator,system
in_progress canceled customer,operator`;

describe('the states of a number', () => {
  it('have exactly the moves of the contract', () => {
    const all = portStatuses.flatMap((from) =>
      portStatuses.map((to) => ({ from, to, by: actors.filter((actor) => mayMove(from, to, actor)) })),
    );
    const lines = all
      .filter(({ by }) => by.length > 0)
      .map(({ by, from, to }) => `${from} ${to} ${by.join()}`);
    expect(lines.sort()).toEqual(table.trim().split('\n').sort());
  });

  it.each<[PortStatus[], PortStatus]>([
    [['completed', 'submitted', 'in_progress'], 'submitted'],
    [['waiting_for_signature', 'failed'], 'waiting_for_signature'],
    [['in_progress', 'completed'], 'in_progress'],
    [['failed', 'completed', 'canceled'], 'completed'],
    [['failed', 'canceled'], 'failed'],
    [['canceled', 'canceled'], 'canceled'],
  ])('%j make a request %s', (statuses, expected) => {
    expect(requestStatus(statuses)).toBe(expected);
  });

  it.each<[PortStatus, PortStatus, PortStatus[]]>([
    ['submitted', 'completed', ['in_progress', 'completed']],
    ['submitted', 'failed', ['failed']],
    ['in_progress', 'submitted', []],
    ['completed', 'failed', []],
    ['canceled', 'completed', []],
    ['submitted', 'canceled', []],
  ])('a carrier moves %s to %s by way of %j', (from, to, way) => {
    expect(wayTo(from, to)).toEqual(way);
  });
});

describe('whatever is ordered', () => {
  const status = fc.constantFrom(...portStatuses);
  const numbers = fc
    .array(status, { minLength: 1, maxLength: 6 })
    .map((all) => all.map((one, index): NumberState => ({ number: `+1415555010${index}`, status: one })));
  const order = fc.record({
    to: status,
    actor: fc.constantFrom(...actors),
    chosen: fc.option(
      fc.array(
        fc.integer({ min: 0, max: 7 }).map((digit) => `+1415555010${digit}`),
        { minLength: 1 },
      ),
    ),
  });

  function apply(state: readonly NumberState[], moving: readonly NumberState[], to: PortStatus) {
    return state.map((one) => (moving.includes(one) ? { ...one, status: to } : one));
  }

  it('what ended stays, every move is one of the table, and a repeated order moves nothing', () => {
    fc.assert(
      fc.property(numbers, fc.array(order, { maxLength: 12 }), (start, orders) => {
        let state: readonly NumberState[] = start;
        for (const { actor, chosen, to } of orders) {
          let moving: readonly NumberState[];
          try {
            moving = planMove(state, chosen, to, actor);
          } catch (error) {
            expect(error).toBeInstanceOf(ApiError);
            continue;
          }
          for (const one of moving) expect(mayMove(one.status, to, actor)).toBe(true);
          if (chosen) for (const one of moving) expect(chosen).toContain(one.number);
          const next = apply(state, moving, to);
          for (const [index, before] of state.entries())
            if (ends.includes(before.status)) expect(next[index]).toBe(before);
          if (moving.length > 0)
            expect(
              planMove(
                next,
                moving.map(({ number }) => number),
                to,
                actor,
              ),
            ).toEqual([]);
          state = next;
        }
      }),
      { numRuns: 500 },
    );
  });

  it('a request has ended exactly when all its numbers have', () => {
    fc.assert(
      fc.property(fc.array(status, { minLength: 1 }), (statuses) => {
        expect(isOpen(requestStatus(statuses))).toBe(statuses.some((one) => open.includes(one)));
        expect(statuses).toContain(requestStatus(statuses));
      }),
    );
  });

  it('a number that the request does not have is refused by name', () => {
    const state: NumberState[] = [{ number: '+14155550100', status: 'submitted' }];
    expect(() => planMove(state, ['+14155550199'], 'in_progress', 'operator')).toThrow(
      expect.objectContaining({
        code: 'INVALID_PHONE_NUMBERS',
        message: 'The request does not hold +14155550199.',
      }),
    );
  });
});
