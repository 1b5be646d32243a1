/**
 * A text conversation with a pathway or a persona, shared by widgets, chats and test runs. A message goes in, answers
 * come out. Webhooks and tools are actually called, through the owner's functions. Between two messages it is plain
 * data (`state`), from which it is resumed.
 */
import type {
  Action,
  ConversationEvent,
  LogLine,
  Talk,
  Visit,
  WebhookCall,
} from '#shared/agent/conversation.ts';
import type { ToolResult, ToolRunner, Turn, Variables } from '#shared/agent/interfaces.ts';
import { Conversation } from '#shared/agent/interpreter.ts';
import { KeyCollector, type KeyPlan } from '#shared/agent/keys.ts';
import { PersonaConversation } from '#shared/agent/persona.ts';
import type { AgentTool } from '#shared/edge-protocol/agents.ts';
import { RecordedTools, type ToolCallRecord } from './recorded-tools.ts';
import { talkOf } from './talk-of.ts';
import { nodeTool, type TextAgent } from './text-agent.ts';
import type { TextFacts, TextNode, TextSessionParts, TextState } from './text-parts.ts';

/** One answer, and its node; null with a persona outside a pathway. */
export interface TextLine {
  readonly text: string;
  readonly nodeId: string | null;
}

/** How an agent ended a conversation; `loop`: its graph kept going without input. */
export type TextEnding = {
  /** One sentence. */
  readonly reason: string;
} & (
  | { readonly by: 'agent' | 'loop' }
  /** `target`: empty when the template of the node yields none */
  | { readonly by: 'transfer'; readonly target: string }
);

/** The result of one message. */
export interface TextTurn {
  readonly messages: readonly string[];
  /** The same with their nodes. */
  readonly lines: readonly TextLine[];
  /** Set in the turn that ended the conversation. */
  readonly ending: TextEnding | null;
  /** Whether the agent has ended the conversation. */
  readonly completed: boolean;
  /** The current node; null with a persona outside a pathway. */
  readonly node: TextNode | null;
  /** Every variable that a template can use now. */
  readonly variables: Variables;
  /** Only what this turn added. */
  readonly log: readonly LogLine[];
  readonly visits: readonly Visit[];
  readonly webhookCalls: readonly WebhookCall[];
  readonly toolCalls: readonly ToolCallRecord[];
}

type ToolAction = Extract<Action, { type: 'tool' }>;

/** Most webhooks and tools started by one message; more is a loop in the graph. */
const mostRounds = 25;

export class TextSession {
  readonly #parts: TextSessionParts;
  readonly #talk: Conversation | PersonaConversation;
  readonly #agent: TextAgent;
  readonly #facts: TextFacts;
  readonly #toolCalls: ToolCallRecord[] = [];
  #node: TextNode | null;
  /** Which keys the agent waits for; null before it listens, and after a conversation was resumed. */
  #plan: KeyPlan | null = null;
  #completed: boolean;
  #ending: TextEnding | null = null;
  #logged = 0;
  #visited = 0;
  #called = 0;

  /** @param state to resume a stored conversation @throws UnknownStartNode, GraphError */
  constructor(parts: TextSessionParts, agent: TextAgent, facts: TextFacts, state?: TextState) {
    this.#parts = parts;
    this.#agent = agent;
    this.#facts = facts;
    const given = agent.kind === 'persona' ? (agent.settings.tools ?? []) : [];
    this.#talk = talkOf(parts, this.#toolsFor(given), agent, facts, state);
    this.#node = state?.node ?? null;
    this.#completed = state?.completed ?? false;
  }

  get completed(): boolean {
    return this.#completed;
  }

  get history(): readonly Turn[] {
    return this.#talk.history;
  }

  /** Variables that the conversation has set, without its input. */
  get learned(): Variables {
    return this.#talk.learned;
  }

  /** Not to be read while a message is being answered. */
  get state(): TextState {
    const talk = this.#talk;
    return {
      talk:
        talk instanceof Conversation
          ? { kind: 'pathway', state: talk.snapshot() }
          : { kind: 'persona', state: talk.snapshot() },
      node: this.#node,
      completed: this.#completed,
    };
  }

  /** The agent's first words. @param said called with each piece of an answer as soon as it is available */
  open(said?: (text: string) => void): Promise<TextTurn> {
    return this.#turn({ type: 'start' }, said);
  }

  /**
   * Handles one message of the person; one at a time. After the end nothing is answered. Rejects with ModelUnavailable
   * when a model fails; then the session is unusable, and its last `state` is valid.
   */
  step(message: string, said?: (text: string) => void): Promise<TextTurn> {
    return this.#turn({ type: 'heard', text: message }, said);
  }

  /** The person pressed keys instead of sending a message, and no more: they make the entries that they make on a call. */
  async press(keys: string): Promise<TextTurn> {
    let turn: TextTurn | null = null;
    for (let rest = keys; rest !== '' && !this.#completed; ) {
      const entry = this.#plan ? firstEntry(this.#plan, rest) : { keys: rest, pressed: rest.length };
      rest = rest.slice(entry.pressed);
      const next: TextTurn = await this.#turn({ type: 'keys', keys: entry.keys }, undefined);
      turn = turn ? joined(turn, next) : next;
    }
    return turn ?? this.#turnOf([]);
  }

