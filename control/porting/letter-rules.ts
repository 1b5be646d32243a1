/**
 * The text of the letter of authorization. Page, PDF and the hash stored at signing all use this one text, so that what
 * was shown, signed and kept cannot differ. Pure.
 */
import { createHash } from 'node:crypto';
import type { CanonicalCarrierInformation } from '#shared/api/porting.ts';

export interface LetterFacts {
  readonly requestId: string;
  /** `YYYY-MM-DD` of the request. */
  readonly date: string;
  /** The customer of this service. */
  readonly organization: string;
  readonly information: CanonicalCarrierInformation;
  /** The numbers to port. */
  readonly numbers: readonly string[];
  /** `YYYY-MM-DD` */
  readonly targetDate: string;
}

export type LetterBlock =
  | { readonly kind: 'paragraph'; readonly text: string }
  | {
      readonly kind: 'facts';
      readonly heading: string;
      readonly facts: readonly (readonly [string, string])[];
    }
  | { readonly kind: 'numbers'; readonly heading: string; readonly numbers: readonly string[] };

export interface Letter {
  readonly title: string;
  readonly requestId: string;
  readonly date: string;
  readonly blocks: readonly LetterBlock[];
}

export function letterOf(facts: LetterFacts): Letter {
  const { information, numbers } = facts;
  const { address } = information;
  const representative = `${information.first_name} ${information.last_name}`;
  const customer = information.business_name ?? representative;
  const optional = (name: string, value: string | null): [string, string][] =>
    value === null ? [] : [[name, value]];
  return {
    title: 'Letter of Authorization for Number Porting',
    requestId: facts.requestId,
    date: facts.date,
    blocks: [
      {
        kind: 'facts',
        heading: 'Customer',
        facts: [
          ['Type', information.customer_type],
          ...optional('Business name', information.business_name),
          ['Authorized representative', representative],
          ['E-mail', information.authorized_representative_email],
        ],
      },
      {
        kind: 'facts',
        heading: 'Current carrier',
        facts: [
          ['Carrier', 'The carrier of record of the numbers listed below'],
          ...optional('Account number', information.account_number),
          ...optional('Billing telephone number', information.account_telephone_number),
        ],
      },
      {
        kind: 'facts',
        heading: 'Service address on file with the current carrier',
        facts: [
          ['Street', address.street],
          ...optional('Street, line 2', address.street2),
          ['City', address.city],
          ['State', address.state],
          ['ZIP code', address.zip],
          ['Country', address.country],
        ],
      },
      {
        kind: 'facts',
        heading: 'New service',
        facts: [
          ['Requested by', facts.organization],
          ['Earliest port date', facts.targetDate],
        ],
      },
      { kind: 'numbers', heading: `Telephone numbers to be ported (${numbers.length})`, numbers },
      {
        kind: 'paragraph',
        text:
          `I, ${representative}, am authorized to act for ${customer}. I authorize the new service provider and its ` +
          'carriers to act as agent for the telephone numbers listed above: to obtain the customer service ' +
          'record from the current carrier, and to move the numbers away from it.',
      },
      {
        kind: 'paragraph',
        text:
          'I understand that the service of these numbers with the current carrier ends with the port, that ' +
          'charges of the current carrier for an early end may apply, and that this authorization holds until ' +
          'the port is done or I withdraw it.',
      },
    ],
  };
}

/** The letter as plain text: the form that is hashed. */
export function letterText(letter: Letter): string {
  const lines = letter.blocks.flatMap(blockLines);
  return `${[letter.title, `Request ${letter.requestId}`, `Date ${letter.date}`, ...lines].join('\n')}\n`;
}

function blockLines(block: LetterBlock): string[] {
  switch (block.kind) {
    case 'paragraph':
      return ['', block.text];
    case 'facts':
      return ['', block.heading, ...block.facts.map(([name, value]) => `${name}: ${oneLine(value)}`)];
    case 'numbers':
      return ['', block.heading, ...block.numbers];
  }
}

/** SHA-256 of the letter's text in UTF-8, hexadecimal. */
export function letterHash(letter: Letter): string {
  return createHash('sha256').update(letterText(letter)).digest('hex');
}

/** Values come from a customer: a line break in one must not look like another field. */
function oneLine(text: string): string {
  return text.replaceAll(/[\s\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ');
}

/** Facts about a signature, besides the letter. */
export interface SignatureFacts {
  readonly name: string;
  /** ISO */
  readonly at: string;
  readonly address: string;
  readonly agent: string;
  /** SHA-256 of the letter's text. */
  readonly hash: string;
}
