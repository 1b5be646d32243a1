/** The nodes of a graph (contract 11.1): allowed content, and the fields that the interpreter needs. */

import { counted } from '../counted.ts';
import type { Pronunciation } from '../pronunciation-entry.ts';
import { type GlobalConfig, noGlobalConfig, readGlobalConfig } from './global-config.ts';
import { isObject, type JsonObject, type ProblemList } from './graph-problem.ts';
import type { VariableWanted } from './interfaces.ts';
import { acceptKeyForm } from './transfer-node.ts';
import { type Expectation, expectations, pauseRange } from './turn-plan.ts';

export const nodeTypes = [
  'Default',
  'Wait for Response',
  'Knowledge Base',
  'Realtime',
  'Webhook',
  'Press Button',
  'Transfer Call',
  'Transfer Pathway',
  'End Call',
] as const;
export type NodeType = (typeof nodeTypes)[number];

export const variableTypes = ['string', 'integer', 'number', 'boolean', 'date'] as const;

/** How a node collects key presses, in `data.dtmf`: an addition to the contract. */
interface KeySettings {
  /** 1..64; undefined: derived from the edges */
  readonly maxDigits: number | undefined;
  /** one key that ends the entry, null for none; undefined: derived */
  readonly terminator: string | null | undefined;
  /** ms without another key after which the entry is complete; undefined: the default */
  readonly timeoutMs: number | undefined;
}

/** When a pause ends what the person says, in `data.endOfTurn`: an addition to the contract. */
interface EndOfTurnSettings {
  /** undefined: derived from the edges and the words */
  readonly expects: Expectation | undefined;
  /** ms; undefined: derived */
  readonly pauseMs: number | undefined;
}

export const recordingSteps = ['pause', 'resume'] as const;
export type RecordingStep = (typeof recordingSteps)[number];

export interface GraphNode {
  readonly id: string;
  readonly type: NodeType;
  readonly name: string;
  /** Fixed speech; may be empty. */
  readonly text: string;
  /** Instruction for generated speech, used when `text` is empty. */
  readonly prompt: string;
  /** Set when the node can be reached from everywhere. */
  readonly globalLabel: string | null;
  readonly condition: string;
  readonly extractVars: readonly VariableWanted[];
  readonly keySettings: KeySettings;
  readonly endOfTurn: EndOfTurnSettings;
  /** What happens to the call's recording when the node is entered, in `data.recording`: an addition to the contract. */
  readonly recording: RecordingStep | null;
  /** Whether numbers in its texts are read digit by digit: an addition to the contract. */
  readonly sayDigits: boolean;
  readonly temperature: number | null;
  /** `base`, `turbo`, or the author's value; null: the call's setting */
  readonly modelName: string | null;
  /** ms of speech that interrupt the agent in this node; null: the call's setting */
  readonly interruptionThreshold: number | null;
  /** The node's own keys (`url`, `digits`, `kb`, ...), as written by the author. */
  readonly data: JsonObject;
}

interface Nodes {
  readonly byId: Map<string, GraphNode>;
  readonly start: GraphNode | null;
  readonly globalPrompt: string;
  readonly pronunciations: readonly Pronunciation[];
}

type RefuseUrl = (url: URL) => string | null;
/** Why a target may not be called; null: it may. */
export type RefuseTarget = (target: string) => { readonly host: string; readonly reason: string } | null;

/** See `GraphChecks`. */
interface Refusals {
  readonly refuseUrl?: RefuseUrl;
  readonly refuseTarget?: RefuseTarget;
}

