/** A port request with canonical names: aliases, required fields, dates (contract 5.3). Pure. */
import type {
  CanonicalCarrierInformation,
  LosingCarrierInformation,
  PortInitiate,
} from '#shared/api/porting.ts';
import { toE164 } from '#shared/e164.ts';
import { ApiError, type ErrorItem, errorItem } from '#shared/errors.ts';
import { addDays, dateOf } from './business-days.ts';

const base = '/losing_carrier_information';
const noticeDays = 7;

/** Collects all errors, so that they are reported together. */
class Reading {
  readonly errors: ErrorItem[] = [];

  refuse(path: string, rule: string): void {
    this.errors.push(errorItem('INVALID_PARAMETER', { path, rule }, `${path}: ${rule}`));
  }

  /** The value of a field and its aliases, which must agree. */
  same(path: string, values: readonly (string | undefined)[], required: boolean): string | null {
    const given = [...new Set(values.filter((value) => value !== undefined).map((value) => value.trim()))];
    if (given.length > 1) this.refuse(path, 'the field and its alias must not differ');
    const [value] = given;
    if (value !== undefined && value !== '') return value;
    if (required || value === '') this.refuse(path, value === '' ? 'must not be blank' : 'required');
    return null;
  }

  /** @throws ApiError that lists all errors */
  end(): void {
    const [first, ...others] = this.errors;
    if (first) throw ApiError.many([first, ...others]);
  }
}

/** @throws ApiError INVALID_PARAMETER */
export function canonicalInformation(given: LosingCarrierInformation): CanonicalCarrierInformation {
  const reading = new Reading();
  const type = given.customer_type.toLowerCase() === 'business' ? 'business' : 'personal';
  const isBusiness = type === 'business';
  const names = representative(given, isBusiness);
  const business = [given.business_name, ...(isBusiness ? [given.customer_name] : [])];
  const email = [given.authorized_representative_email, given.authorized_rep_email];
  const information = {
    customer_type: type as CanonicalCarrierInformation['customer_type'],
    business_name: reading.same(`${base}/business_name`, business, isBusiness),
    first_name: reading.same(`${base}/first_name`, [given.first_name, ...names.first], true) ?? '',
    last_name: reading.same(`${base}/last_name`, [given.last_name, ...names.last], true) ?? '',
    authorized_representative_email:
      reading.same(`${base}/authorized_representative_email`, email, true) ?? '',
    account_number: reading.same(`${base}/account_number`, [given.account_number], false),
    account_telephone_number: billingNumber(reading, given.account_telephone_number),
    notification_emails: [...new Set(given.notification_emails ?? [])],
    address: {
      ...given.address,
      street2: given.address.street2?.trim() || null,
      country: (given.address.country ?? 'US').toUpperCase(),
    },
  };
  reading.end();
  return information;
}

/** First and last names in one field, split at the last blank. */
function representative(
  given: LosingCarrierInformation,
  isBusiness: boolean,
): { readonly first: string[]; readonly last: string[] } {
  const whole = [given.authorized_representative, ...(isBusiness ? [] : [given.customer_name])];
  const parts = whole
    .filter((name) => name !== undefined)
    .map((name) => {
      const text = name.trim();
      const blank = text.lastIndexOf(' ');
      return blank < 0 ? [text, ''] : [text.slice(0, blank).trim(), text.slice(blank + 1)];
    });
  return { first: parts.map(([first = '']) => first), last: parts.map(([, last = '']) => last) };
}

function billingNumber(reading: Reading, text: string | undefined): string | null {
  if (text === undefined) return null;
  const number = toE164(text);
  if (number === null)
    reading.refuse(`${base}/account_telephone_number`, 'must be an E.164 number of 7 to 15 digits');
  return number;
}

/**
 * The requested date, or the earliest possible one.
 * @param now ms
 * @throws ApiError INVALID_PARAMETER, TARGET_PORT_DATE_TOO_EARLY
 */
export function targetDate(body: PortInitiate, now: number): string {
  const earliest = addDays(dateOf(now), noticeDays);
  const date = givenDate(body.target_port_date, '/target_port_date', true);
  const alias = givenDate(body.target_port_in_date, '/target_port_in_date', false);
  if (date !== null && alias !== null && date !== alias)
    throw ApiError.invalid('/target_port_date', 'the field and its alias must not differ');
  const chosen = date ?? alias ?? earliest;
  if (chosen >= earliest) return chosen;
  throw ApiError.of('TARGET_PORT_DATE_TOO_EARLY', { earliest }, `The earliest date is ${earliest}.`);
}

/** @param timeAllowed whether a time in ISO 8601 is accepted; its date in UTC counts */
function givenDate(text: string | undefined, path: string, timeAllowed: boolean): string | null {
  if (text === undefined) return null;
  if (isDate(text)) return text;
  const isTime =
    timeAllowed &&
    /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})$/.test(text) &&
    isDate(text.slice(0, 10));
  const ms = isTime ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(ms)) return dateOf(ms);
  const form = timeAllowed
    ? 'must be a date (YYYY-MM-DD) or an ISO 8601 time'
    : 'must be a date (YYYY-MM-DD)';
  throw ApiError.invalid(path, form);
}

/** Whether the text is an existing date, `YYYY-MM-DD`. */
export function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const ms = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(ms) && dateOf(ms) === text;
}

/** Whether two names are equal except for case and blanks. */
export function sameName(a: string, b: string): boolean {
  const folded = (name: string) => name.normalize('NFKC').toLowerCase().replaceAll(/\s+/g, ' ').trim();
  return folded(a) === folded(b);
}
