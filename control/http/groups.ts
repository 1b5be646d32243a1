/** The endpoint groups of contract 1.2 and 1.3, which wrap responses differently. */
import type { ErrorItem } from '#shared/errors.ts';

export type Group = 'plain' | 'testing' | 'widget' | 'tools' | 'flat';

/** The first match applies; without a match it is plain. */
const prefixes: readonly (readonly [prefix: string, group: Group])[] = [
  ['/v1/calls/active/transfer', 'plain'],
  ['/v1/calls', 'flat'],
  ['/v1/inbound', 'flat'],
  ['/v1/pathway/chat', 'plain'],
  ['/v1/pathway', 'flat'],
  ['/v1/agent-testing', 'testing'],
  ['/v1/widget', 'widget'],
  ['/v2/tools', 'tools'],
];

/** @param path of a request or of a route, with or without a query */
export function groupOf(path: string): Group {
  for (const [prefix, group] of prefixes) {
    if (!path.startsWith(prefix)) continue;
    const next = path[prefix.length];
    if (next === undefined || next === '/' || next === '?') return group;
  }
  return 'plain';
}

/** The body of an error response. @param status HTTP status */
export function errorBody(
  group: Group,
  status: number,
  items: readonly ErrorItem[],
): Record<string, unknown> {
  switch (group) {
    case 'plain':
    case 'testing':
      return { data: null, errors: items };
    case 'tools':
      return { status: 'error', data: null, errors: items };
    case 'widget':
      return { status, data: null, errors: items };
    case 'flat': {
      const body = { status: 'error', message: items[0]?.message ?? '', errors: items };
      return status === 401 ? { ...body, data: null } : body;
    }
  }
}
