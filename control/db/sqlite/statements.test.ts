import SqliteFile from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KeptStatements } from './statements.ts';

let connection: SqliteFile.Database;
beforeEach(() => {
  connection = new SqliteFile(':memory:');
  connection.exec('create table things (id integer primary key, name text unique)');
  connection.exec(`insert into things values (1, 'a'), (2, 'b')`);
});
afterEach(() => connection.close());

const all = 'select * from things order by id';

describe('KeptStatements', () => {
  it('prepares each text once', () => {
    const kept = new KeptStatements(connection);
    expect(kept.prepare(all)).toBe(kept.prepare(all));
    expect(kept.prepare(`${all} desc`)).not.toBe(kept.prepare(all));
  });

  it('runs a kept statement with the values of each run', () => {
    const kept = new KeptStatements(connection);
    const names = [1, 2, 3].map((id) => kept.prepare('select name from things where id = ?').all([id]));
    expect(names).toEqual([[{ name: 'a' }], [{ name: 'b' }], []]);
  });

  it('drops the least recently used statement', () => {
    const kept = new KeptStatements(connection, 2);
    const [first, second] = [kept.prepare('select 1'), kept.prepare('select 2')];
    kept.prepare('select 1');
    kept.prepare('select 3');
    expect(kept.prepare('select 1')).toBe(first);
    expect(kept.prepare('select 2')).not.toBe(second);
  });

  it('keeps no text of more than 8192 characters', () => {
    const kept = new KeptStatements(connection);
    const [fits, long] = [8192, 8193].map((length) => `select 1 as "${'x'.repeat(length - 14)}"`);
    if (fits === undefined || long === undefined) throw new Error('unreachable');
    expect([fits.length, long.length]).toEqual([8192, 8193]);
    expect(kept.prepare(fits)).toBe(kept.prepare(fits));
    expect(kept.prepare(long)).not.toBe(kept.prepare(long));
  });

  it('reads the same rows twice at a time', () => {
    const kept = new KeptStatements(connection);
    const outer = kept.prepare(all).iterate([]);
    expect(outer.next().value).toEqual({ id: 1, name: 'a' });
    expect([...kept.prepare(all).iterate([])]).toHaveLength(2);
    expect([...outer]).toEqual([{ id: 2, name: 'b' }]);
  });

  it('runs again after a failure', () => {
    const kept = new KeptStatements(connection);
    const insert = 'insert into things (name) values (?)';
    expect(() => kept.prepare(insert).run(['a'])).toThrow('UNIQUE');
    expect(kept.prepare(insert).run(['c']).changes).toBe(1);
  });

  it('sees added columns, and does not expect dropped ones', () => {
    const kept = new KeptStatements(connection);
    expect(kept.prepare(all).all([])[0]).toEqual({ id: 1, name: 'a' });
    connection.exec('alter table things add column size integer');
    expect(kept.prepare(all).all([])[0]).toEqual({ id: 1, name: 'a', size: null });
    connection.exec('alter table things drop column size');
    expect(kept.prepare(all).all([])[0]).toEqual({ id: 1, name: 'a' });
    connection.exec('drop table things');
    expect(() => kept.prepare(all).all([])).toThrow('no such table: things');
  });
});
