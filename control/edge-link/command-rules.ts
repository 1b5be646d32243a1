/** Maps a failed command to its error. */
import { ApiError, errorItem } from '#shared/errors.ts';

/** 503: the edge did not answer a command. It may or may not have started on it. */
export class Unanswered extends ApiError {
  constructor(message: string) {
    super([errorItem('SERVICE_UNAVAILABLE', undefined, message)], 5);
  }
}
