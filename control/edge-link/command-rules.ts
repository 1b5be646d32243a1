/** What became of a command that failed: pure. */
import { ApiError, errorItem } from '#shared/errors.ts';

/** 503: the edge was sent a command and did not answer. Nobody knows whether it has begun what it was to do. */
export class Unanswered extends ApiError {
  constructor(message: string) {
    super([errorItem('SERVICE_UNAVAILABLE', undefined, message)], 5);
  }
}
