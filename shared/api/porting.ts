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

const NumbersOfQuery = () =>
  Optional(Type.Union([Type.String({ maxLength: 8192 }), List(Type.String({ maxLength: 8192 }), 1, 100)]));

/** Repeated, or separated by commas. */
export const PortCheckQuery = Type.Object({
  'phone_numbers[]': NumbersOfQuery(),
  phone_numbers: NumbersOfQuery(),
});
export type PortCheckQuery = Static<typeof PortCheckQuery>;

export const PortCheckResult = Type.Object({
  phone_number: text,
  portable: Type.Boolean(),
  number_type: OneOf(['mobile', 'landline', 'toll-free', 'voip', 'unknown'], 'May grow'),
  pin_required: Type.Boolean(),
  reason: Nullable(Type.String({ description: 'Why the number is not portable' })),
});
export type PortCheckResult = Static<typeof PortCheckResult>;

export const PortCheck = Plain(Type.Object({ results: Type.Array(PortCheckResult, { maxItems: 50 }) }));

/** Only for the API description: the parts are validated as they are read. */
export const PortDocumentUpload = Type.Object({
  file: Type.String({ format: 'binary', description: 'PDF, JPEG, PNG, GIF or WebP of at most 10 MiB' }),
});

const PortDocumentLine = Type.Object({
  document_sid: Type.String(),
  media_type: Type.String(),
  size: Type.Integer({ description: 'Bytes' }),
  created_at: Iso(),
  in_use: Type.Boolean({ description: 'A port request uses it; it cannot be deleted' }),
});
export type PortDocumentLine = Static<typeof PortDocumentLine>;
export const PortDocumentList = Plain(
  Type.Object({ documents: Type.Array(PortDocumentLine), total_count: Type.Integer() }),
);
export const PortDocumentOne = Plain(Type.Object({ document: PortDocumentLine }));
export const PortDocumentDeleted = Plain(Type.Object({ deleted: Type.Literal(true) }));
export const PortDocumentQuery = PageQuery(100, 50);
export const OwnDocumentPath = PathId('document_sid', 'Id of the document');

export const PortDocumentUploaded = Plain(Type.Object({ document_sid: text }));

const PortAddress = Closed({
  street: Text(1, 200),
  street2: Optional(Nullable(Text(0, 200))),
  city: Text(1, 100),
  state: Text(1, 100),
  zip: Text(1, 20),
  country: Optional(Matching('^[A-Za-z]{2}$', 'a country of two letters', { description: 'Default: US' })),
});

/** With the accepted aliases; required fields are checked after the names are made canonical. */
export const LosingCarrierInformation = Closed({
  customer_type: Matching(
    '^(?:[Bb][Uu][Ss][Ii][Nn][Ee][Ss][Ss]|[Pp][Ee][Rr][Ss][Oo][Nn][Aa][Ll])$',
    'business or personal',
  ),
  business_name: Optional(Text(1, 200)),
  customer_name: Optional(Text(1, 201, 'The business, or a person’s first and last name')),
  first_name: Optional(Text(1, 100)),
  last_name: Optional(Text(1, 100)),
  authorized_representative: Optional(Text(1, 201, 'First and last name')),
  authorized_representative_email: Optional(Email()),
  authorized_rep_email: Optional(Email()),
  account_number: Optional(Text(1, 64)),
  account_telephone_number: Optional(PhoneNumber()),
  notification_emails: Optional(List(Email(), 0, 10)),
  address: PortAddress,
});
export type LosingCarrierInformation = Static<typeof LosingCarrierInformation>;

export const PortInitiate = Closed({
  phone_numbers: List(PhoneNumber(), 1, 50),
  losing_carrier_information: LosingCarrierInformation,
  target_port_date: Optional(Text(1, 40, 'A date, or a time in ISO 8601')),
  target_port_in_date: Optional(Text(1, 40, 'YYYY-MM-DD')),
  documents: Optional(List(Text(1, 64, 'doc_<uuid>'), 0, 10)),
  pin: Optional(Text(1, 32)),
});
export type PortInitiate = Static<typeof PortInitiate>;

export const PortInitiated = Plain(
  Type.Object({
    port_request_id: text,
    status: Type.Literal('waiting_for_signature'),
    signature_url: text,
    phone_numbers: Type.Array(text, { maxItems: 50 }),
  }),
);

