/** Number porting (contract section 5). */
import { type Static, Type } from 'typebox';
import {
  Closed,
  Email,
  Integer,
  Iso,
  List,
  Matching,
  Nullable,
  OneOf,
  PageQuery,
  PathId,
  PhoneNumber,
  Plain,
  Text,
  Uuid,
} from '#shared/api/common.ts';
import { described } from '#shared/described.ts';

const Optional = Type.Optional;
const text = Type.String();
const IsoDate = () => Type.String({ examples: ['2030-01-15'] });

export const portStatuses = [
  'waiting_for_signature',
  'submitted',
  'in_progress',
  'completed',
  'canceled',
  'failed',
] as const;
const Status = () => OneOf(portStatuses);

const NumbersOfQuery = (description: string) =>
  Optional(
    Type.Union([Type.String({ maxLength: 8192 }), List(Type.String({ maxLength: 8192 }), 1, 100)], {
      description,
    }),
  );

/** Repeated, or separated by commas. */
export const PortCheckQuery = Type.Object({
  'phone_numbers[]': NumbersOfQuery('Numbers to check, repeated or separated by commas'),
  phone_numbers: NumbersOfQuery('The same as `phone_numbers[]`'),
});
export type PortCheckQuery = Static<typeof PortCheckQuery>;

export const PortCheckResult = Type.Object({
  phone_number: Type.String({ description: 'E.164 with plus' }),
  portable: Type.Boolean({ description: 'Whether it can be ported' }),
  number_type: OneOf(
    ['mobile', 'landline', 'toll-free', 'voip', 'unknown'],
    'Kind of number; more values may be added',
  ),
  pin_required: Type.Boolean({ description: 'Whether the losing carrier wants a PIN' }),
  reason: Nullable(Type.String({ description: 'Why the number is not portable; null: it is' })),
});
export type PortCheckResult = Static<typeof PortCheckResult>;

export const PortCheck = Plain(
  Type.Object({
    results: Type.Array(PortCheckResult, { maxItems: 50, description: 'In the order of the request' }),
  }),
);

/** Only for the API description: the parts are validated as they are read. */
export const PortDocumentUpload = Type.Object({
  file: Type.String({ format: 'binary', description: 'PDF, JPEG, PNG, GIF or WebP of at most 10 MiB' }),
});

const PortDocumentLine = Type.Object({
  document_sid: Type.String({ description: 'Id of the document, `doc_` and a uuid' }),
  media_type: Type.String({ description: 'Type of the file, found from its content' }),
  size: Type.Integer({ description: 'Size of the file, bytes' }),
  created_at: Iso('When it was uploaded'),
  in_use: Type.Boolean({ description: 'A port request uses it; it cannot be deleted' }),
});
export type PortDocumentLine = Static<typeof PortDocumentLine>;
export const PortDocumentList = Plain(
  Type.Object({
    documents: Type.Array(PortDocumentLine, { description: 'Newest first' }),
    total_count: Type.Integer({ description: 'How many there are on all pages' }),
  }),
);
export const PortDocumentOne = Plain(Type.Object({ document: described(PortDocumentLine, 'The document') }));
export const PortDocumentDeleted = Plain(
  Type.Object({ deleted: Type.Literal(true, { description: 'Always true' }) }),
);
export const PortDocumentQuery = PageQuery(100, 50);
export const OwnDocumentPath = PathId('document_sid', 'Id of the document');

export const PortDocumentUploaded = Plain(
  Type.Object({ document_sid: Type.String({ description: 'Id of the document, `doc_` and a uuid' }) }),
);

const PortAddress = Closed({
  street: Text(1, 200, 'Street and number'),
  street2: Optional(Nullable(Text(0, 200), 'Floor, suite and the like; null: none')),
  city: Text(1, 100, 'City'),
  state: Text(1, 100, 'State or region'),
  zip: Text(1, 20, 'Postal code'),
  country: Optional(
    Matching('^[A-Za-z]{2}$', 'a country of two letters', {
      description: 'Country, two letters; default: US',
    }),
  ),
});

