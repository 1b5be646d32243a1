/** Requests of the doctor. */

/** Time for an answer, ms. */
export const answerMs = 5000;

export async function get(url: string): Promise<Response> {
  return fetch(url, { signal: AbortSignal.timeout(answerMs), redirect: 'manual' });
}
