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

/** Contract 5.5, written out independently. */
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
  ])('a carrier moves %s to %s through %j', (from, to, way) => {
    expect(wayTo(from, to)).toEqual(way);
  });
});

describe('for any order', () => {
  const status = fc.constantFrom(...portStatuses);
  const numbers = fc
    .array(status, { minLength: 1, maxLength: 6 })
    .map((all) => all.map((one, index): NumberState => ({ number: `+1415555010${index}`, status: one })));
  const order = fc.record({
    to: status,
    actor: fc.constantFrom(...actors),
    chosen: fc.option(
      fc.array(
        fc.constantFrom(0, 0, 0, 1, 1, 2, 3, 4, 5, 7).map((digit) => `+1415555010${digit}`),
        { minLength: 1, maxLength: 2 },
      ),
    ),
  });

  /** The contract's result of an order, read from the table: the numbers that it moves, or its error code. */
  function expected(
    state: readonly NumberState[],
    { actor, chosen, to }: { actor: Actor; chosen: readonly string[] | null; to: PortStatus },
  ): readonly string[] | string {
    const has = (number: string) => state.some((one) => one.number === number);
    if (chosen && !chosen.every(has)) return 'INVALID_PHONE_NUMBERS';
    const concerned = state.filter(({ number, status: now }) =>
      chosen ? chosen.includes(number) : !ends.includes(now),
    );
    const moving = concerned.filter((one) => one.status !== to);
    const allowed = (from: PortStatus) =>
      table
        .trim()
        .split('\n')
        .map((line) => line.split(' '))
        .some(([one, other, by]) => one === from && other === to && by?.split(',').includes(actor));
    if (!moving.every((one) => allowed(one.status))) return 'INVALID_TRANSITION';
    // All have ended, and none in the ordered state.
    if (!chosen && concerned.length === 0 && !state.some((one) => one.status === to))
      return 'INVALID_TRANSITION';
    return moving.map(({ number }) => number);
  }

  function planned(state: readonly NumberState[], { actor, chosen, to }: Parameters<typeof expected>[1]) {
    try {
      return planMove(state, chosen, to, actor).map(({ number }) => number);
    } catch (error) {
      if (error instanceof ApiError) return error.code;
      throw error;
    }
  }

  it('moves what the table allows, rejects everything else with its code, and moves nothing twice', () => {
    const met = { moved: 0, ended: 0, unknown: 0, refused: 0 };
    fc.assert(
      fc.property(numbers, fc.array(order, { maxLength: 12 }), (start, orders) => {
        let state: readonly NumberState[] = start;
        for (const one of orders) {
          const plan = planned(state, one);
          expect(plan).toEqual(expected(state, one));
          if (plan === 'INVALID_PHONE_NUMBERS') met.unknown++;
          if (plan === 'INVALID_TRANSITION') met.refused++;
          if (!Array.isArray(plan) || plan.length === 0) continue;
          met.moved++;
          if (ends.includes(one.to)) met.ended++;
          state = state.map((each) => (plan.includes(each.number) ? { ...each, status: one.to } : each));
          expect(planned(state, { ...one, chosen: plan })).toEqual([]);
        }
      }),
      { numRuns: 500 },
    );
    // Each path was taken often enough: a generator of rejections only would prove nothing.
    for (const [way, times] of Object.entries(met))
      expect({ way, enough: times > 50 }).toEqual({ way, enough: true });
  });

  it('a request has ended exactly when all its numbers have', () => {
    fc.assert(
      fc.property(fc.array(status, { minLength: 1 }), (statuses) => {
        expect(isOpen(requestStatus(statuses))).toBe(statuses.some((one) => open.includes(one)));
        expect(statuses).toContain(requestStatus(statuses));
      }),
    );
  });

  it('an unknown number is rejected and listed', () => {
    const state: NumberState[] = [{ number: '+14155550100', status: 'submitted' }];
    expect(() => planMove(state, ['+14155550199'], 'in_progress', 'operator')).toThrow(
      expect.objectContaining({
        code: 'INVALID_PHONE_NUMBERS',
        message: 'The request does not include +14155550199.',
      }),
    );
  });
});
