/** Text conversations with a pathway: each message loads the chat from the database and stores it again. */
import type { ChatAnswer, ChatCreate, ChatLine } from '#shared/api/chats.ts';
import { ApiError } from '#shared/errors.ts';
import { newId } from '#shared/ids.ts';
import { ModelUnavailable } from '#shared/models/model-unavailable.ts';
import {
  type PathwayTextAgent,
  pathwayTextAgent,
  TextSession,
  type TextState,
  type TextTurn,
} from '../conversations/index.ts';
import { type ChatRow, fromJson, SharedTurns, toJson } from '../db/index.ts';
import { isoTime } from '../organizations/index.ts';
import type { ChatDeps } from './deps.ts';
import { findChat, insertChat, type ListedChat, updateChat } from './store.ts';

/** What the row stores besides the agent's state. */
interface StoredAgent {
  readonly agent: PathwayTextAgent;
  readonly variables: Record<string, unknown>;
}

export class Chats {
  readonly #services: ChatDeps;
  readonly #order: SharedTurns;

  constructor(services: ChatDeps) {
    this.#services = services;
    const { database, replica } = services;
    this.#order = new SharedTurns({ db: database.db, replica, kind: 'chat' });
  }

  /**
   * @throws ApiError PATHWAY_NOT_FOUND, VERSION_NOT_FOUND, MODEL_UNAVAILABLE, QUOTA_EXCEEDED; INVALID_PARAMETER for a
   *   start node
   */
  async create(orgId: string, body: ChatCreate) {
    const { database, clock } = this.#services;
    const { pathway_id: pathwayId, pathway_version: version, start_node_id: startNodeId } = body;
    const agent = await pathwayTextAgent(database.db, orgId, { pathwayId, version, startNodeId });
    const stored: StoredAgent = { agent, variables: body.request_data ?? {} };
    const id = newId();
    const session = this.#session(id, stored);
    const turn = await answered(session.open());
    const now = isoTime(clock);
    const row = {
      id,
      org_id: orgId,
      pathway_id: pathwayId,
      pathway_version: agent.version,
      agent: toJson(stored),
      state: toJson(session.state),
      revision: 0,
      completed: turn.completed ? 1 : 0,
      created_at: now,
      last_message_at: now,
    } as const;
    await database.db.transaction().execute(async (db) => {
      await this.#services.quotas.room(db, 'chats', orgId);
      await insertChat(db, row);
    });
    return {
      chat_id: id,
      message: turn.messages.length === 0 ? null : turn.messages.join('\n'),
      variables: turn.variables,
    };
  }

  /**
   * Messages of one chat are answered in order of arrival. If a model fails, the chat stays unchanged.
   * @throws ApiError CHAT_NOT_FOUND, CHAT_COMPLETED, MODEL_UNAVAILABLE
   */
  say(orgId: string, id: string, message: string): Promise<ChatAnswer> {
    return this.#order.run(id, () => this.#say(orgId, id, message));
  }

  /** @throws ApiError CHAT_NOT_FOUND */
  async read(orgId: string, id: string) {
    const { database, clock } = this.#services;
    const row = await findChat(database.db, clock, orgId, id);
    if (!row) throw ApiError.of('CHAT_NOT_FOUND');
    const session = this.#session(id, fromJson<StoredAgent>(row.agent), fromJson<TextState>(row.state));
    return { ...chatLine(row), chat_history: historyOf(session) };
  }

  async #say(orgId: string, id: string, message: string): Promise<ChatAnswer> {
    const { database, clock } = this.#services;
    const row = await findChat(database.db, clock, orgId, id);
    if (!row) throw ApiError.of('CHAT_NOT_FOUND');
    if (row.completed) throw ApiError.of('CHAT_COMPLETED');
    const state = fromJson<TextState>(row.state);
    const session = this.#session(id, fromJson<StoredAgent>(row.agent), state);
    const turn = await answered(session.step(message));
    const kept = await updateChat(database.db, row, {
      state: toJson(session.state),
      completed: turn.completed ? 1 : 0,
      last_message_at: isoTime(clock),
    });
    // Another process handled a message meanwhile: answer this one after it.
    return kept ? answerOf(row, session, turn) : this.#say(orgId, id, message);
  }

  #session(id: string, { agent, variables }: StoredAgent, state?: TextState): TextSession {
    return new TextSession(this.#services.conversations, agent, { id, variables }, state);
  }
}

export function chatLine(row: ListedChat): ChatLine {
  const { id: chat_id, pathway_id, pathway_version, created_at, last_message_at } = row;
  return {
    chat_id,
    pathway_id,
    pathway_version,
    completed: row.completed === 1,
    created_at,
    last_message_at,
  };
}

function historyOf({ history }: TextSession) {
  return history.map(({ role, text }) => ({ role, content: text }));
}

function answerOf(row: ChatRow, session: TextSession, turn: TextTurn): ChatAnswer {
  return {
    chat_id: row.id,
    assistant_responses: [...turn.messages],
    current_node_id: turn.node?.id ?? null,
    current_node_name: turn.node?.name ?? null,
    chat_history: historyOf(session),
    pathway_id: row.pathway_id,
    pathway_version: row.pathway_version,
    variables: turn.variables,
    completed: turn.completed,
  };
}

async function answered(turn: Promise<TextTurn>): Promise<TextTurn> {
  try {
    return await turn;
  } catch (error) {
    if (error instanceof ModelUnavailable) throw ApiError.of('MODEL_UNAVAILABLE', undefined, error.message);
    throw error;
  }
}
