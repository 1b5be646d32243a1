import { type Kysely, sql } from 'kysely';

/** Widgets, their threads and messages, and the sessions of visitors. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('widgets')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('org_id', 'text', (column) => column.notNull().references('organizations.id'))
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('pathway_id', 'text')
    .addColumn('persona_id', 'text')
    .addColumn('pathway_version', 'text')
    .addColumn('config', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
    .execute();
  await db.schema.createIndex('widgets_of_pathway').on('widgets').column('pathway_id').execute();
  await db.schema.createIndex('widgets_of_persona').on('widgets').column('persona_id').execute();
  await createThreads(db);
  await createMessages(db);
  await createSessions(db);
}

async function createThreads(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('widget_agents')
    .addColumn('hash', 'text', (column) => column.primaryKey())
    .addColumn('agent', 'text', (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('widget_threads')
    .addColumn('ordinal', 'integer', (column) => column.primaryKey().autoIncrement())
    .addColumn('id', 'text', (column) => column.notNull().unique())
    .addColumn('widget_id', 'text', (column) => column.notNull().references('widgets.id'))
    .addColumn('org_id', 'text', (column) => column.notNull().references('organizations.id'))
    .addColumn('visitor_id', 'text')
    .addColumn('agent_hash', 'text', (column) => column.notNull().references('widget_agents.hash'))
    .addColumn('facts', 'text', (column) => column.notNull())
    .addColumn('state', 'text')
    .addColumn('message_count', 'integer', (column) => column.notNull())
    .addColumn('answered_count', 'integer', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('ends_at', 'text', (column) => column.notNull())
    .addColumn('ended_at', 'text')
    .addColumn('live_agent_handoff_at', 'text')
    .execute();
  await db.schema
    .createIndex('widget_threads_of_widget')
    .on('widget_threads')
    .columns(['widget_id', 'ordinal'])
    .execute();
  await db.schema
    .createIndex('widget_threads_of_visitor')
    .on('widget_threads')
    .columns(['visitor_id', 'ordinal'])
    .where(sql.ref('visitor_id'), 'is not', null)
    .execute();
  await db.schema.createIndex('widget_threads_of_agent').on('widget_threads').column('agent_hash').execute();
  await db.schema
    .createIndex('widget_threads_open')
    .on('widget_threads')
    .column('ends_at')
    .where(sql.ref('ended_at'), 'is', null)
    .execute();
  await db.schema
    .createIndex('widget_threads_ended')
    .on('widget_threads')
    .column('ended_at')
    .where(sql.ref('ended_at'), 'is not', null)
    .execute();
}

async function createMessages(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('widget_messages')
    .addColumn('thread_id', 'text', (column) =>
      column.notNull().references('widget_threads.id').onDelete('cascade'),
    )
    .addColumn('number', 'integer', (column) => column.notNull())
    .addColumn('id', 'text', (column) => column.notNull())
    .addColumn('sender_type', 'text', (column) => column.notNull())
    .addColumn('content', 'text', (column) => column.notNull())
    .addColumn('original_content', 'text')
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('widget_messages_key', ['thread_id', 'number'])
    .execute();
}

async function createSessions(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('widget_sessions')
    .addColumn('token_hash', 'text', (column) => column.primaryKey())
    .addColumn('widget_id', 'text', (column) => column.notNull().references('widgets.id'))
    .addColumn('thread_id', 'text', (column) =>
      column.notNull().references('widget_threads.id').onDelete('cascade'),
    )
    .addColumn('expires_at', 'text', (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex('widget_sessions_of_thread')
    .on('widget_sessions')
    .column('thread_id')
    .execute();
  await db.schema.createIndex('widget_sessions_by_age').on('widget_sessions').column('expires_at').execute();
}
