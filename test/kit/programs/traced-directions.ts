import type { Api } from './api.ts';
import { eventually } from './eventually.ts';

/** The directions of an ended call's session descriptions after the first offer and answer, in order. */
export async function tracedDirections(api: Api, id: string): Promise<string[]> {
  const messages = await eventually('the BYE in the trace', async () => {
    const all = await api.trace(id);
    return all.some(({ start_line }) => start_line.startsWith('BYE ')) ? all : null;
  });
  return messages
    .flatMap(({ direction, raw }) => {
      const stated = /a=(sendrecv|sendonly|recvonly|inactive)\r/.exec(raw)?.[1];
      return stated === undefined ? [] : [`${direction} ${stated}`];
    })
    .slice(2);
}
