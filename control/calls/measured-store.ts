/** Stores and reads what is measured on calls. A part of a call grows in place, so a call has few rows. */
import { setImmediate } from 'node:timers/promises';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { type MeasuredCall, QualitySample, TurnMark } from '#shared/edge-protocol/measured.ts';
import { lazy } from '#shared/lazy.ts';
import { builtOnce, type ColumnTypes, type Db, insertsMany, type MeasuredPartRow } from '../db/index.ts';
import { partContent, turnsOfPart } from './measured-rules.ts';

type MeasuredTable = 'quality_parts' | 'turn_parts';

interface Part extends MeasuredPartRow {
  /** Whether it replaces what is stored. */
  whole: boolean;
}

const columns: ColumnTypes<MeasuredPartRow> = {
  call_id: 'text',
  part: 'bigint',
  content: 'text',
  received_at: 'text',
};
const key = ['call_id', 'part'];
const append = { key, columns: ['received_at'], appended: ['content'] };
const replace = { key, columns: ['received_at', 'content'] };
const writes = {
  quality_parts: writesOf('quality_parts'),
  turn_parts: writesOf('turn_parts'),
} as const;

function writesOf(table: MeasuredTable) {
  return {
    append: insertsMany<MeasuredPartRow>(table, columns, append),
    replace: insertsMany<MeasuredPartRow>(table, columns, replace),
  };
}

/** What the reports of one transaction say, by table, call and part. */
export class MeasuredParts {
  readonly #parts = { quality_parts: new Map<string, Part>(), turn_parts: new Map<string, Part>() };

  add({ call_id, quality, marks }: MeasuredCall, received_at: string): void {
    for (const { part, samples, whole } of quality)
      this.#put('quality_parts', { call_id, part, content: partContent(samples), received_at, whole });
    for (const mark of marks) {
      const part = Math.floor(mark[0] / turnsOfPart);
      this.#put('turn_parts', { call_id, part, content: partContent([mark]), received_at, whole: false });
    }
  }

  async store(db: Db): Promise<void> {
    for (const table of ['quality_parts', 'turn_parts'] as const) {
      const parts = [...this.#parts[table].values()];
      const rows = (whole: boolean) =>
        parts.filter((part) => part.whole === whole).map(({ whole: _, ...row }) => row);
      await writes[table].replace(db, rows(true));
      await writes[table].append(db, rows(false));
    }
  }

  #put(table: MeasuredTable, part: Part): void {
    const name = `${part.part} ${part.call_id}`;
    const before = this.#parts[table].get(name);
    const grown = before && !part.whole ? { ...part, content: before.content + part.content } : part;
    this.#parts[table].set(name, { ...grown, whole: part.whole || before?.whole === true });
  }
}

const partsAtOnce = 50;

const selectQuality = builtOnce((db, callId: string, after: number) =>
  db
    .selectFrom('quality_parts')
    .select(['part', 'content', 'received_at'])
    .where('call_id', '=', callId)
    .where('part', '>', after)
    .orderBy('part')
    .limit(partsAtOnce),
);

const selectTurns = builtOnce((db, callId: string, after: number) =>
  db
    .selectFrom('turn_parts')
    .select(['part', 'content', 'received_at'])
    .where('call_id', '=', callId)
    .where('part', '>', after)
    .orderBy('part')
    .limit(partsAtOnce),
);

const samplesCheck = lazy(() => Compile(Type.Array(QualitySample)));
const marksCheck = lazy(() => Compile(Type.Array(TurnMark)));

export interface StoredParts<Item> {
  readonly items: readonly Item[];
  /** When the last one arrived; null: nothing was measured. */
  readonly receivedAt: string | null;
}

/** Parts of a series that are read at most: an edge keeps fewer. */
const mostParts = 400;

/** All samples of a call. */
export async function findQuality(db: Db, callId: string): Promise<StoredParts<QualitySample>> {
  const items: QualitySample[] = [];
  let receivedAt: string | null = null;
  for (let last = -1, read = 0; read < mostParts; await setImmediate()) {
    const parts = await selectQuality(db, callId, last);
    for (const { part, content, received_at } of parts) {
      last = part;
      items.push(...samplesCheck().Parse(JSON.parse(listOf(content))));
      if (receivedAt === null || received_at > receivedAt) receivedAt = received_at;
    }
    read += parts.length;
    if (parts.length < partsAtOnce) break;
  }
  return { items, receivedAt };
}

/** The marks of the parts with the turns from this one on, of `turns` at least. */
export async function findMarks(
  db: Db,
  callId: string,
  from: number,
  turns: number,
): Promise<StoredParts<TurnMark>> {
  const items: TurnMark[] = [];
  const seen = new Set<number>();
  let receivedAt: string | null = null;
  for (let last = Math.floor(from / turnsOfPart) - 1; seen.size <= turns; await setImmediate()) {
    const parts = await selectTurns(db, callId, last);
    for (const { part, content, received_at } of parts) {
      last = part;
      for (const mark of marksCheck().Parse(JSON.parse(listOf(content)))) {
        if (mark[0] < from) continue;
        items.push(mark);
        seen.add(mark[0]);
      }
      if (receivedAt === null || received_at > receivedAt) receivedAt = received_at;
    }
    if (parts.length < partsAtOnce) break;
  }
  return { items, receivedAt };
}

function listOf(content: string): string {
  return `[${content.slice(0, -1)}]`;
}
