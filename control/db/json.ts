/** JSON in columns: text for the database, typed by what it holds. */

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