/** With the accepted aliases; required fields are checked after the names are made canonical. */
export const LosingCarrierInformation = Closed({
  customer_type: Matching(
    '^(?:[Bb][Uu][Ss][Ii][Nn][Ee][Ss][Ss]|[Pp][Ee][Rr][Ss][Oo][Nn][Aa][Ll])$',
    'business or personal',
    { description: 'business or personal, in any case' },
  ),
  business_name: Optional(Text(1, 200, 'Name of the business; required for a business')),
  customer_name: Optional(Text(1, 201, 'The business, or a person’s first and last name')),
  first_name: Optional(Text(1, 100, 'First name of the authorized representative')),
  last_name: Optional(Text(1, 100, 'Last name of the authorized representative')),
  authorized_representative: Optional(Text(1, 201, 'First and last name')),
  authorized_representative_email: Optional(Email('Gets the link to sign')),
  authorized_rep_email: Optional(Email('The same as `authorized_representative_email`')),
  account_number: Optional(Text(1, 64, 'Account at the losing carrier')),
  account_telephone_number: Optional(PhoneNumber('Billing number at the losing carrier')),
  notification_emails: Optional(List(Email(), 0, 10, 'Get a mail whenever the status changes')),
  address: described(PortAddress, 'As the losing carrier has it'),
});
export type LosingCarrierInformation = Static<typeof LosingCarrierInformation>;

export const PortInitiate = Closed({
  phone_numbers: List(PhoneNumber(), 1, 50, 'Numbers to port; duplicates count once'),
  losing_carrier_information: described(
    LosingCarrierInformation,
    'The customer as the losing carrier knows it',
  ),
  target_port_date: Optional(Text(1, 40, 'A date, or a time in ISO 8601')),
  target_port_in_date: Optional(Text(1, 40, 'YYYY-MM-DD')),
  documents: Optional(List(Text(1, 64, 'doc_<uuid>'), 0, 10, 'Proofs of ownership, uploaded before')),
  pin: Optional(Text(1, 32, 'PIN of the losing carrier, one for all numbers')),
});
export type PortInitiate = Static<typeof PortInitiate>;

export const PortInitiated = Plain(
  Type.Object({
    port_request_id: Type.String({ description: 'Id of the request, `port_` and a uuid' }),
    status: Type.Literal('waiting_for_signature', { description: 'Always waiting_for_signature' }),
    signature_url: Type.String({ description: 'Page at which the representative signs' }),
    phone_numbers: Type.Array(text, { maxItems: 50, description: 'E.164 with plus' }),
  }),
);

const Page = {
  limit: Optional(Integer(1, 500, 'Most entries of a page; default: 100')),
  offset: Optional(Integer(0, 1_000_000_000, 'How many entries to skip')),
};
export const PortQuery = Type.Object({
  status: Optional(described(Status(), 'Only requests with this status')),
  ...Page,
});
export const AdminPortQuery = Type.Object({
  status: Optional(described(Status(), 'Only requests with this status')),
  org_id: Optional(Uuid('Only requests of this organization')),
  ...Page,
});
export const PortPath = PathId('id', 'Id of the request, `port_` and a uuid');
export const PortLetterQuery = Type.Object({
  format: Optional(OneOf(['pdf', 'text'], 'Form of the letter; default: pdf')),
});
export const PortDocumentPath = Type.Object({
  id: Type.String({ description: 'Id of the port request' }),
  document_id: Type.String({ description: 'Id of the document' }),
});

const summary = {
  id: Type.String({ description: 'Id of the request, `port_` and a uuid' }),
  status: described(Status(), 'Where the request is'),
  phone_numbers: Type.Array(
    Type.Object({
      number: Type.String({ description: 'E.164 with plus' }),
      status: described(Status(), 'Where this number is'),
    }),
    { maxItems: 50, description: 'Its numbers' },
  ),
  authorized_rep_email: Type.String({ description: 'Gets the link to sign' }),
  notification_emails: Type.Array(text, {
    maxItems: 10,
    description: 'Get a mail whenever the status changes',
  }),
  target_port_date: described(IsoDate(), 'Day that was asked for'),
  foc_date: Nullable(IsoDate(), 'Day that the losing carrier confirmed; null: none yet'),
  expected_completion: Nullable(
    Type.Object(
      { earliest: described(IsoDate(), 'First day'), latest: described(IsoDate(), 'Last day') },
      { description: '7 to 14 business days after signing; null once the request has ended' },
    ),
  ),
  reason: Nullable(text, 'Why it failed or was canceled; null: it was not'),
  signature_url: Nullable(text, 'Page at which the representative signs; null: nothing to sign'),
  created_at: Iso('When it was created'),
  updated_at: Iso('When it was changed last'),
};
export const PortSummary = Type.Object(summary);
export type PortSummary = Static<typeof PortSummary>;

