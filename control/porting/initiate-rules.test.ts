import { describe, expect, it } from 'vitest';
import type { LosingCarrierInformation } from '#shared/api/porting.ts';
import { ApiError } from '#shared/errors.ts';
import { canonicalInformation, isDate, sameName, targetDate } from './initiate-rules.ts';

const address = { street: '1 Main St', city: 'Reno', state: 'NV', zip: '89501' };
const now = Date.UTC(2030, 0, 1, 23, 59);

function refused(work: () => unknown): string[] {
  try {
    work();
  } catch (error) {
    if (error instanceof ApiError)
      return error.items.map(({ code, details }) => `${code} ${details?.path ?? ''}`);
    throw error;
  }
  return [];
}

describe('canonical names', () => {
  it('accept the aliases of a business', () => {
    const given: LosingCarrierInformation = {
      customer_type: 'BUSINESS',
      customer_name: 'Acme Inc.',
      authorized_representative: 'Ada King Lovelace',
      authorized_rep_email: 'ada@example.com',
      account_telephone_number: '1 (415) 555-0100',
      notification_emails: ['a@example.com', 'a@example.com'],
      address: { ...address, street2: ' ', country: 'us' },
    };
    expect(canonicalInformation(given)).toEqual({
      customer_type: 'business',
      business_name: 'Acme Inc.',
      first_name: 'Ada King',
      last_name: 'Lovelace',
      authorized_representative_email: 'ada@example.com',
      account_number: null,
      account_telephone_number: '+14155550100',
      notification_emails: ['a@example.com'],
      address: { ...address, street2: null, country: 'US' },
    });
  });

  it('accept a person’s customer_name as the representative', () => {
    const given: LosingCarrierInformation = {
      customer_type: 'personal',
      customer_name: 'Ada Lovelace',
      authorized_rep_email: 'ada@example.com',
      address,
    };
    expect(canonicalInformation(given)).toMatchObject({
      first_name: 'Ada',
      last_name: 'Lovelace',
      business_name: null,
    });
  });

  it('accept field and alias when they agree, and reject them when they differ', () => {
    const given: LosingCarrierInformation = {
      customer_type: 'business',
      business_name: 'Acme',
      customer_name: 'Acme',
      first_name: 'Ada',
      last_name: 'Byron',
      authorized_representative: 'Ada Lovelace',
      authorized_representative_email: 'a@example.com',
      authorized_rep_email: 'b@example.com',
      address,
    };
    expect(refused(() => canonicalInformation(given))).toEqual([
      'INVALID_PARAMETER /losing_carrier_information/last_name',
      'INVALID_PARAMETER /losing_carrier_information/authorized_representative_email',
    ]);
  });

  it('list everything that is missing', () => {
    expect(refused(() => canonicalInformation({ customer_type: 'business', address }))).toEqual([
      'INVALID_PARAMETER /losing_carrier_information/business_name',
      'INVALID_PARAMETER /losing_carrier_information/first_name',
      'INVALID_PARAMETER /losing_carrier_information/last_name',
      'INVALID_PARAMETER /losing_carrier_information/authorized_representative_email',
    ]);
  });

  it('reject a one-word representative, blank names and an invalid billing number', () => {
    const given: LosingCarrierInformation = {
      customer_type: 'personal',
      customer_name: 'Ada',
      business_name: ' ',
      authorized_rep_email: 'a@example.com',
      account_telephone_number: '12',
      address,
    };
    expect(refused(() => canonicalInformation(given))).toEqual([
      'INVALID_PARAMETER /losing_carrier_information/business_name',
      'INVALID_PARAMETER /losing_carrier_information/last_name',
      'INVALID_PARAMETER /losing_carrier_information/account_telephone_number',
    ]);
  });
});

describe('the requested date', () => {
  const base = { phone_numbers: [], losing_carrier_information: { customer_type: 'personal', address } };
  it.each([
    [{}, '2030-01-08'],
    [{ target_port_date: '2030-01-08' }, '2030-01-08'],
    [{ target_port_date: '2030-01-09T23:30:00-02:00' }, '2030-01-10'],
    [{ target_port_in_date: '2030-02-28' }, '2030-02-28'],
    [{ target_port_date: '2030-02-28T10:00Z', target_port_in_date: '2030-02-28' }, '2030-02-28'],
  ])('%j is %s', (given, expected) => {
    expect(targetDate({ ...base, ...given }, now)).toBe(expected);
  });

  it.each([
    [{ target_port_date: '2030-01-07' }, 'TARGET_PORT_DATE_TOO_EARLY'],
    [{ target_port_date: '2030-02-30' }, 'INVALID_PARAMETER'],
    [{ target_port_date: 'soon' }, 'INVALID_PARAMETER'],
    [{ target_port_date: '2030-02-10T25:00Z' }, 'INVALID_PARAMETER'],
    [{ target_port_in_date: '2030-02-10T10:00:00Z' }, 'INVALID_PARAMETER'],
    [{ target_port_date: '2030-02-10', target_port_in_date: '2030-02-11' }, 'INVALID_PARAMETER'],
  ])('%j is rejected with %s', (given, code) => {
    expect(refused(() => targetDate({ ...base, ...given }, now))[0]).toMatch(new RegExp(`^${code}`));
  });

  it('must exist in the calendar', () => {
    expect(['2028-02-29', '2030-02-29', '2030-13-01', '20300101', '+12030-01-01'].map(isDate)).toEqual([
      true,
      false,
      false,
      false,
      false,
    ]);
  });
});

it('names are equal except for case and blanks', () => {
  expect(sameName(' ADA   lovelace', 'Ada Lovelace')).toBe(true);
  expect(sameName('Ada\u00a0Lovelace', 'Ada Lovelace')).toBe(true);
  expect(sameName('Ada Lovelac', 'Ada Lovelace')).toBe(false);
});
