import { expect, it } from 'vitest';
import { listOf, orderOf } from './order.ts';

it('takes numbers from lines and commas, and keeps blanks inside one', () => {
  expect(listOf(' +1 415 555 0100\n\n+14155550101, +14155550102;')).toEqual([
    '+1 415 555 0100',
    '+14155550101',
    '+14155550102',
  ]);
});

it('leaves out what is empty', () => {
  const data = new FormData();
  for (const [name, value] of [
    ['numbers', '+14155550100'],
    ['type', 'personal'],
    ['business', ' '],
    ['first', 'Ada'],
    ['last', 'Lovelace'],
    ['email', 'ada@example.com'],
    ['street', '1 Main St'],
    ['city', 'San Francisco'],
    ['state', 'CA'],
    ['zip', '94105'],
    ['document', 'doc_1'],
    ['document', 'doc_2'],
  ] as const)
    data.append(name, value);
  expect(orderOf(data)).toEqual({
    phone_numbers: ['+14155550100'],
    losing_carrier_information: {
      customer_type: 'personal',
      first_name: 'Ada',
      last_name: 'Lovelace',
      authorized_representative_email: 'ada@example.com',
      address: { street: '1 Main St', city: 'San Francisco', state: 'CA', zip: '94105' },
    },
    documents: ['doc_1', 'doc_2'],
  });
});
