/** Which events a stream has. Pure. */
import type { EventQuery } from '#shared/api/events.ts';
import { toE164 } from '#shared/e164.ts';
import { ApiError } from '#shared/errors.ts';
import type { ReadEvent } from './feed.ts';
import { eventTypes, passingTypes } from './types.ts';

export interface EventFilter {
  matches(event: Pick<ReadEvent, 'type' | 'subject'>): boolean;
  /** Whether it lets any through of those that are not stored. */
  readonly hasPassing: boolean;
}

const families = [...new Set(eventTypes.map(familyOf))];

/** @throws ApiError INVALID_PARAMETER for an unknown type, or a number that is none */
export function eventFilter(query: EventQuery): EventFilter {
  const { call_id, subject_id, trunk_id } = query;
  const number = query.number === undefined ? undefined : e164(query.number);
  const named = Object.entries({ call_id, number, trunk_id }).filter(([, value]) => value !== undefined);
  const types = query.types === undefined ? null : typesOf(query.types);
  const hasType = (type: string) =>
    types === null ? !passingTypes.has(type) : types.has(type) || types.has(familyOf(type));
  return {
    matches: ({ subject, type }) =>
      hasType(type) &&
      named.every(([name, value]) => subject[name] === value) &&
      (subject_id === undefined || Object.values(subject).includes(subject_id)),
    hasPassing: [...passingTypes].some(hasType),
  };
}

function familyOf(type: string): string {
  return type.slice(0, type.indexOf('.'));
}

function e164(text: string): string {
  const number = toE164(text);
  if (number === null) throw ApiError.invalid('?number', 'must be an E.164 number of 7 to 15 digits');
  return number;
}

function typesOf(list: string): ReadonlySet<string> {
  const known = new Set<string>([...eventTypes, ...families]);
  const types = list.split(',').map((type) => type.trim());
  const unknown = types.find((type) => !known.has(type));
  if (unknown !== undefined)
    throw ApiError.invalid(
      '?types',
      `"${unknown.slice(0, 40)}" is no type of events; types are ${eventTypes.join(', ')}, families ${families.join(', ')}`,
    );
  return new Set(types);
}