const Page = { limit: Optional(Integer(1, 500)), offset: Optional(Integer(0, 1_000_000_000)) };
export const PortQuery = Type.Object({ status: Optional(Status()), ...Page });
export const AdminPortQuery = Type.Object({ status: Optional(Status()), org_id: Optional(Uuid()), ...Page });
export const PortPath = PathId('id', 'port_<uuid>');
export const PortLetterQuery = Type.Object({ format: Optional(OneOf(['pdf', 'text'])) });
export const PortDocumentPath = Type.Object({ id: text, document_id: text });

const summary = {
  id: text,
  status: Status(),
  phone_numbers: Type.Array(Type.Object({ number: text, status: Status() }), { maxItems: 50 }),
  authorized_rep_email: text,
  notification_emails: Type.Array(text, { maxItems: 10 }),
  target_port_date: IsoDate(),
  foc_date: Nullable(IsoDate()),
  expected_completion: Nullable(
    Type.Object(
      { earliest: IsoDate(), latest: IsoDate() },
      { description: '7 to 14 business days after signing; null once the request has ended' },
    ),
  ),
  reason: Nullable(text),
  signature_url: Nullable(text),
  created_at: Iso(),
  updated_at: Iso(),
};
export const PortSummary = Type.Object(summary);
export type PortSummary = Static<typeof PortSummary>;

/** Canonical names of contract 5.3. */
export const CanonicalCarrierInformation = Type.Object({
  customer_type: OneOf(['business', 'personal']),
  business_name: Nullable(text),
  first_name: text,
  last_name: text,
  authorized_representative_email: text,
  account_number: Nullable(text),
  account_telephone_number: Nullable(text),
  notification_emails: Type.Array(text, { maxItems: 10 }),
  address: Type.Object({
    street: text,
    street2: Nullable(text),
    city: text,
    state: text,
    zip: text,
    country: text,
  }),
});
export type CanonicalCarrierInformation = Static<typeof CanonicalCarrierInformation>;

const detail = {
  ...summary,
  losing_carrier_information: CanonicalCarrierInformation,
  pin: Nullable(Type.Literal('********')),
  documents: Type.Array(text, { maxItems: 10 }),
  signed_at: Nullable(Iso()),
  signed_name: Nullable(text),
  history: Type.Array(
    Type.Object({
      at: Iso(),
      from_status: Nullable(Status()),
      to_status: Status(),
      actor: OneOf(['customer', 'signer', 'operator', 'system']),
      reason: Nullable(text),
      phone_numbers: Type.Array(text, { maxItems: 50 }),
    }),
  ),
};
export const PortDetail = Type.Object(detail);
export type PortDetail = Static<typeof PortDetail>;

export const PortList = Plain(Type.Object({ port_requests: Type.Array(PortSummary) }));
export const PortOne = Plain(Type.Object({ port_request: PortDetail }));
export const PortCanceled = Plain(Type.Object({ canceled: Type.Literal(true) }));

export const AdminPortList = Plain(
  Type.Object({
    port_requests: Type.Array(Type.Object({ ...summary, org_id: text })),
    total_count: Type.Integer(),
  }),
);
export const AdminPortOne = Plain(Type.Object({ port_request: Type.Object({ ...detail, org_id: text }) }));

export const PortMove = Closed({
  status: OneOf(['submitted', 'in_progress', 'completed', 'failed', 'canceled']),
  reason: Optional(Text(1, 500, 'Required for failed and canceled')),
  phone_numbers: Optional(List(PhoneNumber(), 1, 50)),
  foc_date: Optional(Type.String({ maxLength: 10, examples: ['2030-01-15'] })),
});
export type PortMove = Static<typeof PortMove>;

export const SignPath = PathId('token', 'Of the mailed link');
export const SignQuery = Type.Object({
  letter: Optional(Type.String({ maxLength: 64, description: 'SHA-256 of the letter shown to the signer' })),
});

export const Signature = Closed({
  name: Text(2, 200),
  consent: Optional(Type.Unknown({ description: 'true (in a form: true or on)' })),
});

export const Signed = Plain(
  Type.Object({ signed: Type.Literal(true), signed_at: Iso(), status: Type.Literal('submitted') }),
);

/** Event of the carrier's webhook: which order has changed. */
export const CarrierEvent = Type.Object({ order_id: Text(1, 200) });
export const CarrierEventTaken = Plain(Type.Object({ received: Type.Literal(true) }));
