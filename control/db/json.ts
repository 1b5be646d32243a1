/** JSON in columns: text for the database, typed by what it holds, in plain text or sealed. */
import type { SecretBox } from './secrets.ts';

declare const holds: unique symbol;

/** The JSON text of a `T`. `unknown`: only the area that writes the column knows its shape. */
export type Json<T = unknown> = string & { readonly [holds]: T };

type Held<T> = T extends readonly (infer Element)[] ? Element[] : T;

/** What JSON keeps of a value: members that are undefined go. @throws TypeError for a value that JSON cannot hold */
export function toJson<T>(value: T): Json<Held<T>> {
  return JSON.stringify(value) as Json<Held<T>>;
}

/** What a column holds. Of a column whose shape only its area knows, the area names the type. */
export function fromJson<T>(text: Json<T>): T;
export function fromJson<T>(text: Json): T;
export function fromJson(text: string): unknown {
  return JSON.parse(text);
}

/** JSON text of another control plane of this deployment that is in no column. */
export function asJson<T>(text: string): Json<T> {
  return text as Json<T>;
}

declare const seals: unique symbol;

/** JSON text, sealed with the deployment's key. Only the area that writes the column knows its shape. */
export type SealedJson = string & { readonly [seals]: true };

/** @param context identifies the value; `openJson` needs the same text */
export function sealJson(secrets: SecretBox, value: unknown, context: string): SealedJson {
  return sealText(secrets, JSON.stringify(value), context);
}

/** Seals the JSON text that an earlier version stored. */
export function sealText(secrets: SecretBox, text: string, context: string): SealedJson {
  return secrets.seal(text, context) as SealedJson;
}

/**
 * What a sealed column holds; the area names the type.
 * @throws Error when it was sealed with another key or context, or was altered
 */
export function openJson<T>(secrets: SecretBox, sealed: SealedJson, context: string): T;
export function openJson(secrets: SecretBox, sealed: string, context: string): unknown {
  return JSON.parse(secrets.open(sealed, context));
}
