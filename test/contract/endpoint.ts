/** One endpoint of the HTTP contract (docs/contract). Its error codes are those besides the common ones. */
export type Endpoint = readonly [
  method: string,
  path: string,
  success: readonly number[],
  errors: Readonly<Record<number, readonly string[]>>,
];