  /** The person said nothing for as long as the agent waits. */
  silence(): Promise<TextTurn> {
    return this.#turn({ type: 'silence' }, undefined);
  }

  async #turn(first: ConversationEvent, said: ((text: string) => void) | undefined): Promise<TextTurn> {
    const lines: TextLine[] = [];
    this.#ending = null;
    let event: ConversationEvent | null = first;
    for (let round = 0; event && !this.#completed; round++) {
      if (round > mostRounds) {
        const reason = `${mostRounds} webhooks and tools were used without a word of the person: the graph has a loop`;
        this.#ending = { by: 'loop', reason };
        break;
      }
      event = await this.#perform(event, lines, said);
    }
    if (this.#talk.ended || this.#ending) this.#completed = true;
    return this.#turnOf(lines);
  }

  /** Passes an event to the talk. Returns the next one; null when it is the person's turn or the talk has ended. */
  async #perform(
    event: ConversationEvent,
    lines: TextLine[],
    said: ((text: string) => void) | undefined,
  ): Promise<ConversationEvent | null> {
    let next: ConversationEvent | null = null;
    let joins = false;
    for await (const action of this.#actions(event)) {
      if (action.nodeId !== '') this.#node = { id: action.nodeId, name: action.nodeName };
      if (action.type === 'say') {
        said?.(action.text);
        const before = joins && action.nodeId === '' ? lines.pop() : undefined;
        // A persona's answer comes sentence by sentence.
        const text = before ? `${before.text} ${action.text}` : action.text;
        lines.push({ text, nodeId: action.nodeId === '' ? null : action.nodeId });
        joins = action.nodeId === '';
      } else if (action.type === 'webhook') {
        next = { type: 'webhook', result: await this.#parts.webhook(action.request, action.nodeId) };
      } else if (action.type === 'tool') {
        next = { type: 'tool', result: await this.#runTool(action) };
      } else if (action.type === 'transfer') {
        // A text conversation cannot transfer; it has reached its target.
        const reason = `to ${action.target}, which a text conversation only names`;
        next = { type: 'transfer', ok: true, reason };
        this.#ending = { by: 'transfer', target: action.target, reason: `transfer ${reason}` };
      } else if (action.type === 'listen') {
        this.#plan = action.keys;
      } else if (action.type === 'end') {
        this.#ending ??= { by: 'agent', reason: action.reason };
      }
    }
    return next;
  }

  /** Null without tools or without a runner. */
  #toolsFor(given: readonly AgentTool[]): ToolRunner | null {
    const { tools, clock } = this.#parts;
    if (given.length === 0 || !tools) return null;
    const { id: conversationId, source = 'chat' } = this.#facts;
    const runner = tools(given, { orgId: this.#agent.orgId, conversationId, source });
    return new RecordedTools(runner, clock, this.#toolCalls);
  }

  /** Runs a tool of a pathway node. */
  #runTool({ toolId, name, inputs, variables }: ToolAction): Promise<ToolResult> {
    const tool = nodeTool(this.#agent, toolId);
    const runner = this.#toolsFor(tool ? [tool] : []);
    const { signal = new AbortController().signal } = this.#parts;
    if (runner) return runner.run(name, inputs, signal, variables);
    return Promise.resolve({ ok: false, data: null, error: 'tools cannot be run here', variables: {} });
  }

  #actions(event: ConversationEvent): AsyncIterable<Action> | Iterable<Action> {
    const talk = this.#talk;
    if (talk instanceof PersonaConversation) return talk.actions(event);
    return stepped(talk, event);
  }

  #turnOf(lines: readonly TextLine[]): TextTurn {
    const { log, visits, webhookCalls, variables } = this.#talk;
    const turn = {
      messages: lines.map(({ text }) => text),
      lines,
      ending: this.#ending,
      completed: this.#completed,
      node: this.#node,
      variables: structuredClone(variables),
      log: log.slice(this.#logged),
      visits: visits.slice(this.#visited),
      webhookCalls: webhookCalls.slice(this.#called),
      toolCalls: this.#toolCalls.splice(0),
    };
    this.#logged = log.length;
    this.#visited = visits.length;
    this.#called = webhookCalls.length;
    return turn;
  }
}

async function* stepped(talk: Talk, event: ConversationEvent): AsyncGenerator<Action> {
  yield* await talk.step(event);
}

/** What is complete at some key, or when no more are pressed. */
function firstEntry(plan: KeyPlan, pressed: string): { readonly keys: string; readonly pressed: number } {
  const collector = new KeyCollector(plan);
  for (let at = 0; at < pressed.length; at++) {
    const keys = collector.press(pressed.charAt(at));
    if (keys !== null) return { keys, pressed: at + 1 };
  }
  return { keys: collector.timeout() ?? pressed, pressed: pressed.length };
}

function joined(before: TextTurn, after: TextTurn): TextTurn {
  return {
    ...after,
    messages: [...before.messages, ...after.messages],
    lines: [...before.lines, ...after.lines],
    log: [...before.log, ...after.log],
    visits: [...before.visits, ...after.visits],
    webhookCalls: [...before.webhookCalls, ...after.webhookCalls],
    toolCalls: [...before.toolCalls, ...after.toolCalls],
  };
}
