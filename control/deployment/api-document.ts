/** The OpenAPI document, made in turns: in one go it takes a third of a second in which control answers nobody. */
import { setImmediate } from 'node:timers/promises';
import { lazyLoad } from '#shared/lazy.ts';
import { finishDocument, type OpenApiDocument } from './openapi-document.ts';
import { openApiWebhooks } from './openapi-webhooks.ts';

/** Routes of one turn: a few milliseconds. */
const routesPerTurn = 2;

export class ApiDocument {
  readonly #swagger: () => unknown;
  #from = 0;
  /** Routes that the generator went through in this turn. */
  #passed = 0;
  #turn: OpenApiDocument | null = null;

  /** @param swagger the generator: asks {@link isTurnOf} for each of its routes, and then calls {@link take} */
  constructor(swagger: () => unknown) {
    this.#swagger = swagger;
  }

  /** Of the next route of the generator, whose order is always the same. */
  isTurnOf(): boolean {
    const at = this.#passed;
    this.#passed += 1;
    return at >= this.#from && at < this.#from + routesPerTurn;
  }

  take(part: OpenApiDocument): void {
    this.#turn = part;
  }

  /** Made when it is first read. */
  readonly made = lazyLoad(() => this.#make());
  /** As JSON. */
  readonly text = lazyLoad(async () => jsonInTurns(await this.made()));

  async #make(): Promise<OpenApiDocument> {
    let document: OpenApiDocument | null = null;
    const paths: NonNullable<OpenApiDocument['paths']> = {};
    for (this.#from = 0; document === null || this.#from < this.#passed; this.#from += routesPerTurn) {
      this.#passed = 0;
      this.#swagger();
      if (this.#turn === null) throw new Error('the generator of the OpenAPI document gave nothing');
      document ??= this.#turn;
      for (const [path, operations] of Object.entries(this.#turn.paths ?? {}))
        paths[path] = { ...paths[path], ...operations };
      this.#turn = null;
      await setImmediate();
    }
    document.paths = paths;
    finishDocument(document);
    await setImmediate();
    document.webhooks = openApiWebhooks();
    return document;
  }
}

/** What JSON.stringify writes, with a turn for each path. */
async function jsonInTurns(document: OpenApiDocument): Promise<string> {
  const parts: string[] = [];
  for (const [name, value] of Object.entries(document)) {
    const text = name === 'paths' ? await objectInTurns(document.paths ?? {}) : JSON.stringify(value);
    parts.push(`${JSON.stringify(name)}:${text}`);
    await setImmediate();
  }
  return `{${parts.join(',')}}`;
}

async function objectInTurns(object: object): Promise<string> {
  const parts: string[] = [];
  for (const [name, value] of Object.entries(object)) {
    parts.push(`${JSON.stringify(name)}:${JSON.stringify(value)}`);
    await setImmediate();
  }
  return `{${parts.join(',')}}`;
}
