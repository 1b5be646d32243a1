/** States of port requests, as the screens show them, and where an operator may move one (contract 5). Pure. */
import type { Answer } from '../../api/client.ts';
import type { Tone } from '../../parts/pieces.tsx';

export type PortState = Answer<'GET /v1/sip/port/{id}'>['data']['port_request']['status'];

export const tones: Readonly<Record<PortState, Tone>> = {
  waiting_for_signature: 'warn',
  submitted: 'live',
  in_progress: 'live',
  completed: 'good',
  canceled: 'quiet',
  failed: 'bad',
};

export const openStates: readonly PortState[] = ['waiting_for_signature', 'submitted', 'in_progress'];

const ends = ['failed', 'canceled'] as const;
export type Goal = 'in_progress' | 'completed' | (typeof ends)[number];

/** What an operator may choose; [] when the request has ended. Only a signature submits one. */
export function goalsOf(state: PortState): readonly Goal[] {
  if (!openStates.includes(state)) return [];
  return state === 'waiting_for_signature' ? ends : ['in_progress', 'completed', ...ends];
}

/** The customer is told why a request has failed or was canceled. */
export function needsReason(goal: Goal): boolean {
  return ends.some((one) => one === goal);
}