export function checkNodes(nodes: unknown, problems: ProblemList, refusals: Refusals): Nodes {
  const byId = new Map<string, GraphNode>();
  const starts: { path: string; node: GraphNode | null }[] = [];
  let globalConfig: GlobalConfig | null = null;
  if (!Array.isArray(nodes)) {
    problems.add('/nodes', 'array', 'nodes must be an array');
    return { byId, start: null, ...noGlobalConfig };
  }
  if (nodes.length < 1 || nodes.length > 500) {
    problems.add('/nodes', 'size', 'a graph has 1 to 500 nodes');
  }
  for (const [index, member] of (nodes as unknown[]).entries()) {
    const path = `/nodes/${index}`;
    if (!isObject(member)) {
      problems.add(path, 'object', 'a node must be an object');
      continue;
    }
    if (isGlobalConfig(member)) {
      if (globalConfig !== null)
        problems.add(path, 'one_global_config', 'only one member may hold globalConfig');
      globalConfig = readGlobalConfig(member.globalConfig, `${path}/globalConfig`, problems);
      continue;
    }
    const node = checkNode(member, path, byId, problems, refusals);
    if (node) byId.set(node.id, node);
    if (isObject(member.data) && member.data.isStart === true) starts.push({ path, node });
  }
  if (starts.length === 0)
    problems.add('/nodes', 'one_start', 'exactly one node must have data.isStart: true');
  for (const extra of starts.slice(1)) {
    problems.add(`${extra.path}/data/isStart`, 'one_start', 'another node is the start node already');
  }
  return { byId, start: starts[0]?.node ?? null, ...(globalConfig ?? noGlobalConfig) };
}

function isGlobalConfig(member: JsonObject): boolean {
  return member.globalConfig !== undefined && member.id === undefined && member.type === undefined;
}

function checkNode(
  member: JsonObject,
  path: string,
  known: ReadonlyMap<string, GraphNode>,
  problems: ProblemList,
  { refuseUrl, refuseTarget }: Refusals,
): GraphNode | null {
  const id = member.id;
  const validId = typeof id === 'string' && id.length >= 1 && id.length <= 128;
  if (!validId) problems.add(`${path}/id`, 'node_id', 'a node id is a text of 1 to 128 characters');
  else if (known.has(id))
    problems.add(`${path}/id`, 'unique_node_id', `another node has the id "${id}" already`);
  const type = nodeTypes.find((candidate) => candidate === member.type);
  if (!type) problems.add(`${path}/type`, 'node_type', `the type must be one of: ${nodeTypes.join(', ')}`);
  const data = member.data;
  if (!isObject(data)) {
    problems.add(`${path}/data`, 'object', 'data must be an object');
    return null;
  }
  const node = readData(data, `${path}/data`, problems);
  if (type === 'Transfer Call') checkTransfer(data, `${path}/data`, problems);
  if (type === 'Transfer Call' && refuseTarget) checkTarget(data, `${path}/data`, problems, refuseTarget);
  if (type === 'Realtime') checkRealtime(data, node.prompt, `${path}/data`, problems);
  if (type === 'Webhook') checkFiller(data.filler ?? null, `${path}/data/filler`, problems);
  if (type === 'Webhook' && refuseUrl) checkUrl(data.url, `${path}/data/url`, problems, refuseUrl);
  if (!validId || !type || known.has(id)) return null;
  return { ...node, id, type, name: node.name === '' ? id : node.name };
}

function readData(data: JsonObject, path: string, problems: ProblemList): Omit<GraphNode, 'id' | 'type'> {
  const name = optionalText(data, 'name', path, problems);
  if (name.length > 200) problems.add(`${path}/name`, 'value', 'a name has at most 200 characters');
  for (const flag of ['isStart', 'isGlobal', 'sayDigits']) {
    const value = data[flag];
    if (value !== undefined && value !== null && typeof value !== 'boolean') {
      problems.add(`${path}/${flag}`, 'value', `${flag} must be true or false`);
    }
  }
  const globalLabel = optionalText(data, 'globalLabel', path, problems);
  const isGlobal = data.isGlobal === true;
  if (isGlobal && globalLabel.trim() === '') {
    problems.add(
      `${path}/globalLabel`,
      'global_label',
      'a global node needs a globalLabel that says when to enter it',
    );
  }
  const options = isObject(data.modelOptions) ? data.modelOptions : {};
  return {
    name,
    text: optionalText(data, 'text', path, problems),
    prompt: optionalText(data, 'prompt', path, problems),
    globalLabel: isGlobal ? globalLabel : null,
    condition: optionalText(data, 'condition', path, problems),
    extractVars: readExtractVars(data.extractVars, `${path}/extractVars`, problems),
    keySettings: readKeySettings(data.dtmf, `${path}/dtmf`, problems),
    endOfTurn: readEndOfTurn(data.endOfTurn, `${path}/endOfTurn`, problems),
    recording: readRecordingStep(data.recording, `${path}/recording`, problems),
    sayDigits: data.sayDigits === true,
    temperature: numberOrNull(options.temperature),
    modelName: typeof options.modelName === 'string' ? options.modelName : null,
    interruptionThreshold: numberOrNull(options.interruptionThreshold),
    data,
  };
}

