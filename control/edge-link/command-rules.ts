/** When a command is void, and what a failed one is to its client. */
import type { EdgeCommand } from '#shared/edge-protocol/commands.ts';
import { ApiError, errorItem } from '#shared/errors.ts';

/** 503: the edge did not answer a command. It may or may not have started on it. */
export class Unanswered extends ApiError {
  constructor(message: string) {
    super([errorItem('SERVICE_UNAVAILABLE', undefined, message)], 5);
  }
}

/** A command stays valid for this share of the time we wait for its answer; the rest is for the answer's way back. */
const validShare = 0.75;

/** How long a command may still be executed, ms after it was ordered. A late hang-up is still wanted. */
export function validFor(command: EdgeCommand, timeoutMs: number): number {
  return command.kind === 'call.stop' ? Number.POSITIVE_INFINITY : validShare * timeoutMs;
}

/** Whether it must not be executed any more, because its client has received the failure or soon will. */
export function isVoid(command: EdgeCommand, ageMs: number, timeoutMs: number): boolean {
  return ageMs >= validFor(command, timeoutMs);
}
