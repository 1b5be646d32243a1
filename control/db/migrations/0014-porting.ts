import { type Kysely, sql } from 'kysely';

/** Number porting: requests, their numbers and history, documents, letters, mails, orders with the carrier. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createRequests(db);
  await createDocuments(db);
  await db.schema
    .createTable('port_letters')
    .addColumn('request_id', 'text', (column) => column.primaryKey())
    .addColumn('letter', 'text', (column) => column.notNull())
    .addColumn('pdf', 'text', (column) => column.notNull())
    .addColumn('pdf_hash', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute();
  await createMails(db);
  await db.schema
    .createTable('port_orders')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('org_id', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('carrier_order_id', 'text')
    .addColumn('attempts', 'integer', (column) => column.notNull())
    .addColumn('next_attempt_at', 'text')
    .addColumn('last_error', 'text')
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
    .execute();
  await db.schema.createIndex('port_orders_due').on('port_orders').column('next_attempt_at').execute();
  await db.schema
    .createIndex('port_orders_by_carrier')
    .on('port_orders')
    .column('carrier_order_id')
    .execute();
}

async function createRequests(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('port_requests')
    .addColumn('seq', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('id', 'text', (column) => column.notNull().unique())
    .addColumn('org_id', 'text', (column) => column.notNull().references('organizations.id'))
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('details', 'text', (column) => column.notNull())
    .addColumn('pin', 'text')
    .addColumn('target_port_date', 'text', (column) => column.notNull())
    .addColumn('foc_date', 'text')
    .addColumn('reason', 'text')
    .addColumn('token_hash', 'text', (column) => column.notNull().unique())
    .addColumn('token', 'text')
    .addColumn('signature_expires_at', 'text', (column) => column.notNull())
    .addColumn('signed_at', 'text')
    .addColumn('signed_name', 'text')
    .addColumn('signer_address', 'text')
    .addColumn('signer_agent', 'text')
    .addColumn('letter_hash', 'text')
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
    .execute();
  await index(db, 'port_requests', 'of_organization', ['org_id', 'seq']);
  await index(db, 'port_requests', 'of_organization_by_status', ['org_id', 'status', 'seq']);
  await index(db, 'port_requests', 'by_status', ['status', 'seq']);
  await index(db, 'port_requests', 'by_expiry', ['status', 'signature_expires_at']);
  await db.schema
    .createTable('port_numbers')
    .addColumn('request_id', 'text', (column) => column.notNull().references('port_requests.id'))
    .addColumn('position', 'integer', (column) => column.notNull())
    .addColumn('number', 'text', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('open', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('port_numbers_key', ['request_id', 'position'])
    .execute();
  // A number is in one request at a time, across organizations (contract 5.3).
  await db.schema
    .createIndex('port_numbers_open_once')
    .on('port_numbers')
    .column('number')
    .unique()
    .where(sql.ref('open'), '=', sql.lit(1))
    .execute();
  await db.schema
    .createTable('port_history')
    .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('request_id', 'text', (column) => column.notNull().references('port_requests.id'))
    .addColumn('at', 'text', (column) => column.notNull())
    .addColumn('from_status', 'text')
    .addColumn('to_status', 'text', (column) => column.notNull())
    .addColumn('actor', 'text', (column) => column.notNull())
    .addColumn('actor_id', 'text')
    .addColumn('reason', 'text')
    .addColumn('numbers', 'text', (column) => column.notNull())
    .execute();
  await index(db, 'port_history', 'of_request', ['request_id', 'id']);
}

async function createDocuments(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('port_documents')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('org_id', 'text', (column) => column.notNull().references('organizations.id'))
    .addColumn('file_name', 'text', (column) => column.notNull().unique())
    .addColumn('media_type', 'text', (column) => column.notNull())
    .addColumn('size', 'integer', (column) => column.notNull())
    .addColumn('hash', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('referenced', 'integer', (column) => column.notNull())
    .addColumn('expired_at', 'text')
    .execute();
  await index(db, 'port_documents', 'unreferenced', ['referenced', 'created_at']);
  await index(db, 'port_documents', 'of_organization', ['org_id', 'referenced']);
  await db.schema
    .createTable('port_request_documents')
    .addColumn('request_id', 'text', (column) => column.notNull().references('port_requests.id'))
    .addColumn('document_id', 'text', (column) => column.notNull().references('port_documents.id'))
    .addColumn('position', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('port_request_documents_key', ['request_id', 'document_id'])
    .execute();
}

async function createMails(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('port_mails')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('org_id', 'text', (column) => column.notNull())
    .addColumn('request_id', 'text', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('recipient', 'text', (column) => column.notNull())
    .addColumn('subject', 'text', (column) => column.notNull())
    .addColumn('text', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('first_attempt_at', 'text')
    .addColumn('attempts', 'integer', (column) => column.notNull())
    .addColumn('next_attempt_at', 'text')
    .addColumn('delivered_at', 'text')
    .addColumn('last_error', 'text')
    .execute();
  await index(db, 'port_mails', 'due', ['next_attempt_at']);
  await index(db, 'port_mails', 'by_age', ['created_at']);
}

async function index(db: Kysely<unknown>, table: string, name: string, columns: string[]): Promise<void> {
  await db.schema.createIndex(`${table}_${name}`).on(table).columns(columns).execute();
}
