/** Attaches numbers to a persona (contract 12): all of a request or none. */
import { toE164 } from '#shared/e164.ts';
import { ApiError } from '#shared/errors.ts';
import type { Actor } from '../audit/index.ts';
import type { Db, NumberRow } from '../db/index.ts';
import { changeNumber, findNumber, readUpdate, storeChange } from '../numbers/index.ts';
import type { PersonaDeps } from './deps.ts';
import { requirePersona } from './store.ts';

/** @throws ApiError PERSONA_NOT_FOUND, INVALID_INBOUND_NUMBERS, INVALID_PARAMETER for an invalid number */
export function attachPersona(
  services: PersonaDeps,
  orgId: string,
  id: string,
  texts: readonly string[],
  by: Actor,
): Promise<void> {
  return changeNumbers(services, orgId, id, texts, by, () => id);
}

/** Numbers with another agent are left alone. */
export function detachPersona(
  services: PersonaDeps,
  orgId: string,
  id: string,
  texts: readonly string[],
  by: Actor,
): Promise<void> {
  const without = (row: NumberRow) => (row.persona_id === id ? null : row.persona_id);
  return changeNumbers(services, orgId, id, texts, by, without);
}

function changeNumbers(
  services: PersonaDeps,
  orgId: string,
  id: string,
  texts: readonly string[],
  by: Actor,
  personaOf: (row: NumberRow) => string | null,
): Promise<void> {
  const numbers = new Set(texts.map(readNumber));
  return services.catalogue.change(async (db, altered) => {
    await requirePersona(db, orgId, id);
    for (const row of await requireNumbers(db, orgId, numbers)) {
      const persona_id = personaOf(row);
      if (persona_id === row.persona_id) continue;
      const change = changeNumber(row, readUpdate({ persona_id }));
      await storeChange(db, services.clock, by, altered, row, change);
    }
  });
}

function readNumber(text: string, index: number): string {
  const number = toE164(text);
  if (number !== null) return number;
  throw ApiError.invalid(`/inbound_numbers/${index}`, 'must be an E.164 number of 7 to 15 digits');
}

async function requireNumbers(db: Db, orgId: string, numbers: ReadonlySet<string>): Promise<NumberRow[]> {
  const held: NumberRow[] = [];
  const missing: string[] = [];
  for (const number of numbers) {
    const row = await findNumber(db, orgId, number);
    if (row) held.push(row);
    else missing.push(number);
  }
  if (missing.length > 0) throw ApiError.of('INVALID_INBOUND_NUMBERS', { phone_numbers: missing });
  return held;
}