function readExtractVars(value: unknown, path: string, problems: ProblemList): VariableWanted[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) {
    problems.add(path, 'extract_vars', 'extractVars must be an array of [name, type, description]');
    return [];
  }
  const wanted: VariableWanted[] = [];
  for (const [index, tuple] of (value as unknown[]).entries()) {
    const [name, typeName, description] = Array.isArray(tuple) ? (tuple as unknown[]) : [];
    const type = variableTypes.find((candidate) => candidate === typeName);
    if (typeof name !== 'string' || name.trim() === '' || !type) {
      const rule = `an entry is [name, type, description] with a type of: ${variableTypes.join(', ')}`;
      problems.add(`${path}/${index}`, 'extract_vars', rule);
      continue;
    }
    wanted.push({ name: name.trim(), type, description: typeof description === 'string' ? description : '' });
  }
  return wanted;
}

function readKeySettings(value: unknown, path: string, problems: ProblemList): KeySettings {
  const given = isObject(value) ? value : {};
  if (value !== undefined && value !== null && !isObject(value)) {
    problems.add(path, 'object', 'dtmf must be an object');
  }
  const { maxDigits, terminator, timeoutMs } = given;
  const has = (setting: unknown) => setting !== undefined && setting !== null;
  if (has(maxDigits) && !isWhole(maxDigits, 1, 64)) {
    problems.add(`${path}/maxDigits`, 'value', 'maxDigits is a whole number from 1 to 64');
  }
  if (has(timeoutMs) && !isWhole(timeoutMs, 100, 60_000)) {
    problems.add(`${path}/timeoutMs`, 'value', 'timeoutMs is a whole number from 100 to 60000');
  }
  if (
    has(terminator) &&
    terminator !== '' &&
    !(typeof terminator === 'string' && /^[0-9*#]$/.test(terminator))
  ) {
    problems.add(`${path}/terminator`, 'value', 'terminator is one key of 0-9, * and #, or null for none');
  }
  return {
    maxDigits: isWhole(maxDigits, 1, 64) ? maxDigits : undefined,
    terminator:
      terminator === '' || terminator === null
        ? null
        : typeof terminator === 'string'
          ? terminator
          : undefined,
    timeoutMs: isWhole(timeoutMs, 100, 60_000) ? timeoutMs : undefined,
  };
}

function readEndOfTurn(value: unknown, path: string, problems: ProblemList): EndOfTurnSettings {
  const given = isObject(value) ? value : {};
  if (value !== undefined && value !== null && !isObject(value)) {
    problems.add(path, 'object', 'endOfTurn must be an object');
  }
  const [shortest, longest] = pauseRange;
  const expects = expectations.find((one) => one === given.expects);
  const pauseMs = isWhole(given.pauseMs, shortest, longest) ? given.pauseMs : undefined;
  if (given.expects !== undefined && given.expects !== null && !expects) {
    problems.add(`${path}/expects`, 'value', `expects is one of: ${expectations.join(', ')}`);
  }
  if (given.pauseMs !== undefined && given.pauseMs !== null && pauseMs === undefined) {
    problems.add(`${path}/pauseMs`, 'value', `pauseMs is a whole number from ${shortest} to ${longest}`);
  }
  return { expects, pauseMs };
}

function readRecordingStep(value: unknown, path: string, problems: ProblemList): RecordingStep | null {
  const step = recordingSteps.find((one) => one === value) ?? null;
  if (value !== undefined && value !== null && step === null)
    problems.add(path, 'value', `recording is one of: ${recordingSteps.join(', ')}`);
  return step;
}

/** The keys of a warm transfer, which the contract does not define. */
function checkTransfer(data: JsonObject, path: string, problems: ProblemList): void {
  const announcement = optionalText(data, 'transferAnnouncement', path, problems);
  if (announcement.length > 1000) {
    const rule = 'transferAnnouncement has at most 1000 characters';
    problems.add(`${path}/transferAnnouncement`, 'value', rule);
  }
  const key = optionalText(data, 'transferAcceptKey', path, problems);
  if (key !== '' && !acceptKeyForm.test(key)) {
    problems.add(
      `${path}/transferAcceptKey`,
      'value',
      'transferAcceptKey is one key of 0-9, * and #, or null for none',
    );
  }
}

/** What a Webhook node says while it waits: an addition to the contract. */
function checkFiller(filler: unknown, path: string, problems: ProblemList): void {
  if (filler === null) return;
  if (!isObject(filler)) {
    problems.add(path, 'object', 'filler must be an object');
    return;
  }
  const { text, afterMs = null } = filler;
  if (typeof text !== 'string' || text.trim() === '' || text.length > longestFiller)
    problems.add(`${path}/text`, 'value', `text has 1 to ${counted(longestFiller, 'character')}`);
  if (afterMs !== null && !isWhole(afterMs, 0, longestFillerWaitMs))
    problems.add(`${path}/afterMs`, 'value', `afterMs is a whole number from 0 to ${longestFillerWaitMs}`);
}

/** Characters of a filler, and the wait before it is said. */
const longestFiller = 500;
const longestFillerWaitMs = 30_000;

/** A connection's name (contract 14.1). */
const connectionForm = /^[A-Za-z0-9_-]{1,64}$/;

/** The keys of a Realtime node. */
function checkRealtime(data: JsonObject, prompt: string, path: string, problems: ProblemList): void {
  if (!connectionForm.test(optionalText(data, 'connection', path, problems))) {
    const rule = 'connection is the name of a realtime connection of the organization';
    problems.add(`${path}/connection`, 'value', rule);
  }
  if (prompt.trim() === '' || prompt.length > 20_000) {
    const rule = 'a Realtime node needs a prompt of 1 to 20000 characters: the instructions of its model';
    problems.add(`${path}/prompt`, 'value', rule);
  }
  if (optionalText(data, 'voice', path, problems).length > 200)
    problems.add(`${path}/voice`, 'value', 'voice has at most 200 characters');
}

/** A SIP URI with a template in its host is checked when it is called. */
function checkTarget(
  { transferNumber }: JsonObject,
  path: string,
  problems: ProblemList,
  refuseTarget: RefuseTarget,
): void {
  if (typeof transferNumber !== 'string' || hostOf(transferNumber).includes('{{')) return;
  const refused = refuseTarget(transferNumber.replace(/\{\{[^{}]*\}\}/g, 'x'));
  if (refused) problems.addTarget(`${path}/transferNumber`, refused.host, refused.reason);
}

/** What follows the last `@`. */
function hostOf(target: string): string {
  return target.slice(target.lastIndexOf('@') + 1);
}

/** A URL with a template in its scheme or host is checked when it is called. */
function checkUrl(value: unknown, path: string, problems: ProblemList, refuseUrl: RefuseUrl): void {
  if (typeof value !== 'string' || value === '' || /^[^/]*(?:\/\/[^/]*)?\{\{/.test(value)) return;
  const literal = value.replace(/\{\{[^{}]*\}\}/g, 'x');
  const url = URL.canParse(literal) ? new URL(literal) : null;
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    problems.add(path, 'value', 'url must be an http or https URL');
    return;
  }
  const reason = refuseUrl(url);
  if (reason !== null) problems.addTarget(path, url.hostname, reason);
}

function optionalText(data: JsonObject, key: string, path: string, problems: ProblemList): string {
  const value = data[key];
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  problems.add(`${path}/${key}`, 'value', `${key} must be a text`);
  return '';
}

function numberOrNull(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

function isWhole(value: unknown, low: number, high: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= low && value <= high;
}
