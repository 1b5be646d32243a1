/** Addresses of databases, as DATABASE_URL gives them. */

/** Whether it is the URL of a PostgreSQL server; otherwise it is a file, or `:memory:`. */
export function isServer(address: string): boolean {
  return /^postgres(?:ql)?:\/\//i.test(address);
}

/** For people: without the password, and without options, which may hold one. */
export function shownAddress(address: string): string {
  if (!isServer(address)) return address;
  if (!URL.canParse(address)) return 'DATABASE_URL';
  const url = new URL(address);
  const user = url.username === '' ? '' : `${url.username}@`;
  return `postgres://${user}${url.host}${url.pathname}`;
}
