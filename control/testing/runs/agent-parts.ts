/** What the tested agent is made of, for assertions that forbid something by its name. */
import { isBuiltIn } from '#shared/agent/built-in-names.ts';
import { ApiError } from '#shared/errors.ts';
import type { TextAgent } from '../../conversations/index.ts';
import type { Db } from '../../db/index.ts';
import { isToolName } from '../../tools/index.ts';
import type { CouldHave } from '../judging/ports.ts';
import type { Subject } from '../scenarios/rules.ts';
import { testedAgent } from './agent-store.ts';

/**
 * The agent is read when it is first asked about, which is rare: only a prohibition that passed does. Of an agent that is
 * gone, nothing is known.
 * @param version undefined: the one in production
 * @param given what else names variables: the scenario's data and mocks
 */
export function agentParts(
  db: Db,
  orgId: string,
  { subject, version, given }: { subject: Subject; version: number | undefined; given: unknown },
): CouldHave {
  let loading: Promise<Parts | null> | undefined;
  return async (part, name) => {
    // A tool of the organization that this version does not use is rightly not used.
    if (part === 'tool' && (await isToolName(db, orgId, name))) return true;
    loading ??= partsOf(db, orgId, subject, version);
    const parts = await loading;
    if (!parts) return true;
    if (part === 'node') return parts.nodes.has(name);
    if (part === 'tool') return parts.tools.has(name);
    // What the answer of a tool sets is not part of the agent.
    if (parts.tools.size > 0 || isBuiltIn(name)) return true;
    return mentions(parts.text, name) || mentions(JSON.stringify(given), name);
  };
}

/** As a whole word. */
function mentions(text: string, name: string): boolean {
  const around = text.split(name);
  return around.slice(1).some((after, at) => !wordEnd.test(around[at] ?? '') && !wordStart.test(after));
}

const wordEnd = /[\p{L}\p{N}_]$/u;
const wordStart = /^[\p{L}\p{N}_]/u;

/** Ids of all nodes that it can come to. */
export function nodesOf({ graphs }: TextAgent): ReadonlySet<unknown> {
  return new Set(graphs.flatMap((graph) => graph.nodes.map(({ id }) => id)));
}

interface Parts {
  readonly nodes: ReadonlySet<unknown>;
  readonly tools: ReadonlySet<string>;
  /** All of it. */
  readonly text: string;
}

async function partsOf(
  db: Db,
  orgId: string,
  subject: Subject,
  version: number | undefined,
): Promise<Parts | null> {
  try {
    const agent: TextAgent = await testedAgent(db, orgId, subject, version);
    const own = agent.kind === 'persona' ? (agent.settings.tools ?? []) : [];
    const tools = [...own, ...agent.graphs.flatMap((graph) => graph.tools)];
    return {
      nodes: nodesOf(agent),
      tools: new Set(tools.map(({ name }) => name)),
      text: JSON.stringify(agent),
    };
  } catch (error) {
    if (error instanceof ApiError) return null;
    throw error;
  }
}
