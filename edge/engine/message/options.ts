/** Extensions that a message asks for (RFC 3261 sections 20.32 and 20.37). */
import { splitList } from './address.ts';
import type { Headers } from './message.ts';

/** Reliable provisional responses (RFC 3262). */
const reliable = '100rel';

export function requires100rel(headers: Headers): boolean {
  return hasOption(headers, 'require', reliable);
}

export function supports100rel(headers: Headers): boolean {
  return hasOption(headers, 'supported', reliable) || requires100rel(headers);
}

function hasOption(headers: Headers, name: 'require' | 'supported', option: string): boolean {
  return headers.all(name).some((value) => splitList(value).some((item) => item.toLowerCase() === option));
}
