/** Why a run has no result: what its attempts failed of, and whether another one makes sense. */
import { ModelUnavailable } from '#shared/models/model-unavailable.ts';
import type { TestRunRow } from '../../db/index.ts';
import { ForeignAgentFailure } from '../foreign/chat.ts';
import { NoRoomInTime } from '../over-call/room.ts';
import { CallFailure } from '../over-call/talk.ts';

/** The run cannot succeed, even if retried. */
export class HopelessRun extends Error {
  override readonly name = 'HopelessRun';
}

/** Whether another attempt is useless, or not wanted: of a load each call counts as it went. */
export function isHopeless(error: unknown, { trigger_source }: TestRunRow): boolean {
  return error instanceof HopelessRun || error instanceof NoRoomInTime || trigger_source === 'load';
}

/** The text of the last failure, and of those before it that were others: the first is often the cause. */
export function textOfAttempts(failures: readonly unknown[]): string {
  const texts = failures.map(failureText);
  const last = texts.at(-1) ?? '';
  const others = new Set(texts.filter((text) => text !== last));
  return others.size === 0 ? last : `${last} Attempts before failed otherwise: ${[...others].join(' ')}`;
}

/** The text of a failure; a bug's own message would mean nothing to its reader. */
function failureText(error: unknown): string {
  const hasOwnMessage = [ModelUnavailable, HopelessRun, CallFailure, ForeignAgentFailure].some(
    (kind) => error instanceof kind,
  );
  if (hasOwnMessage && error instanceof Error) return error.message;
  return 'The test engine failed; see the service log.';
}