/** Canonical names of contract 5.3. */
export const CanonicalCarrierInformation = Type.Object({
  customer_type: OneOf(['business', 'personal'], 'Kind of customer'),
  business_name: Nullable(text, 'Name of the business; null: a person'),
  first_name: Type.String({ description: 'First name of the authorized representative' }),
  last_name: Type.String({ description: 'Last name of the authorized representative' }),
  authorized_representative_email: Type.String({ description: 'Gets the link to sign' }),
  account_number: Nullable(text, 'Account at the losing carrier; null: none'),
  account_telephone_number: Nullable(text, 'Billing number at the losing carrier; null: none'),
  notification_emails: Type.Array(text, {
    maxItems: 10,
    description: 'Get a mail whenever the status changes',
  }),
  address: Type.Object(
    {
      street: Type.String({ description: 'Street and number' }),
      street2: Nullable(text, 'Floor, suite and the like; null: none'),
      city: Type.String({ description: 'City' }),
      state: Type.String({ description: 'State or region' }),
      zip: Type.String({ description: 'Postal code' }),
      country: Type.String({ description: 'Country, two letters' }),
    },
    { description: 'As the losing carrier has it' },
  ),
});
export type CanonicalCarrierInformation = Static<typeof CanonicalCarrierInformation>;

const detail = {
  ...summary,
  losing_carrier_information: described(
    CanonicalCarrierInformation,
    'The customer as the losing carrier knows it',
  ),
  pin: Nullable(Type.Literal('********'), 'Masked; null: none was sent'),
  documents: Type.Array(text, { maxItems: 10, description: 'Ids of the documents' }),
  signed_at: Nullable(Iso(), 'When the letter was signed; null: it was not'),
  signed_name: Nullable(text, 'Who signed it; null: nobody'),
  history: Type.Array(
    Type.Object({
      at: Iso('When it moved'),
      from_status: Nullable(Status(), 'Status before; null: it was created'),
      to_status: described(Status(), 'Status after'),
      actor: OneOf(['customer', 'signer', 'operator', 'system'], 'Who moved it'),
      reason: Nullable(text, 'Why; null: no reason was given'),
      phone_numbers: Type.Array(text, { maxItems: 50, description: 'Numbers that moved' }),
    }),
    { description: 'Every move, oldest first' },
  ),
};
export const PortDetail = Type.Object(detail);
export type PortDetail = Static<typeof PortDetail>;

export const PortList = Plain(
  Type.Object({ port_requests: Type.Array(PortSummary, { description: 'Newest first' }) }),
);
export const PortOne = Plain(Type.Object({ port_request: described(PortDetail, 'The request') }));
export const PortCanceled = Plain(
  Type.Object({ canceled: Type.Literal(true, { description: 'Always true' }) }),
);

export const AdminPortList = Plain(
  Type.Object({
    port_requests: Type.Array(
      Type.Object({ ...summary, org_id: Type.String({ description: 'Id of the organization' }) }),
      { description: 'Newest first' },
    ),
    total_count: Type.Integer({ description: 'How many there are on all pages' }),
  }),
);
export const AdminPortOne = Plain(
  Type.Object({
    port_request: Type.Object(
      { ...detail, org_id: Type.String({ description: 'Id of the organization' }) },
      { description: 'The request' },
    ),
  }),
);

export const PortMove = Closed({
  status: OneOf(['submitted', 'in_progress', 'completed', 'failed', 'canceled'], 'Status to move to'),
  reason: Optional(Text(1, 500, 'Required for failed and canceled')),
  phone_numbers: Optional(List(PhoneNumber(), 1, 50, 'Only these numbers; default: all')),
  foc_date: Optional(
    Type.String({
      maxLength: 10,
      examples: ['2030-01-15'],
      description: 'Day that the losing carrier confirmed, `YYYY-MM-DD`',
    }),
  ),
});
export type PortMove = Static<typeof PortMove>;

export const SignPath = PathId('token', 'Of the mailed link');
export const SignQuery = Type.Object({
  letter: Optional(Type.String({ maxLength: 64, description: 'SHA-256 of the letter shown to the signer' })),
});

export const Signature = Closed({
  name: Text(2, 200, 'Name of the signer'),
  consent: Optional(Type.Unknown({ description: 'true (in a form: true or on)' })),
});

export const Signed = Plain(
  Type.Object({
    signed: Type.Literal(true, { description: 'Always true' }),
    signed_at: Iso('When it was signed'),
    status: Type.Literal('submitted', { description: 'Always submitted' }),
  }),
);

/** Event of the carrier's webhook: which order has changed. */
export const CarrierEvent = Type.Object({ order_id: Text(1, 200, 'Order that has changed') });
export const CarrierEventTaken = Plain(
  Type.Object({ received: Type.Literal(true, { description: 'Always true' }) }),
);
